#!/usr/bin/env bash
# Pushes that lead to screens: one before the application runs, some while it is in the foreground, some to nowhere.
source "$(dirname "${BASH_SOURCE[0]}")/../stage.sh"
build push-app push-catalogue push-sender

"$programs/push-catalogue" >"$stage/catalogue" &
shown "$stage/catalogue" "Catalogue"
"$programs/push-sender" NotificationType=productDetails Id=42
"$programs/push-app" >"$stage/screen" &
shown "$stage/screen" "First Screen > Product 42: Lamp"
"$programs/push-sender" NotificationType=second
shown "$stage/screen" "> Second Screen"
"$programs/push-sender" NotificationType=productDetails Id=99
shown "$stage/screen" "nothing was found"
"$programs/push-sender" NotificationType=productDetails
shown "$stage/screen" "Id is missing"
"$programs/push-sender" NotificationType=productDetails Id=43
shown "$stage/screen" "> Product 43: Chair"
cat "$stage/screen"

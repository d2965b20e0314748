#!/usr/bin/env bash
# The sender and the receiver as Swift programs with the library.
source "$(dirname "${BASH_SOURCE[0]}")/../stage.sh"
build hello-sender hello-receiver

"$programs/hello-receiver" >"$stage/receiver" &
shown "$stage/receiver" "NO DATA"
echo "hello" | "$programs/hello-sender"
echo
shown "$stage/receiver" "Received data: hello"
cat "$stage/receiver"

#!/usr/bin/env bash
# Books a seat, pays, and shows that the exploring page heard of it. With a terminal, press Enter yourself: run.sh --interactive
source "$(dirname "${BASH_SOURCE[0]}")/../stage.sh"
build seat-root seat-booking seat-exploring

if [ "${1:-}" = "--interactive" ]; then
    "$programs/seat-root"
    exit
fi

mkfifo "$stage/keys"
"$programs/seat-root" --seconds 0.5 <"$stage/keys" >"$stage/screen" &
root=$!
exec 3>"$stage/keys"
shown "$stage/screen" "Book a Seat"
echo >&3
shown "$stage/screen" "Pay Now"
echo >&3
shown "$stage/screen" "Reservation 12345 has been successfully paid."
echo >&3
exec 3>&-
wait "$root"
tr '\r' '\n' <"$stage/screen"

#!/usr/bin/env bash
# One notification across three processes: builds the tools, starts a broker on a temporary socket, a receiver and a
# sender, and shows the line that arrived. Fails if it did not.
set -euo pipefail
cd "$(dirname "$0")/../.."

for product in notification-broker receive-data send-data; do
    swift build --product "$product"
done
PATH="$(swift build --show-bin-path):$PATH"

folder="$(mktemp -d)"
export NOTIFICATION_BROKER_SOCKET="$folder/broker.sock"
clean_up() {
    local status=$?
    notification-broker stop 2>/dev/null || true
    wait
    rm -rf "$folder"
    exit "$status"
}
trap clean_up EXIT

notification-broker --quiet &
receive-data --wait-broker --count 1 --timeout 20 >"$folder/received" &
receiver=$!
send-data --wait-broker --wait-receivers 1 --timeout 20 "hello"
wait "$receiver" || { echo "run.sh: receive-data ended with $?" >&2; exit 1; }

cat "$folder/received"
if ! grep -qx "Received data: hello" "$folder/received"; then
    echo "run.sh: the notification did not arrive" >&2
    exit 1
fi

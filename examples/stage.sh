# Sourced by the examples: builds the named programs of this package and a broker, starts the broker on a temporary socket, and
# ends everything with the script. Sets $programs, where they are, and $stage, a folder for notes.
set -euo pipefail
examples="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

build() {
    swift build --package-path "$examples/.." --product notification-broker
    local product
    for product in "$@"; do
        swift build --package-path "$examples" --product "$product"
    done
    programs="$(swift build --package-path "$examples" --show-bin-path)"
    stage="$(mktemp -d)"
    export NOTIFICATION_BROKER_SOCKET="$stage/broker.sock"
    trap clean_up EXIT
    "$(swift build --package-path "$examples/.." --show-bin-path)/notification-broker" --quiet &
}

clean_up() {
    local status=$? jobs
    jobs="$(jobs -p)"
    if [ -n "$jobs" ]; then
        # shellcheck disable=SC2086
        kill $jobs 2>/dev/null || true
    fi
    wait
    rm -rf "$stage"
    exit "$status"
}

# shown FILE LINE: waits until the file has the line.
shown() {
    local try
    for try in $(seq 1 200); do
        if grep -qF -- "$2" "$1" 2>/dev/null; then return; fi
        sleep 0.1
    done
    echo "run.sh: '$2' was not shown, but:" >&2
    cat "$1" >&2
    exit 1
}

#!/bin/sh
# CPU time of reading a daemon log against grep and ripgrep, which look for two prefixes only.
#
#   bench/stat_speed.sh [DIRECTORY] [ROUNDS]
#
# Makes two logs in DIRECTORY (1 GiB with 5 % of its lines ours, half a GiB of events alone), times
# the scan alone, the scan with every event typed (examples/stat_log), the command line's
# `trace stat`, grep and, where it is installed, ripgrep in turn, and prints medians, peak memory
# and ratios to grep.
set -eu
cd "$(dirname "$0")/.."
directory=${1:-target/bench}
rounds=${2:-11}
mkdir -p "$directory"

cargo build --quiet --release -p tracefmt -p cli --examples --bins
examples=target/release/examples
cuzk=target/release/cuzk
pattern='^(TIMELINE|CUZK_TIMING)'

mixed=$directory/mixed.log
events=$directory/events.log
[ -s "$mixed" ] || $examples/gen_log "$mixed" 1073741824 5 1
[ -s "$events" ] || $examples/gen_log "$events" 536870912 100 2

for log in "$mixed" "$events"; do
    lines=$(wc -l <"$log")
    echo "$(basename "$log"): $(wc -c <"$log") bytes, $lines lines"
    set -- "grep=grep -cE '$pattern' $log" \
        "scan=$examples/scan_log $log" \
        "typed=$examples/stat_log $log" \
        "trace-stat=$cuzk trace stat $log"
    if command -v rg >/dev/null; then
        set -- "$@" "ripgrep=rg -c '$pattern' $log"
    fi
    python3 bench/cpu_time.py "$rounds" --per "$lines" "$@"
    echo
done

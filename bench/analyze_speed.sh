#!/usr/bin/env bash
# Time and memory of `cuzk analyze` on a million regions: bench/analyze_speed.sh [FOLDER]
# The log (about 1 GiB) is made in FOLDER, by default target/bench, and kept for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-target/bench}
mkdir -p "$folder"
log=$folder/regions-1000000.log
cargo build --release -q -p cli
cargo build --release -q -p analyze --example long_run
[ -s "$log" ] || target/release/examples/long_run 1000000 >"$log"
for _ in 1 2 3 4 5; do
  /usr/bin/time -f '%e s wall, %U s user, %S s sys, %M KiB peak' \
    target/release/cuzk analyze "$log" >/dev/null
done

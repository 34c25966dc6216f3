#!/usr/bin/env bash
# Draws a history of 10,000 commits x 12 phases: bench/history_plot.sh [path of cuzk]
set -euo pipefail
cd "$(dirname "$0")/.."
cuzk=${1:-target/release/cuzk}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 - "$dir/history.jsonl" <<'P'
import json, random, sys
random.seed(1)
with open(sys.argv[1], "w") as out:
    for n in range(10000):
        phases = {}
        for p in range(12):
            step = 0.05 if n % 4000 > 2000 + 100 * p else 0.0
            level = 6.0 + p / 10 + step + random.gauss(0, 0.01)
            phases[f"phase{p:02}"] = {"ln_ms": level, "error": 0.004}
        day = f"20{10 + n // 720:02}-{1 + n // 60 % 12:02}-{1 + n % 28:02}"
        out.write(json.dumps({"commit": f"{n:07x}", "time": day, "key": "k", "runs": 5, "phases": phases}) + "\n")
P
ls -la "$dir/history.jsonl"
for by in commits dates; do
    for form in "--svg $dir/svg" "--png $dir/png" "--html $dir/page.html"; do
        # shellcheck disable=SC2086
        ( TIMEFORMAT="by $by ${form%% *}: %R s real, %U s user"; time "$cuzk" golden plot "$dir/history.jsonl" --by "$by" $form 2>/dev/null )
    done
done
ls -la "$dir/page.html" "$dir/svg/phases.svg"

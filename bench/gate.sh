#!/usr/bin/env bash
# The figures of the gate: simulated merges and histories, labelled and real timings, speed.
# Usage: [CUZK_INPUTS=folder] bench/gate.sh [trials]
set -euo pipefail
cd "$(dirname "$0")/.."
trials=${1:-2000}
cargo build --quiet --release -p golden --examples
echo "== simulated merges"
target/release/examples/simulate_gate "$trials"
echo
echo "== simulated histories"
target/release/examples/simulate_changes 5000
echo
echo "== critical values of the largest split"
target/release/examples/simulate_changes critical 200000
echo
echo "== speed"
target/release/examples/gate_speed
echo
echo "== labelled cases and nights of one commit (needs CUZK_INPUTS)"
cargo test --quiet -p golden --test inputs -- --nocapture --test-threads 1

#!/usr/bin/env bash
# Builds, checks and times the CUDA backend on a machine with a GPU; writes
# bench/results/<card>-<date>.{txt,json}. Arguments replace the list of tasks (see
# prover/examples/gpu_bench/main.rs).
set -euo pipefail
cd "$(dirname "$0")/.."
tasks=("$@")
if [ ${#tasks[@]} -eq 0 ]; then
    tasks=(check pieces small ahead rows:15 rows:18 indices:20
        msm:16 msm:18 msm:20 msm:22 msm:24 msm:26
        msm:20:16:4 msm:22:20:13 msm:24:22:12
        skew:22 skew:24 skew:26 msm2:16 msm2:18 msm2:20
        ntt:20 ntt:22 ntt:24 ntt:26 ntt:27 ntt:27:20 quotient:20 quotient:24 quotient:27
        fixed:14 fixed:20 fixed:24 setup:12 setup:14 setup:20 setup:24)
fi
if [ -n "${GPU_BENCH:-}" ]; then
    program=$GPU_BENCH
else
    cargo build --release -p prover --features cuda --example gpu_bench
    program=target/release/examples/gpu_bench
fi
card=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr ' A-Z' '-a-z' | sed 's/^nvidia-//')
out=${OUT:-bench/results}/$card-$(date +%F)
mkdir -p "$(dirname "$out")"
{
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,temperature.gpu --format=csv
    echo "tasks: ${tasks[*]}"
    "$program" "${tasks[@]}" --json "$out.json"
} 2>&1 | tee "$out.txt"

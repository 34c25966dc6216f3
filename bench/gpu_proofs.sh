#!/usr/bin/env bash
# Whole proofs on a machine with a GPU: compared with the processor's byte for byte, then timed, from
# small circuits to ten partitions of a 32 GiB sector's size, and again on a card of 16 GiB. Traces
# and tables go to the folder that is named, bench/results/gpu-proofs if none is.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bench/results/gpu-proofs}
mkdir -p "$out"
if [ -z "${CUZK:-}" ]; then
    cargo build --release -p prover --features cuda --example gpu_proofs
    cargo build --release -p cli --features cuda
fi
cuzk=${CUZK:-target/release/cuzk}
proofs=${GPU_PROOFS:-target/release/examples/gpu_proofs}

"$proofs" mimc:8:4 mimc:12:8 sha256:15:2 poseidon:12:4 boolean:16:4 porep-tiled:18:2 \
    boolean:16:4:620 porep-shaped:17:2:640 porep-tiled:20:2:900 mimc:10:1000

# NAME, then the options of cuzk bench: the trace, what analyze says, and how the model agrees.
batch() {
    local name=$1
    shift
    "$cuzk" bench --backend cuda --trace "$out/$name.log" "$@" | tee "$out/$name.txt"
    "$cuzk" analyze "$out/$name.log" | tee -a "$out/$name.txt"
    "$cuzk" replay "$out/$name.log" | tail -1 | tee -a "$out/$name.txt"
}
one=(-c 20 -j 1 --partitions 1 --gpu-workers 1 --partition-workers 1 --circuit boolean)
sector=(-c 1 -j 1 --circuit porep-tiled --size 2^27 --partition-workers 3 --memory 24GiB)
batch boolean-20 "${one[@]}" --size 2^20
batch boolean-21 "${one[@]}" --size 2^21
batch sector "${sector[@]}" --partitions 10
batch sector-16gib "${sector[@]}" --partitions 2 --vram-limit 16GiB
# An allocation fails, and the next smaller plan that fits makes it good.
batch fallback -c 2 -j 1 --partitions 3 --circuit boolean --size 2^20 --inject alloc-once:5
"$cuzk" diagnose "$out/fallback.log"
batch late "${one[@]:0:4}" --partitions 3 --circuit boolean --size 2^22 --vram-limit 2100MiB \
    --inject late-free || true
"$cuzk" diagnose "$out/late.log" || true

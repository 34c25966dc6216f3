#!/usr/bin/env bash
# Runs of our own prover for a golden and for checks against it: traces into a folder.
# Usage: bench/first_golden.sh FOLDER PREFIX COUNT [bench options, such as --inject slow:msm_h:1.1]
# One run is one start of `cuzk bench`: 30 partitions of mimc at 2^14, one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 prefix=$2 count=$3
shift 3
cuzk=${CUZK:-target/release/cuzk}
mkdir -p "$folder"
params="$folder/mimc-14.insecure.params"
[ -e "$params" ] || "$cuzk" setup --circuit mimc --size 2^14 -o "$params" > /dev/null 2>&1
for n in $(seq "$count"); do
    "$cuzk" bench -c 3 -j 1 --partitions 10 --circuit mimc --size 2^14 --params "$params" \
        --gpu-workers 1 --partition-workers 1 --trace "$folder/$prefix$n.log" "$@" > /dev/null 2>&1
done

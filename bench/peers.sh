#!/bin/sh
# The prover beside bellperson 0.27 and ark-groth16 0.6: times, phases, peak memory.
#
#   bench/peers.sh [ROUNDS]
#
# Every round runs the three in turn on the same circuit, parameters, r and s, and stops unless the
# three proofs have the same bytes and verify. The first run generates parameters (about two minutes
# on two cores) and keeps them in bench/peers/target.
set -eu
cd "$(dirname "$0")/peers"
rounds=${1:-5}

cargo build --quiet --release
for circuit in "mimc 16" "sha256 1" "mixed 16" "mimc 18" "sha256 3"; do
    # shellcheck disable=SC2086 # two words
    target/release/peers time $circuit "$rounds"
    for side in ours bellperson ark; do
        # shellcheck disable=SC2086
        target/release/peers memory $circuit "$side"
    done
done

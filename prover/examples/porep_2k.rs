//! The real PoRep of a 2 KiB sector, from sealing to Filecoin's verifier: our prover and
//! bellperson's in turn, with times. Needs `FIL_PROOFS_PARAMETER_CACHE` to name a folder for
//! 1.1 GB of test parameters; they are made when they are not there.
//!
//! `cargo run --release -p prover --features filecoin --example porep_2k [--ni] [--runs N]`
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program that prints, and stops at the first error"
)]

use std::io::BufReader;

use bellperson::groth16::{self, Parameters};
use blstrs::{Bls12, Scalar};
use prover::clock::{Clock as _, SystemClock};
use prover::filecoin::{Kind, Porep, install};
use prover::groth16::{PreparedKey, Shape, prove};
use prover::srs::{Ceremony, Srs};

/// Runs a step and prints how long it took.
fn step<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let clock = SystemClock::new();
    let result = work();
    println!("{name:<40} {:>9.2} s", clock.now_us() as f64 / 1e6);
    result
}

/// Whether the sealing is non-interactive, and how many runs.
fn arguments() -> Result<(bool, usize), String> {
    let (mut non_interactive, mut runs) = (false, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let count = (word == "--runs").then(|| words.next()?.parse().ok());
        match (word.as_str(), count.flatten()) {
            ("--ni", _) => non_interactive = true,
            ("--runs", Some(count)) => runs = count,
            _ => return Err(format!("usage: porep_2k [--ni] [--runs N]; found {word:?}")),
        }
    }
    Ok((non_interactive, runs))
}

fn main() -> Result<(), String> {
    let (non_interactive, runs) = arguments()?;
    let kind = if non_interactive {
        Kind::NonInteractive
    } else {
        Kind::Interactive
    };
    let porep = step("seal", || Porep::new(kind, 5)).expect("sealed");
    let circuit = |partition| porep.partition(partition).expect("a partition");
    let (shape, _) = step("record the circuit", || Shape::record(circuit(0).0)).expect("recorded");
    let (params, vk) = porep.parameter_paths().expect("paths");
    if !params.exists() {
        let made = step("make parameters", || {
            Ceremony::insecure(11).parameters(&shape, &mut |_| ())
        });
        let made = made.expect("made");
        step("write parameters", || install(&made, &params, &vk)).expect("written");
    }
    let (srs, checked) = step("read and check parameters", || Srs::open(&params)).expect("read");
    println!("points checked: {checked:?}; {}", srs.counts());
    if checked != prover::srs::Checked::Before {
        let again = step("read them again", || Srs::open(&params)).expect("read");
        println!("points checked: {:?}", again.1);
    }
    let file = std::fs::File::open(&params).expect("there");
    let theirs = step("bellperson reads, unchecked", || {
        Parameters::<Bls12>::read(BufReader::with_capacity(1 << 20, file), false)
    });
    let theirs = theirs.expect("read");
    let key = PreparedKey::new(&srs.vk);
    let their_key = groth16::prepare_verifying_key(&theirs.vk);
    for partition in 0..porep.partitions() {
        let (r, s) = (Scalar::from(27_134), Scalar::from(partition as u64 + 1));
        for run in 0..runs {
            let ((circuit_a, inputs), circuit_b) = (circuit(partition), circuit(partition).0);
            let proof = step(&format!("partition {partition} run {run}: ours"), || {
                let assignment = shape.witness(circuit_a)?;
                prove(&srs.key(), &shape, &assignment, (r, s), &mut ())
            });
            let proof = proof.expect("proved");
            assert!(
                key.verify(&proof, &inputs).expect("as many inputs"),
                "it does not hold"
            );
            if non_interactive {
                // Filecoin's own check takes such proofs aggregated only.
                let theirs_reads = groth16::Proof::read(&proof.to_bytes()[..]).expect("a proof");
                let holds = groth16::verify_proof(&their_key, &theirs_reads, &inputs);
                assert!(holds.expect("as many inputs"), "bellperson refuses it");
            } else {
                assert!(
                    porep.accepts(&proof.to_bytes()).expect("checked"),
                    "refused"
                );
                println!("verify_seal accepts");
            }
            if partition > 0 {
                continue;
            }
            let other = step(
                &format!("partition {partition} run {run}: bellperson"),
                || groth16::create_proof(circuit_b, &theirs, r, s),
            );
            let mut bytes = Vec::new();
            other.expect("proved").write(&mut bytes).expect("written");
            assert_eq!(bytes, proof.to_bytes(), "not the proof of bellperson");
        }
    }
    Ok(())
}

//! Parameters by our ceremony and by bellperson's generator, in turn, with times and their ratio;
//! the files are compared.
//!
//! `cargo run --release -p prover --example setup_speed [CIRCUIT LOG2]`
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program that prints, and stops at the first error"
)]

use bellperson::groth16;
use blstrs::Bls12;
use prover::circuits;
use prover::clock::{Clock as _, SystemClock};
use prover::groth16::Shape;
use prover::srs::{Ceremony, Srs};

/// Runs and gives the seconds it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let clock = SystemClock::new();
    let result = work();
    (result, clock.now_us() as f64 / 1e6)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = words.first().map_or("mimc", String::as_str);
    let log2 = words
        .get(1)
        .map_or(16, |log2| log2.parse().expect("a number"));
    let family = circuits::by_name(name, log2).expect("known");
    let circuit = family.example().circuit;
    let ceremony = Ceremony::insecure(1);
    let (ours, our_s) = timed(|| {
        let (shape, _) = Shape::record(circuit.clone())?;
        ceremony.parameters(&shape, &mut |_| ())
    });
    let (theirs, their_s) = timed(|| {
        groth16::generate_parameters::<Bls12, _>(
            circuit,
            ceremony.g1.into(),
            ceremony.g2.into(),
            ceremony.alpha,
            ceremony.beta,
            ceremony.gamma,
            ceremony.delta,
            ceremony.tau,
        )
    });
    let (mut file, mut other) = (Vec::new(), Vec::new());
    ours.expect("made").write(&mut file).expect("written");
    theirs.expect("made").write(&mut other).expect("written");
    assert!(file == other, "another file than bellperson's");
    println!("{name} 2^{log2}, {} bytes, byte-identical", file.len());
    println!(
        "made: ours {our_s:.2} s, bellperson {their_s:.2} s: {:.2} times",
        their_s / our_s
    );
    let (read, our_s) = timed(|| Srs::from_bytes(&file));
    drop(read.expect("read"));
    let (read, their_s) = timed(|| groth16::Parameters::<Bls12>::read(file.as_slice(), true));
    drop(read.expect("read"));
    println!(
        "read, every point checked: ours {our_s:.2} s, bellperson {their_s:.2} s: {:.2} times",
        their_s / our_s
    );
}

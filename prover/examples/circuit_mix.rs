//! What a circuit of the registry is made of: rows, variables, terms, densities, and how many
//! values are 0, 1 and others; with the times that its shape and a witness take.
//!
//! `cargo run --release -p prover --example circuit_mix NAME LOG2`
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program that prints, and stops at the first error"
)]

use blstrs::Scalar;
use ff::Field as _;
use prover::circuits;
use prover::clock::{Clock as _, SystemClock};
use prover::groth16::{Matrix, Shape};
use rayon::prelude::*;

/// Runs and gives the seconds it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let clock = SystemClock::new();
    let result = work();
    (result, clock.now_us() as f64 / 1e6)
}

/// Terms of a matrix: two words where the coefficient is in the table.
fn terms(matrix: &Matrix) -> usize {
    let mut words = matrix.words().iter();
    let mut terms = 0;
    while let Some(word) = words.next() {
        terms += 1;
        if word >> 31 == 1 {
            words.next();
        }
    }
    terms
}

fn print(shape: &Shape, aux: &[Scalar]) {
    let part = |count: usize| 100.0 * count as f64 / aux.len() as f64;
    let count = |value: Scalar| aux.par_iter().filter(|of| **of == value).count();
    let (zeros, ones) = (count(Scalar::ZERO), count(Scalar::ONE));
    println!(
        "rows {} (inputs {}), domain 2^{}, auxiliary variables {}",
        shape.num_constraints(),
        shape.num_inputs(),
        shape.log2(),
        shape.num_aux()
    );
    let [a, b, c] = [shape.a(), shape.b(), shape.c()].map(terms);
    println!("terms of A {a}, B {b}, C {c}");
    let (in_a, in_b) = (shape.a_aux().len(), shape.b_aux().len());
    println!(
        "in A {in_a} ({:.2} %), in B {in_b} ({:.2} %)",
        part(in_a),
        part(in_b)
    );
    let others = aux.len() - zeros - ones;
    println!(
        "zeros {zeros} ({:.2} %), ones {ones} ({:.2} %), others {others} ({:.2} %)",
        part(zeros),
        part(ones),
        part(others)
    );
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = words.first().map_or("porep-tiled", String::as_str);
    let log2 = words
        .get(1)
        .map_or(20, |log2| log2.parse().expect("a number"));
    let family = circuits::by_name(name, log2).expect("known");
    let (statements, seconds) = timed(|| family.statements(1, 2));
    println!("{name} 2^{log2}: two statements in {seconds:.3} s");
    let (shape, seconds) = timed(|| family.shape());
    let shape = shape.expect("a shape");
    println!("shape of {} MiB in {seconds:.3} s", shape.bytes() >> 20);
    for statement in statements {
        let (witness, seconds) = timed(|| shape.witness(statement.circuit));
        let witness = witness.expect("a witness");
        println!(
            "witness in {seconds:.3} s on {} threads",
            rayon::current_num_threads()
        );
        print(&shape, &witness.aux);
    }
}

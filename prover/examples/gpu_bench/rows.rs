//! Matrices times witness against the CPU: the circuits of the registry, and one with rows of every
//! length; with its own witness and with a random one; resident, and streamed through a small
//! buffer.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::Scalar;
use ff::Field as _;
use prover::circuits::by_name;
use prover::cuda::Buffer;
use prover::cuda::rows::{Product, Rows, rows_bytes};
use prover::groth16::{Assignment, Matrix, Shape, evaluate};
use prover::plan::rows::bytes;

use crate::{Bench, Outcome, data, floors, median};

/// Rows of 0 to 300 terms, and one in a hundred of thousands, of all kinds of coefficients.
struct Lengths {
    seed: u64,
    rows: u64,
}

impl Circuit<Scalar> for Lengths {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let at = |row: u64, term: u64| data::word(self.seed ^ row << 20, term);
        let mut variables = vec![CS::one()];
        for row in 0..self.rows {
            let value = data::scalar(self.seed, row);
            variables.push(if row % 97 == 5 {
                cs.alloc_input(|| "input", || Ok(value))?
            } else {
                cs.alloc(|| "aux", || Ok(value))?
            });
        }
        let combination = |row: u64, terms: u64| {
            (0..terms).fold(LinearCombination::zero(), |sum, term| {
                let word = at(row, term + 1);
                let pick = usize::try_from(word >> 8).unwrap_or(0) % variables.len();
                let coefficient = match word % 5 {
                    0 | 1 => Scalar::ONE,
                    2 => -Scalar::ONE,
                    3 => Scalar::from(1 << (word >> 40 & 31)),
                    _ => data::scalar(9, word >> 50),
                };
                sum + (coefficient, variables[pick])
            })
        };
        for row in 0..self.rows {
            let word = at(row, 0);
            let terms = match word % 100 {
                0 => 1000 + (word >> 32) % 5000,
                1..10 => (word >> 32) % 300,
                _ => (word >> 32) % 6,
            };
            cs.enforce(
                || "row",
                |_| combination(row, terms),
                |_| combination(!row, terms % 7),
                |_| combination(row ^ 0xffff, (word >> 16) % 130),
            );
        }
        Ok(())
    }
}

/// All circuits that have a domain of 2^log2, and the one of all lengths at most at 2^14.
pub(crate) fn rows(bench: &mut Bench, log2: u32) -> Outcome {
    let mut circuits = vec![];
    for name in ["mimc", "poseidon", "sha256", "porep-shaped"] {
        if let Ok(family) = by_name(name, log2) {
            circuits.push((name, Shape::record(family.example().circuit)?));
        }
    }
    let lengths = Lengths {
        seed: bench.seed,
        rows: 3 << (log2.min(14) - 2),
    };
    circuits.push(("all lengths", Shape::record(lengths)?));
    for (name, (shape, values)) in &circuits {
        one(bench, name, shape, values)?;
    }
    Ok(())
}

fn one(bench: &mut Bench, name: &str, shape: &Shape, values: &Assignment) -> Outcome {
    let device = &bench.device;
    let domain = shape.domain();
    let random = |seed: u64, n: usize| data::scalars(bench.seed ^ seed, n);
    let other = Assignment {
        inputs: random(0x11, values.inputs.len()),
        aux: random(0x22, values.aux.len()),
    };
    let on_device = |values: &Assignment| {
        device.upload(&[values.inputs.as_slice(), values.aux.as_slice()].concat())
    };
    let witness = on_device(values)?;
    let inputs = values.inputs.len() as u64;
    let matrices = [shape.a(), shape.b(), shape.c()];
    let out = device.alloc(32 * domain)?;
    for (values, witness) in [(values, &witness), (&other, &on_device(&other)?)] {
        let cpu = evaluate(shape, values);
        for (matrix, want) in matrices.iter().zip([cpu.a, cpu.b, cpu.c]) {
            let buffer = device.alloc(length(rows_bytes(matrix)))?;
            let rows = Rows::load(device, matrix, &buffer)?;
            device.fill(&out, 0xff)?;
            rows.times(witness, inputs, &out, domain as u64)?;
            same(bench, &out, &want, &format!("{name}, resident"))?;
            for cut in [3, 17] {
                let small = device.alloc(length(piece_bytes(matrix, cut)))?;
                device.fill(&out, 0xff)?;
                let product = Product {
                    witness,
                    inputs,
                    out: &out,
                    domain: domain as u64,
                };
                Rows::times_streamed(device, matrix, &small, &product)?;
                same(bench, &out, &want, &format!("{name}, in {cut} pieces"))?;
            }
        }
    }
    let mut resident = Vec::new();
    for matrix in matrices {
        let buffer = device.alloc(length(rows_bytes(matrix)))?;
        resident.push(Rows::load(device, matrix, &buffer)?);
    }
    let times = median(|| {
        let from = device.mark()?;
        for rows in &resident {
            rows.times(&witness, inputs, &out, domain as u64)?;
        }
        let to = device.mark()?;
        device.elapsed_ms(&from, &to)
    })?;
    let words: usize = matrices.iter().map(|matrix| matrix.words().len()).sum();
    let least =
        4 * (words + 3 * domain) + 3 * 32 * (domain + values.inputs.len() + values.aux.len());
    let detail = format!("{name}: A, B, C times witness, {words} words");
    bench.row(
        ("rows", shape.log2()),
        &detail,
        times,
        floors::traffic(least as f64),
    );
    Ok(())
}

/// Room for about a part of the rows, and for the longest.
fn piece_bytes(matrix: &Matrix, cut: usize) -> u64 {
    let table = matrix.coefficients().len() as u64;
    let longest = (0..matrix.rows()).map(|row| matrix.row(row).count()).max();
    let part = (matrix.rows() / cut, matrix.words().len() / cut);
    let least = bytes(1, 2 * longest.unwrap_or(0) as u64, table);
    least.max(bytes(part.0 as u64, part.1 as u64, table))
}

fn same(bench: &Bench, out: &Buffer, want: &[Scalar], what: &str) -> Outcome {
    let mut found = vec![Scalar::ZERO; want.len()];
    bench.device.canonical(out, want.len() as u64)?;
    bench.device.read(out, &mut found)?;
    match found
        .iter()
        .zip(want)
        .position(|(found, want)| found != want)
    {
        None => Ok(()),
        Some(row) => Err(format!("{what}: row {row} of {} is wrong", want.len()).into()),
    }
}

fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

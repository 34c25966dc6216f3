//! The runs in turn, and what is printed of them.

use std::collections::BTreeMap;

use bellpepper_core::Circuit;
use bellperson::groth16::Parameters;
use blstrs::{Bls12, Scalar};
use prover::groth16::{Assignment, Density, PreparedKey, Proof, Shape, evaluate};

use crate::measure::{Time, median, memory as measured, time as timed};
use crate::{arkworks, belly, ours};

/// The scalars of the queries A and B, picked by density.
pub struct Picked {
    pub a: Vec<Scalar>,
    pub b: Vec<Scalar>,
}

/// What belongs to the points of A and B, in their order.
pub fn picked(shape: &Shape, assignment: &Assignment) -> Picked {
    let pick = |density: &Density, values: &[Scalar]| match density {
        Density::All(_) => values.to_vec(),
        Density::Some(indices) => indices.iter().map(|&at| values[at as usize]).collect(),
    };
    let aux = &assignment.aux;
    Picked {
        a: [assignment.inputs.clone(), pick(shape.a_aux(), aux)].concat(),
        b: [
            pick(shape.b_inputs(), &assignment.inputs),
            pick(shape.b_aux(), aux),
        ]
        .concat(),
    }
}

type Blinding = (Scalar, Scalar);

/// Phase to side to the times of all rounds, in milliseconds.
#[derive(Default)]
struct Phases(BTreeMap<(&'static str, &'static str), Vec<f64>>);

impl Phases {
    fn add(&mut self, side: &'static str, phases: Vec<(&'static str, f64)>) {
        for (phase, ms) in phases {
            self.0.entry((phase, side)).or_default().push(ms);
        }
    }

    fn median(&self, phase: &'static str, side: &'static str) -> f64 {
        let times = self
            .0
            .get(&(phase, side))
            .map(Vec::as_slice)
            .unwrap_or_default();
        let times: Vec<_> = times
            .iter()
            .map(|&wall_ms| Time {
                wall_ms,
                cpu_ms: 0.0,
            })
            .collect();
        median(&times).wall_ms
    }
}

/// `peers time`.
pub fn time<C: Circuit<Scalar> + Clone + Send>(
    name: &str,
    circuit: &C,
    parameters: &Parameters<Bls12>,
    blinding: Blinding,
    rounds: usize,
) {
    let vk = ours::verifying_key(parameters);
    let ((shape, assignment), record) = timed(|| Shape::record(circuit.clone()).expect("a shape"));
    let ark = arkworks::Side::new(parameters, &shape);
    let ark_assignment = arkworks::Side::assignment(&assignment);
    let evaluations = evaluate(&shape, &assignment);
    let prepared = PreparedKey::new(&vk);
    let (mut whole, mut phases) = ([const { Vec::new() }; 4], Phases::default());
    for _ in 0..rounds {
        let (bytes, time, named) = ours::proof(parameters, &vk, &shape, circuit.clone(), blinding);
        whole[0].push(time);
        phases.add("ours", named);
        let (theirs, time) = belly::proof(parameters, circuit.clone(), blinding);
        whole[1].push(time);
        assert_eq!(bytes, theirs, "our bytes and bellperson's");
        let (theirs, time) = ark.proof(&ark_assignment, blinding);
        whole[2].push(time);
        assert_eq!(bytes, theirs, "our bytes and ark's");
        let proof = Proof::from_bytes(&bytes).expect("a proof");
        let (valid, time) = timed(|| prepared.verify(&proof, &assignment.inputs[1..]));
        assert!(valid.expect("inputs"), "the proof verifies");
        whole[3].push(time);
        phases.add(
            "bellperson",
            belly::phases(parameters, &shape, &assignment, &evaluations),
        );
        phases.add("ark", ark.phases(&ark_assignment));
    }
    println!(
        "{name}: {} rows, {} inputs, {} auxiliary, {} in A, {} in B; medians of {rounds}, ms",
        shape.num_constraints(),
        shape.num_inputs(),
        shape.num_aux(),
        shape.num_inputs() + shape.a_aux().len(),
        shape.b_inputs().len() + shape.b_aux().len()
    );
    let [own, bellperson, ark, verify] = whole.map(|times| median(&times));
    println!(
        "first synthesis with matrices {:.1}, they take {:.1} MiB; verify {:.2}",
        record.wall_ms,
        mib(&shape),
        verify.wall_ms
    );
    print_phases(&phases);
    for (side, time) in [("ours", own), ("bellperson", bellperson), ("ark", ark)] {
        println!(
            "  whole {side:<12} {:>9.1}  processor {:>9.1}  ratio to ours {:.2}",
            time.wall_ms,
            time.cpu_ms,
            time.wall_ms / own.wall_ms
        );
    }
}

fn print_phases(phases: &Phases) {
    let names = [
        "witness", "evaluate", "quotient", "msm_h", "msm_l", "msm_a", "msm_b_g1", "msm_b_g2",
        "assemble",
    ];
    println!(
        "  {:<10} {:>9} {:>11} {:>9}",
        "phase", "ours", "bellperson", "ark"
    );
    for name in names {
        let ms = |side| match phases.median(name, side) {
            ms if ms.is_nan() => "-".to_owned(),
            ms => format!("{ms:.1}"),
        };
        println!(
            "  {name:<10} {:>9} {:>11} {:>9}",
            ms("ours"),
            ms("bellperson"),
            ms("ark")
        );
    }
}

/// `peers memory`.
pub fn memory<C: Circuit<Scalar> + Clone + Send>(
    name: &str,
    circuit: &C,
    parameters: &Parameters<Bls12>,
    blinding: Blinding,
    side: &str,
) {
    let (_, memory) = match side {
        "ours" => {
            let vk = ours::verifying_key(parameters);
            let (shape, _) = Shape::record(circuit.clone()).expect("a shape");
            println!(
                "{name} ours: {:.1} MiB of matrices, kept between proofs",
                mib(&shape)
            );
            measured(|| ours::proof(parameters, &vk, &shape, circuit.clone(), blinding).0)
        }
        "bellperson" => measured(|| belly::proof(parameters, circuit.clone(), blinding).0),
        "ark" => {
            let (shape, assignment) = Shape::record(circuit.clone()).expect("a shape");
            let ark = arkworks::Side::new(parameters, &shape);
            let assignment = arkworks::Side::assignment(&assignment);
            drop(shape);
            measured(|| ark.proof(&assignment, blinding).0)
        }
        _ => panic!("ours, bellperson or ark, not {side}"),
    };
    println!(
        "{name} {side}: {:.1} MiB on the heap; resident {:.1} before, {:.1} at most, {:.1} more",
        memory.heap,
        memory.before,
        memory.peak,
        memory.peak - memory.before
    );
}

fn mib(shape: &Shape) -> f64 {
    shape.bytes() as f64 / f64::from(1 << 20)
}

//! Our side: the proof, and each phase of it as the observer hears it.

use bellpepper_core::Circuit;
use bellperson::groth16::Parameters;
use blstrs::{Bls12, Scalar};
use prover::groth16::{Observer, Phase, ProvingKey, Shape, VerifyingKey, prove};
use std::time::Instant;

use crate::measure::{Time, time};

/// bellperson's parameters as our key.
pub fn verifying_key(parameters: &Parameters<Bls12>) -> VerifyingKey {
    let vk = parameters.vk.clone();
    VerifyingKey {
        alpha_g1: vk.alpha_g1,
        beta_g1: vk.beta_g1,
        beta_g2: vk.beta_g2,
        gamma_g2: vk.gamma_g2,
        delta_g1: vk.delta_g1,
        delta_g2: vk.delta_g2,
        ic: vk.ic,
    }
}

/// Hears the phases of one proof.
#[derive(Default)]
struct Phases {
    begun: Option<Instant>,
    times: Vec<(Phase, f64)>,
}

impl Observer for Phases {
    fn begin(&mut self, _phase: Phase) {
        self.begun = Some(Instant::now());
    }

    fn end(&mut self, phase: Phase) {
        let begun = self.begun.take().expect("a phase ends after it began");
        self.times
            .push((phase, begun.elapsed().as_secs_f64() * 1e3));
    }
}

/// A proof from the circuit, its shape known: bytes, whole time, and the phases with "witness".
pub fn proof<C: Circuit<Scalar>>(
    parameters: &Parameters<Bls12>,
    vk: &VerifyingKey,
    shape: &Shape,
    circuit: C,
    blinding: (Scalar, Scalar),
) -> (Vec<u8>, Time, Vec<(&'static str, f64)>) {
    let Parameters {
        h,
        l,
        a,
        b_g1,
        b_g2,
        ..
    } = parameters;
    let key = ProvingKey {
        vk,
        h,
        l,
        a,
        b_g1,
        b_g2,
    };
    let mut phases = Phases::default();
    let ((proof, witness), whole) = time(|| {
        let (assignment, witness) = time(|| shape.witness(circuit).expect("a witness"));
        let proof = prove(&key, shape, &assignment, blinding, &mut phases).expect("a proof");
        (proof, witness)
    });
    let mut named = vec![("witness", witness.wall_ms)];
    named.extend(phases.times.iter().map(|(phase, ms)| (phase.name(), *ms)));
    (proof.to_bytes().to_vec(), whole, named)
}

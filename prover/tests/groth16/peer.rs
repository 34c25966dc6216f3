//! bellperson as the generator of parameters and as the prover to agree with.

use bellpepper_core::Circuit;
use bellperson::groth16::{Parameters, create_proof, generate_random_parameters};
use blstrs::{Bls12, Scalar};
use ff::Field as _;
use prover::groth16::{Assignment, PreparedKey, Proof, ProvingKey, Shape, VerifyingKey, prove};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

/// bellperson's parameters of a circuit, and the same key as we see it.
pub(crate) struct Peer {
    parameters: Parameters<Bls12>,
    vk: VerifyingKey,
}

impl Peer {
    pub(crate) fn new<C: Circuit<Scalar>>(circuit: C) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let parameters = generate_random_parameters(circuit, &mut rng).expect("parameters");
        let vk = parameters.vk.clone();
        let vk = VerifyingKey {
            alpha_g1: vk.alpha_g1,
            beta_g1: vk.beta_g1,
            beta_g2: vk.beta_g2,
            gamma_g2: vk.gamma_g2,
            delta_g1: vk.delta_g1,
            delta_g2: vk.delta_g2,
            ic: vk.ic,
        };
        Self { parameters, vk }
    }

    pub(crate) fn key(&self) -> ProvingKey<'_> {
        let Parameters {
            h,
            l,
            a,
            b_g1,
            b_g2,
            ..
        } = &self.parameters;
        ProvingKey {
            vk: &self.vk,
            h,
            l,
            a,
            b_g1,
            b_g2,
        }
    }

    pub(crate) fn prepared(&self) -> PreparedKey {
        PreparedKey::new(&self.vk)
    }

    /// The 192 bytes that bellperson makes.
    pub(crate) fn proof<C: Circuit<Scalar> + Send>(
        &self,
        circuit: C,
        r: Scalar,
        s: Scalar,
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let proof = create_proof::<Bls12, _, _>(circuit, &self.parameters, r, s);
        proof
            .expect("a proof")
            .write(&mut bytes)
            .expect("192 bytes");
        bytes
    }
}

/// Fixed and dense r and s.
pub(crate) fn blinding(seed: u64) -> (Scalar, Scalar) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (Scalar::random(&mut rng), Scalar::random(&mut rng))
}

/// Proves with both and compares the bytes; our proof must verify, and not for another input.
pub(crate) fn agree<C: Circuit<Scalar> + Clone + Send>(
    circuit: &C,
) -> (Peer, Shape, Assignment, Proof) {
    let peer = Peer::new(circuit.clone());
    let (shape, assignment) = Shape::record(circuit.clone()).expect("a shape");
    let again = shape.witness(circuit.clone()).expect("a witness");
    assert_eq!(assignment, again, "values only, and values with matrices");
    let (r, s) = blinding(11);
    let proof = prove(&peer.key(), &shape, &assignment, (r, s), &mut ()).expect("a proof");
    assert_eq!(
        proof.to_bytes().as_slice(),
        peer.proof(circuit.clone(), r, s),
        "{} rows, {} inputs, {} auxiliary",
        shape.num_constraints(),
        shape.num_inputs(),
        shape.num_aux()
    );
    let verifies = |inputs: &[Scalar]| {
        peer.prepared()
            .verify(&proof, inputs)
            .expect("the right number of inputs")
    };
    let inputs = &assignment.inputs[1..];
    assert!(verifies(inputs), "the proof of a true statement");
    for at in 0..inputs.len() {
        let mut tampered = inputs.to_vec();
        tampered[at] += Scalar::ONE;
        assert!(!verifies(&tampered), "input {at} changed");
    }
    (peer, shape, assignment, proof)
}

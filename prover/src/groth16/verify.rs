//! The check of a proof: e(A, B) = e(α, β) · e(Σ xᵢ·ICᵢ, γ) · e(C, δ), with one final
//! exponentiation for all.

use blstrs::{Bls12, G1Affine, G1Projective, G2Prepared, Scalar};
use group::{Curve as _, Group as _};
use pairing::{MillerLoopResult as _, MultiMillerLoop as _};

use super::{Proof, VerifyingKey};
use crate::ProverError;

/// Public inputs from which on their sum is worth buckets: a product alone takes 0.1 ms.
const MANY: usize = 32;

/// A verifying key made ready: what does not depend on the proof is computed once.
#[derive(Clone, Debug)]
pub struct PreparedKey {
    alpha_g1: G1Affine,
    beta_g2: G2Prepared,
    neg_gamma_g2: G2Prepared,
    neg_delta_g2: G2Prepared,
    ic: Vec<G1Affine>,
}

impl PreparedKey {
    /// Makes a key ready.
    pub fn new(key: &VerifyingKey) -> Self {
        Self {
            alpha_g1: -key.alpha_g1,
            beta_g2: key.beta_g2.into(),
            neg_gamma_g2: (-key.gamma_g2).into(),
            neg_delta_g2: (-key.delta_g2).into(),
            ic: key.ic.clone(),
        }
    }

    /// Whether `proof` holds for the public inputs, the constant one not among them.
    ///
    /// # Errors
    /// [`ProverError::PublicInputs`] if their number is not that of the key.
    pub fn verify(&self, proof: &Proof, inputs: &[Scalar]) -> Result<bool, ProverError> {
        let expected = self.ic.len().saturating_sub(1);
        let (Some((one, points)), true) = (self.ic.split_first(), inputs.len() == expected) else {
            return Err(ProverError::PublicInputs {
                expected,
                found: inputs.len(),
            });
        };
        let mut sum = G1Projective::from(one);
        if points.len() < MANY {
            for (point, scalar) in points.iter().zip(inputs) {
                sum += point * scalar;
            }
        } else {
            sum += crate::msm::g1(points, inputs);
        }
        let b = G2Prepared::from(proof.b);
        let product = Bls12::multi_miller_loop(&[
            (&proof.a, &b),
            (&self.alpha_g1, &self.beta_g2),
            (&sum.to_affine(), &self.neg_gamma_g2),
            (&proof.c, &self.neg_delta_g2),
        ]);
        Ok(bool::from(product.final_exponentiation().is_identity()))
    }
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Projective, G2Projective};
    use ff::Field as _;

    use super::*;

    fn g1(scalar: Scalar) -> G1Affine {
        (G1Projective::generator() * scalar).to_affine()
    }

    fn g2(scalar: Scalar) -> blstrs::G2Affine {
        (G2Projective::generator() * scalar).to_affine()
    }

    /// A key of known exponents, and the proof that solves the equation for one public input.
    fn case(input: u64) -> (VerifyingKey, Proof) {
        let [alpha, beta, gamma, delta] = [2, 3, 5, 7].map(Scalar::from);
        let ic = [11, 13].map(Scalar::from);
        let (a, b) = (Scalar::from(17), Scalar::from(19));
        let public = ic[0] + ic[1] * Scalar::from(input);
        let c = (a * b - alpha * beta - public * gamma) * delta.invert().expect("not zero");
        let key = VerifyingKey {
            alpha_g1: g1(alpha),
            beta_g1: g1(beta),
            beta_g2: g2(beta),
            gamma_g2: g2(gamma),
            delta_g1: g1(delta),
            delta_g2: g2(delta),
            ic: ic.map(g1).to_vec(),
        };
        (
            key,
            Proof {
                a: g1(a),
                b: g2(b),
                c: g1(c),
            },
        )
    }

    #[test]
    fn the_equation_holds_for_its_own_input_only() {
        let (key, proof) = case(23);
        let key = PreparedKey::new(&key);
        assert!(key.verify(&proof, &[Scalar::from(23)]).expect("one input"));
        assert!(!key.verify(&proof, &[Scalar::from(24)]).expect("one input"));
    }

    #[test]
    fn many_public_inputs_are_summed_like_few() {
        let (mut key, proof) = case(23);
        // More inputs, whose points cancel each other.
        for k in 1..=MANY as u64 {
            key.ic.extend([g1(Scalar::from(k)), g1(-Scalar::from(k))]);
        }
        let key = PreparedKey::new(&key);
        let mut inputs = vec![Scalar::from(23)];
        inputs.resize(1 + 2 * MANY, Scalar::from(77));
        assert!(key.verify(&proof, &inputs).expect("as many inputs"));
        inputs[5] += Scalar::ONE;
        assert!(!key.verify(&proof, &inputs).expect("as many inputs"));
    }

    #[test]
    fn a_changed_point_does_not_verify() {
        let (key, proof) = case(4);
        let key = PreparedKey::new(&key);
        let input = [Scalar::from(4)];
        let torn = [
            Proof {
                a: -proof.a,
                ..proof
            },
            Proof {
                b: -proof.b,
                ..proof
            },
            Proof {
                c: -proof.c,
                ..proof
            },
            Proof {
                a: proof.c,
                c: proof.a,
                ..proof
            },
        ];
        for (case, proof) in torn.iter().enumerate() {
            assert!(
                !key.verify(proof, &input).expect("one input"),
                "case {case}"
            );
        }
    }

    #[test]
    fn another_number_of_inputs_is_an_error_that_says_both() {
        let (key, proof) = case(1);
        let error = PreparedKey::new(&key)
            .verify(&proof, &[])
            .expect_err("none given");
        assert_eq!(
            error.to_string(),
            "expected 1 public inputs for this verifying key, found 0"
        );
    }
}

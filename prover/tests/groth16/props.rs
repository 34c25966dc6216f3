//! Random small circuits, their combinations full of zeros, doubles and cancelled terms: the proof
//! has bellperson's bytes, verifies, and neither a tampered input nor a tampered proof does.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar;
use ff::{Field as _, PrimeField as _};
use proptest::prelude::*;
use prover::groth16::{PROOF_BYTES, Proof};

use super::peer::agree;

/// A term: which of the variables so far, and its coefficient.
type Term = (prop::sample::Index, i64);

/// A constraint a · b = c, where c is a new variable alone or, if `twice`, half of it doubled.
#[derive(Clone, Debug)]
struct Row {
    a: Vec<Term>,
    b: Vec<Term>,
    twice: bool,
}

/// Rows over some inputs; every row allocates one auxiliary variable.
#[derive(Clone, Debug)]
struct Random {
    inputs: Vec<u64>,
    rows: Vec<Row>,
}

fn coefficient(small: i64) -> Scalar {
    let size = Scalar::from(small.unsigned_abs());
    if small < 0 { -size } else { size }
}

impl Circuit<Scalar> for Random {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut known: Vec<(Variable, Scalar)> = vec![(CS::one(), Scalar::ONE)];
        for value in self.inputs.into_iter().map(Scalar::from) {
            known.push((cs.alloc_input(|| "input", || Ok(value))?, value));
        }
        for row in self.rows {
            let of = |terms: &[Term]| {
                let mut sum = (LinearCombination::zero(), Scalar::ZERO);
                for (index, small) in terms {
                    let (variable, value) = known[index.index(known.len())];
                    let coefficient = coefficient(*small);
                    sum = (sum.0 + (coefficient, variable), sum.1 + coefficient * value);
                }
                sum
            };
            let ((a, a_value), (b, b_value)) = (of(&row.a), of(&row.b));
            let product = a_value * b_value;
            let value = if row.twice {
                product * Scalar::TWO_INV
            } else {
                product
            };
            let variable = cs.alloc(|| "product", || Ok(value))?;
            let c = |zero: LinearCombination<Scalar>| {
                let once = zero + variable;
                if row.twice { once + variable } else { once }
            };
            cs.enforce(|| "row", |_| a, |_| b, c);
            known.push((variable, value));
        }
        Ok(())
    }
}

fn terms() -> impl Strategy<Value = Vec<Term>> {
    let coefficient = prop_oneof![Just(0), Just(1), Just(-1), -4_i64..4, any::<i64>()];
    prop::collection::vec((any::<prop::sample::Index>(), coefficient), 0..5)
}

fn random() -> impl Strategy<Value = Random> {
    let row = (terms(), terms(), any::<bool>()).prop_map(|(a, b, twice)| Row { a, b, twice });
    let inputs = prop::collection::vec(prop_oneof![0_u64..3, any::<u64>()], 0..4);
    (inputs, prop::collection::vec(row, 1..24)).prop_map(|(inputs, rows)| Random { inputs, rows })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_small_circuit_has_the_bytes_of_bellperson(
        circuit in random(),
        bit in 0..8 * PROOF_BYTES,
    ) {
        // Bytes, verification, and tampered inputs are checked in there.
        let (peer, _, assignment, proof) = agree(&circuit);
        let prepared = peer.prepared();
        let mut bytes = proof.to_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(torn) = Proof::from_bytes(&bytes) {
            let valid = prepared.verify(&torn, &assignment.inputs[1..]).expect("inputs");
            prop_assert!(!valid, "bit {bit} changed");
        }
    }
}

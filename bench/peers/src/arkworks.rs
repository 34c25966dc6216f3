//! ark-groth16's side: the same key and matrices in its types, its proof, and its pieces.

use ark_bls12_381::{Bls12_381, Fr, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::VariableBaseMSM as _;
use ark_ff::PrimeField as _;
use ark_groth16::r1cs_to_qap::{LibsnarkReduction, R1CSToQAP as _};
use ark_groth16::{Groth16, ProvingKey, VerifyingKey};
use ark_poly::GeneralEvaluationDomain;
use ark_relations::utils::matrix::Matrix as ArkMatrix;
use ark_serialize::{CanonicalDeserialize as _, CanonicalSerialize as _};
use bellpepper_core::Index;
use bellperson::groth16::Parameters;
use blstrs::{Bls12, Scalar};
use prover::groth16::{Assignment, Density, Matrix, Shape};

use crate::measure::{Time, time};

/// What ark-groth16 proves from; its synthesis is not counted.
pub struct Side {
    key: ProvingKey<Bls12_381>,
    matrices: Vec<ArkMatrix<Fr>>,
    inputs: usize,
    rows: usize,
}

fn fr(scalar: &Scalar) -> Fr {
    Fr::from_le_bytes_mod_order(&scalar.to_bytes_le())
}

fn g1(point: &blstrs::G1Affine) -> G1Affine {
    G1Affine::deserialize_uncompressed_unchecked(&point.to_uncompressed()[..]).expect("a point")
}

fn g2(point: &blstrs::G2Affine) -> G2Affine {
    G2Affine::deserialize_uncompressed_unchecked(&point.to_uncompressed()[..]).expect("a point")
}

/// Our matrix in its form, without the rows of the inputs, which it adds by itself.
fn matrix(matrix: &Matrix, rows: usize, inputs: usize) -> ArkMatrix<Fr> {
    let column = |index| match index {
        Index::Input(index) => index,
        Index::Aux(index) => index + inputs,
    };
    (0..rows)
        .map(|row| {
            matrix
                .row(row)
                .map(|(at, value)| (fr(&value), column(at)))
                .collect()
        })
        .collect()
}

/// A query with a point for every variable, the point at infinity where it does not occur.
fn spread<P: Clone, Q: Copy>(
    points: &[P],
    (inputs, num_inputs): (&Density, usize),
    (aux, num_aux): (&Density, usize),
    convert: fn(&P) -> Q,
    zero: Q,
) -> Vec<Q> {
    let mut query = vec![zero; num_inputs + num_aux];
    let indices = |density: &Density| match density {
        Density::All(count) => (0..*count).collect(),
        Density::Some(indices) => indices.iter().map(|&at| at as usize).collect::<Vec<_>>(),
    };
    let aux = indices(aux).into_iter().map(|at| at + num_inputs);
    for (at, point) in indices(inputs).into_iter().chain(aux).zip(points) {
        query[at] = convert(point);
    }
    query
}

impl Side {
    pub fn new(parameters: &Parameters<Bls12>, shape: &Shape) -> Self {
        let vk = &parameters.vk;
        let (inputs, aux) = (shape.num_inputs(), shape.num_aux());
        let all = Density::All(inputs);
        let (a, b) = ((&all, inputs), (shape.b_inputs(), inputs));
        let b_aux = (shape.b_aux(), aux);
        let key = ProvingKey {
            vk: VerifyingKey {
                alpha_g1: g1(&vk.alpha_g1),
                beta_g2: g2(&vk.beta_g2),
                gamma_g2: g2(&vk.gamma_g2),
                delta_g2: g2(&vk.delta_g2),
                gamma_abc_g1: vk.ic.iter().map(g1).collect(),
            },
            beta_g1: g1(&vk.beta_g1),
            delta_g1: g1(&vk.delta_g1),
            a_query: spread(
                &parameters.a,
                a,
                (shape.a_aux(), aux),
                g1,
                G1Affine::identity(),
            ),
            b_g1_query: spread(&parameters.b_g1, b, b_aux, g1, G1Affine::identity()),
            b_g2_query: spread(&parameters.b_g2, b, b_aux, g2, G2Affine::identity()),
            h_query: parameters.h.iter().map(g1).collect(),
            l_query: parameters.l.iter().map(g1).collect(),
        };
        let rows = shape.num_constraints() - inputs;
        let matrices = [shape.a(), shape.b(), shape.c()];
        let matrices = matrices.map(|of| matrix(of, rows, inputs)).to_vec();
        Self {
            key,
            matrices,
            inputs,
            rows,
        }
    }

    /// The assignment in its form.
    pub fn assignment(assignment: &Assignment) -> Vec<Fr> {
        assignment
            .inputs
            .iter()
            .chain(&assignment.aux)
            .map(fr)
            .collect()
    }

    /// A proof from matrices and assignment, in the bytes of all three.
    pub fn proof(&self, assignment: &[Fr], (r, s): (Scalar, Scalar)) -> (Vec<u8>, Time) {
        let (proof, whole) = time(|| {
            Groth16::<Bls12_381>::create_proof_with_reduction_and_matrices(
                &self.key,
                fr(&r),
                fr(&s),
                &self.matrices,
                self.inputs,
                self.rows,
                assignment,
            )
        });
        let mut bytes = Vec::new();
        proof
            .expect("a proof")
            .serialize_compressed(&mut bytes)
            .expect("192 bytes");
        (bytes, whole)
    }

    /// The phases of its prover, each by itself; the first is our `evaluate` and `quotient`.
    pub fn phases(&self, assignment: &[Fr]) -> Vec<(&'static str, f64)> {
        let (h, quotient) = time(|| {
            LibsnarkReduction::witness_map_from_matrices::<Fr, GeneralEvaluationDomain<Fr>>(
                &self.matrices,
                self.inputs,
                self.rows,
                assignment,
            )
            .expect("a quotient")
        });
        let g1 = |bases: &[G1Affine], scalars: &[Fr]| {
            let scalars: Vec<_> = scalars.iter().map(|scalar| scalar.into_bigint()).collect();
            time(|| G1Projective::msm_bigint(bases, &scalars)).1.wall_ms
        };
        let scalars: Vec<_> = assignment
            .iter()
            .map(|scalar| scalar.into_bigint())
            .collect();
        let b_g2 = time(|| G2Projective::msm_bigint(&self.key.b_g2_query, &scalars))
            .1
            .wall_ms;
        vec![
            ("quotient", quotient.wall_ms),
            ("msm_h", g1(&self.key.h_query, &h)),
            ("msm_l", g1(&self.key.l_query, &assignment[self.inputs..])),
            ("msm_a", g1(&self.key.a_query, assignment)),
            ("msm_b_g1", g1(&self.key.b_g1_query, assignment)),
            ("msm_b_g2", b_g2),
        ]
    }
}

//! bellperson's side: parameters, the proof, and the pieces of its native prover that are public.

use std::{fs::File, io::BufReader, io::BufWriter, io::Write as _, path::PathBuf, sync::Arc};

use bellpepper_core::Circuit;
use bellperson::domain::EvaluationDomain;
use bellperson::groth16::{Parameters, create_proof, generate_random_parameters};
use blstrs::{Bls12, Scalar};
use ec_gpu_gen::multiexp_cpu::{FullDensity, multiexp_cpu};
use ec_gpu_gen::threadpool::Worker;
use ff::PrimeField as _;
use group::prime::PrimeCurveAffine;
use prover::groth16::{Assignment, Evaluations, Shape};
use prover::srs::Ceremony;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

use crate::measure::{Time, time};

/// Largest domain that bellperson generates parameters for here: 40 s at this one.
const LOG2_MAX: u32 = 18;

/// The parameters of a circuit, generated on the first call and kept in a file.
pub fn parameters<C: Circuit<Scalar> + Clone>(name: &str, circuit: &C) -> Parameters<Bls12> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/parameters");
    std::fs::create_dir_all(&folder).expect("a folder for parameters");
    let path = folder.join(format!("{name}.params"));
    if let Ok(file) = File::open(&path) {
        return Parameters::read(BufReader::new(file), false).expect("parameters");
    }
    let (shape, _) = Shape::record(circuit.clone()).expect("a shape");
    if shape.log2() > LOG2_MAX {
        let srs = Ceremony::insecure(7).parameters(&shape, &mut |_| ());
        srs.expect("parameters")
            .save(&path)
            .expect("a file for parameters");
        return self::parameters(name, circuit);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let parameters = generate_random_parameters(circuit.clone(), &mut rng).expect("parameters");
    let mut file = BufWriter::new(File::create(&path).expect("a file for parameters"));
    parameters.write(&mut file).expect("parameters written");
    file.flush().expect("parameters written");
    parameters
}

/// A proof from the circuit, its synthesis included.
pub fn proof<C: Circuit<Scalar> + Send>(
    parameters: &Parameters<Bls12>,
    circuit: C,
    (r, s): (Scalar, Scalar),
) -> (Vec<u8>, Time) {
    let (proof, whole) = time(|| create_proof::<Bls12, _, _>(circuit, parameters, r, s));
    let mut bytes = Vec::new();
    proof
        .expect("a proof")
        .write(&mut bytes)
        .expect("192 bytes");
    (bytes, whole)
}

/// The phases of its prover after the synthesis, each by itself.
pub fn phases(
    parameters: &Parameters<Bls12>,
    shape: &Shape,
    assignment: &Assignment,
    evaluations: &Evaluations,
) -> Vec<(&'static str, f64)> {
    let (h, quotient_ms) = quotient(evaluations);
    let repr = |scalars: &[Scalar]| Arc::new(scalars.iter().map(Scalar::to_repr).collect());
    let picked = crate::table::picked(shape, assignment);
    let (aux, a, b) = (repr(&assignment.aux), repr(&picked.a), repr(&picked.b));
    vec![
        ("quotient", quotient_ms),
        ("msm_h", multiexp(&parameters.h, &h)),
        ("msm_l", multiexp(&parameters.l, &aux)),
        ("msm_a", multiexp(&parameters.a, &a)),
        ("msm_b_g1", multiexp(&parameters.b_g1, &b)),
        ("msm_b_g2", multiexp(&parameters.b_g2, &b)),
    ]
}

type Reprs = Arc<Vec<[u8; 32]>>;

fn quotient(evaluations: &Evaluations) -> (Reprs, f64) {
    let worker = Worker::new();
    let Evaluations { a, b, c } = evaluations;
    let [a, b, c] = [a, b, c].map(|values| values.to_vec());
    let (h, time) = time(|| {
        let mut none = None;
        let mut domain = |values| {
            let mut domain = EvaluationDomain::from_coeffs(values).expect("a domain");
            domain.ifft(&worker, &mut none).expect("a transform");
            domain.coset_fft(&worker, &mut none).expect("a transform");
            domain
        };
        let (mut a, b, c) = (domain(a), domain(b), domain(c));
        a.mul_assign(&worker, &b);
        a.sub_assign(&worker, &c);
        a.divide_by_z_on_coset(&worker);
        a.icoset_fft(&worker, &mut none).expect("a transform");
        let mut h = a.into_coeffs();
        h.pop();
        h.iter().map(Scalar::to_repr).collect()
    });
    (Arc::new(h), time.wall_ms)
}

fn multiexp<G: PrimeCurveAffine<Scalar = Scalar>>(bases: &Arc<Vec<G>>, scalars: &Reprs) -> f64 {
    let worker = Worker::new();
    let work = || {
        multiexp_cpu(
            &worker,
            (Arc::clone(bases), 0),
            FullDensity,
            Arc::clone(scalars),
        )
    };
    let (sum, time) = time(|| work().wait());
    assert!(sum.is_ok(), "a sum");
    time.wall_ms
}

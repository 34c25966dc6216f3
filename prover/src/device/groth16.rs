//! Groth16 proofs as the work of an engine: the phases of [`crate::groth16`] as kernels.
//!
//! All partitions of a job usually share their [`Parameters`]; one engine may serve several.
//! Blinding factors come with the partition: whoever submits it has the source of randomness.

use std::fmt;
use std::sync::Arc;

use bellpepper_core::Circuit;
use blstrs::{G1Projective, G2Projective, Scalar};

use super::{Streamed, Work};
use crate::ProverError;
use crate::groth16::{
    Assignment, Evaluations, PreparedKey, Proof, ProvingKey, Shape, Sums, assemble, evaluate,
    msm_a, msm_b_g1, msm_b_g2, msm_l, quotient,
};
use crate::msm;
use crate::ntt::Domain;
use crate::plan::rows::rows_bytes;
use crate::plan::{Kernel, Phase, Sizes};
use crate::scalars::Scalars;
use crate::srs::Srs;

/// Who owns the points of a proving key: a mapped file, or memory.
pub trait Keys: Send + Sync {
    /// The prover's view of the points.
    fn key(&self) -> ProvingKey<'_>;
}

impl Keys for Srs {
    fn key(&self) -> ProvingKey<'_> {
        Self::key(self)
    }
}

/// What all proofs of one circuit share.
pub struct Parameters {
    shape: Shape,
    keys: Box<dyn Keys>,
    prepared: PreparedKey,
    domain: Domain,
}

impl Parameters {
    /// Puts the shape of a circuit and its points together.
    ///
    /// # Errors
    /// [`ProverError::OtherCircuit`] when the points are not for this shape.
    pub fn new(shape: Shape, keys: Box<dyn Keys>) -> Result<Self, ProverError> {
        shape.check_key(&keys.key())?;
        Ok(Self {
            prepared: PreparedKey::new(keys.key().vk),
            domain: Domain::new(shape.log2())?,
            shape,
            keys,
        })
    }

    /// The shape of the circuit.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The points.
    pub fn key(&self) -> ProvingKey<'_> {
        self.keys.key()
    }

    /// The key that checks the proofs.
    pub const fn prepared(&self) -> &PreparedKey {
        &self.prepared
    }

    /// How large a partition is.
    pub fn sizes(&self) -> Sizes {
        let shape = &self.shape;
        Sizes {
            domain: shape.domain() as u64,
            inputs: shape.num_inputs() as u64,
            aux: shape.num_aux() as u64,
            a_aux: shape.a_aux().len() as u64,
            b_inputs: shape.b_inputs().len() as u64,
            b_aux: shape.b_aux().len() as u64,
            matrices: [shape.a(), shape.b(), shape.c()].map(rows_bytes),
        }
    }
}

impl fmt::Debug for Parameters {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Parameters")
            .field("sizes", &self.sizes())
            .finish_non_exhaustive()
    }
}

/// Makes the witness of a partition for a shape.
pub type Witness = Box<dyn FnOnce(&Shape) -> Result<Assignment, ProverError> + Send>;

/// One partition that is to be proved.
pub struct Partition {
    /// The circuit's shape and points.
    pub parameters: Arc<Parameters>,
    /// Makes the witness.
    pub witness: Witness,
    /// The public inputs that the proof is to hold for, the constant one not among them.
    pub inputs: Vec<Scalar>,
    /// r and s: random, and used for this proof only.
    pub blinding: (Scalar, Scalar),
}

impl Partition {
    /// A partition of a circuit that is synthesised when its turn comes.
    pub fn of_circuit<C>(
        parameters: &Arc<Parameters>,
        circuit: C,
        inputs: Vec<Scalar>,
        blinding: (Scalar, Scalar),
    ) -> Self
    where
        C: Circuit<Scalar> + Send + 'static,
    {
        Self {
            parameters: Arc::clone(parameters),
            witness: Box::new(move |shape| shape.witness(circuit)),
            inputs,
            blinding,
        }
    }
}

impl fmt::Debug for Partition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Partition")
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

/// Sums as they come.
#[derive(Debug, Default)]
struct Partial {
    h: Option<G1Projective>,
    l: Option<G1Projective>,
    a: Option<G1Projective>,
    b_g1: Option<G1Projective>,
    b_g2: Option<G2Projective>,
}

/// The sum of a part of a phase.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sum {
    /// In G1.
    G1(G1Projective),
    /// In G2.
    G2(G2Projective),
}

impl Partial {
    /// Adds the sum of a part; false when the phase has no such sum.
    fn add(&mut self, phase: Phase, sum: &Sum) -> bool {
        let place = match phase {
            Phase::MsmH => &mut self.h,
            Phase::MsmL => &mut self.l,
            Phase::MsmA => &mut self.a,
            Phase::MsmBG1 => &mut self.b_g1,
            Phase::MsmBG2 => {
                let Sum::G2(sum) = sum else { return false };
                self.b_g2 = Some(self.b_g2.map_or(*sum, |before| before + sum));
                return true;
            }
            Phase::Quotient => return false,
        };
        let Sum::G1(sum) = sum else { return false };
        *place = Some(place.map_or(*sum, |before| before + sum));
        true
    }

    fn whole(&self) -> Option<Sums> {
        Some(Sums {
            h: self.h?,
            l: self.l?,
            a: self.a?,
            b_g1: self.b_g1?,
            b_g2: self.b_g2?,
        })
    }
}

/// A partition on its way.
pub struct State {
    parameters: Arc<Parameters>,
    assignment: Assignment,
    inputs: Vec<Scalar>,
    evaluations: Option<Evaluations>,
    quotient: Option<Scalars>,
    sums: Partial,
    blinding: (Scalar, Scalar),
}

impl fmt::Debug for State {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The witness is a secret.
        out.debug_struct("State")
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

impl State {
    /// Takes the sum of a part of a phase.
    ///
    /// # Errors
    /// That the phase has no such sum, in words.
    pub(crate) fn add_sum(&mut self, phase: Phase, sum: &Sum) -> Result<(), String> {
        if self.sums.add(phase, sum) {
            return Ok(());
        }
        Err(format!("{} has no sum of this group", phase.name()))
    }

    /// The quotient's coefficients, computed on the processor.
    ///
    /// # Errors
    /// What the transforms say, in words.
    pub(crate) fn quotient(&mut self) -> Result<Scalars, String> {
        let made = self.evaluations.take();
        let shape = self.parameters.shape();
        let evaluations = made.unwrap_or_else(|| evaluate(shape, &self.assignment));
        quotient(&self.parameters.domain, evaluations).map_err(|error| error.to_string())
    }

    fn run(&mut self, phase: Phase) -> Result<(), String> {
        let parameters = Arc::clone(&self.parameters);
        let (shape, key) = (&parameters.shape, parameters.keys.key());
        let assignment = &self.assignment;
        let sum = match phase {
            Phase::Quotient => {
                if self.evaluations.is_none() {
                    return Err("the evaluations of A, B and C are gone".to_owned());
                }
                self.quotient = Some(self.quotient()?);
                return Ok(());
            }
            Phase::MsmH => {
                let quotient = self.quotient.take();
                let quotient = quotient.ok_or("the quotient is not there yet")?;
                Sum::G1(msm::g1_owned(key.h, quotient))
            }
            Phase::MsmL => Sum::G1(msm_l(&key, assignment)),
            Phase::MsmA => Sum::G1(msm_a(&key, shape, assignment)),
            Phase::MsmBG1 => Sum::G1(msm_b_g1(&key, shape, assignment)),
            Phase::MsmBG2 => Sum::G2(msm_b_g2(&key, shape, assignment)),
        };
        self.add_sum(phase, &sum)
    }
}

#[cfg(feature = "cuda")]
impl State {
    /// What all proofs of the circuit share.
    pub(crate) fn parameters(&self) -> &Arc<Parameters> {
        &self.parameters
    }

    /// The values of all variables.
    pub(crate) fn assignment(&self) -> &Assignment {
        &self.assignment
    }
}

/// Groth16 over BLS12-381.
#[derive(Debug, Clone, Copy, Default)]
pub struct Groth16 {
    on_card: bool,
}

impl Groth16 {
    /// Kernels run on the processor; the products of the matrices are part of synthesis.
    pub const fn on_processor() -> Self {
        Self { on_card: false }
    }

    /// Kernels run on a card, the products of the matrices among them: only the witness goes there.
    pub const fn on_card() -> Self {
        Self { on_card: true }
    }
}

/// Bytes of a scalar in memory.
const SCALAR_BYTES: u64 = 32;

/// Host memory is pinned from this size on: smaller allocations may share pages with others, and a
/// page is pinned once.
const PINNED_MIN_BYTES: u64 = 64 << 20;

/// Address and length.
fn range_of<T>(data: &[T]) -> (u64, u64) {
    let addr = data.as_ptr().expose_provenance() as u64;
    (addr, size_of_val(data) as u64)
}

impl Work for Groth16 {
    type Circuit = Partition;
    type State = State;
    type Proof = Proof;

    fn sizes(&self, partition: &Partition) -> Sizes {
        partition.parameters.sizes()
    }

    /// The witness, and on the processor the three vectors over the domain.
    fn host_bytes(&self, partition: &Partition) -> u64 {
        let sizes = partition.parameters.sizes();
        let vectors = if self.on_card { 0 } else { 3 };
        (sizes.inputs + sizes.aux + vectors * sizes.domain) * SCALAR_BYTES
    }

    fn synthesize(&self, partition: Partition) -> Result<State, String> {
        let Partition {
            parameters,
            witness,
            inputs,
            blinding,
        } = partition;
        let shape = &parameters.shape;
        let assignment = witness(shape).map_err(|error| error.to_string())?;
        shape
            .check(&assignment)
            .map_err(|error| error.to_string())?;
        let evaluations = if self.on_card {
            None
        } else {
            Some(satisfied(shape, &assignment)?)
        };
        Ok(State {
            parameters,
            assignment,
            inputs,
            evaluations,
            quotient: None,
            sums: Partial::default(),
            blinding,
        })
    }

    /// Points and matrices.
    fn streamed(&self, state: &State) -> Option<Streamed> {
        let (key, shape) = (state.parameters.key(), state.parameters.shape());
        let points = [key.h, key.l, key.a, key.b_g1].map(range_of);
        let matrices = [shape.a(), shape.b(), shape.c()];
        let words = matrices.map(|matrix| [range_of(matrix.ends()), range_of(matrix.words())]);
        let all = points.into_iter().chain([range_of(key.b_g2)]);
        let all = all.chain(words.into_iter().flatten());
        let ranges: Vec<_> = all
            .filter(|(_, bytes)| *bytes >= PINNED_MIN_BYTES)
            .collect();
        let owner = Arc::clone(&state.parameters);
        (!ranges.is_empty()).then_some(Streamed { ranges, owner })
    }

    /// The processor needs no parts: the last launch of a phase does it all.
    fn kernel(&self, kernel: Kernel, state: &mut State) -> Result<(), String> {
        if kernel.is_last() {
            state.run(kernel.phase)?;
        }
        Ok(())
    }

    fn again(&self, state: &mut State) {
        state.sums = Partial::default();
        state.quotient = None;
        if !self.on_card && state.evaluations.is_none() {
            state.evaluations = Some(evaluate(&state.parameters.shape, &state.assignment));
        }
    }

    fn assemble(&self, state: &mut State) -> Result<Proof, String> {
        let sums = state.sums.whole().ok_or("a sum of points is missing")?;
        let (r, s) = state.blinding;
        let keys = &state.parameters.keys;
        Ok(assemble(keys.key().vk, &sums, r, s))
    }

    fn verify(&self, state: &State, proof: &Proof) -> Result<bool, String> {
        let prepared = &state.parameters.prepared;
        prepared
            .verify(proof, &state.inputs)
            .map_err(|error| error.to_string())
    }

    fn blame(&self, state: &State) -> Option<String> {
        let shape = state.parameters.shape();
        satisfied(shape, &state.assignment).err()
    }

    fn spoil(&self, proof: &Proof) -> Proof {
        Proof {
            a: proof.c,
            c: proof.a,
            ..*proof
        }
    }
}

/// The products of the matrices with a witness that satisfies them.
fn satisfied(shape: &Shape, assignment: &Assignment) -> Result<Evaluations, String> {
    let evaluations = evaluate(shape, assignment);
    match evaluations.first_unsatisfied() {
        None => Ok(evaluations),
        Some(row) => {
            let rows = shape.num_constraints();
            Err(ProverError::Unsatisfied { row, rows }.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use ff::Field as _;

    use super::*;
    use crate::circuits::{Statement, by_name};
    use crate::groth16;
    use crate::srs::Ceremony;

    const CPU: Groth16 = Groth16::on_processor();

    fn parameters(log2: u32) -> (Arc<Parameters>, Vec<Statement>) {
        let family = by_name("mimc", log2).expect("known");
        let (shape, _) = Shape::record(family.example().circuit).expect("records");
        let srs = Ceremony::insecure(7).parameters(&shape, &mut |_| ());
        let keys = Box::new(srs.expect("makes"));
        let parameters = Parameters::new(shape, keys).expect("of this shape");
        (Arc::new(parameters), family.statements(3, 2))
    }

    fn partition(parameters: &Arc<Parameters>, statement: &Statement) -> Partition {
        let (circuit, inputs) = (statement.circuit.clone(), statement.inputs.clone());
        let blinding = (Scalar::from(11), Scalar::from(13));
        Partition::of_circuit(parameters, circuit, inputs, blinding)
    }

    fn run(state: &mut State) {
        for phase in Phase::ALL {
            for part in 0..2 {
                let kernel = Kernel {
                    phase,
                    part,
                    parts: 2,
                };
                CPU.kernel(kernel, state).expect("in order");
            }
        }
    }

    #[test]
    fn kernels_make_the_proof_that_proving_at_once_makes() {
        let (parameters, statements) = parameters(7);
        let mut state = CPU
            .synthesize(partition(&parameters, &statements[0]))
            .expect("satisfied");
        run(&mut state);
        let proof = CPU.assemble(&mut state).expect("whole");
        let shape = parameters.shape();
        let witness = shape.witness(statements[0].circuit.clone()).expect("one");
        let blinding = (Scalar::from(11), Scalar::from(13));
        let key = parameters.keys.key();
        let at_once = groth16::prove(&key, shape, &witness, blinding, &mut ());
        assert_eq!(proof.to_bytes(), at_once.expect("proves").to_bytes());
        assert_eq!(CPU.verify(&state, &proof), Ok(true));
        assert_eq!(CPU.verify(&state, &CPU.spoil(&proof)), Ok(false));
    }

    #[test]
    fn a_proof_is_checked_for_the_inputs_that_were_asked_for() {
        let (parameters, statements) = parameters(5);
        let mut other = partition(&parameters, &statements[0]);
        other.inputs[0] += Scalar::ONE;
        let mut state = CPU.synthesize(other).expect("satisfied");
        run(&mut state);
        let proof = CPU.assemble(&mut state).expect("whole");
        assert_eq!(CPU.verify(&state, &proof), Ok(false));
    }

    #[test]
    fn phases_out_of_order_are_errors() {
        let (parameters, statements) = parameters(5);
        let made = CPU.synthesize(partition(&parameters, &statements[0]));
        let mut state = made.expect("satisfied");
        let kernel = |phase| Kernel {
            phase,
            part: 0,
            parts: 1,
        };
        assert!(CPU.kernel(kernel(Phase::MsmH), &mut state).is_err());
        assert!(CPU.assemble(&mut state).is_err());
        CPU.kernel(kernel(Phase::Quotient), &mut state)
            .expect("first");
        assert!(CPU.kernel(kernel(Phase::Quotient), &mut state).is_err());
    }

    #[test]
    fn points_of_another_circuit_are_refused() {
        let (small, large) = (parameters(5).0, parameters(6).0);
        let shape = small.shape().clone();
        let srs = Ceremony::insecure(7).parameters(large.shape(), &mut |_| ());
        assert!(Parameters::new(shape, Box::new(srs.expect("makes"))).is_err());
    }

    #[test]
    fn names_of_phases_are_those_of_the_proof() {
        let known = groth16::Phase::ALL.map(groth16::Phase::name);
        assert!(Phase::ALL.iter().all(|phase| known.contains(&phase.name())));
    }
}

//! One job from the registry through an engine: statements, witnesses, proofs, each verified. What
//! `cuzk prove` does, without its files.

use std::sync::Arc;

use blstrs::Scalar;
use ff::Field as _;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng as _};

use crate::ProverError;
use crate::circuits::Family;
use crate::device::Devices;
use crate::device::groth16::{Groth16, Parameters, Partition};
use crate::engine::{
    Config, Engine, Injection, JobEnd, JobSpec, Limits, Priority, Shutdown, StartError,
};
use crate::groth16::{Mix, Proof, Shape};
use crate::inputs::PublicInputs;
use crate::trace::Tracer;

/// Host memory that partitions in flight may hold, bytes.
const HOST_BYTES: u64 = 64 << 30;

/// What is to be proved, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// Name of the job in the trace.
    pub job: String,
    /// Seed of the statements.
    pub seed: u64,
    /// Partitions of the job.
    pub partitions: usize,
    /// Workers on the device.
    pub device_workers: u32,
}

/// What came of it. Times are microseconds.
#[derive(Clone, Debug)]
pub struct Proved {
    /// One proof a partition.
    pub proofs: Vec<Proof>,
    /// What they are proofs of.
    pub inputs: PublicInputs,
    /// Synthesis, summed over partitions.
    pub synth_us: u64,
    /// On the device, summed over partitions.
    pub device_us: u64,
    /// From submission to the end.
    pub total_us: u64,
    /// The slowest check of a proof.
    pub verify_us: u64,
}

/// Dice that nobody can foresee: `ChaCha20` seeded by the system. For blinding factors.
pub fn system_dice() -> ChaCha20Rng {
    ChaCha20Rng::from_entropy()
}

/// The shape of a family's circuits.
///
/// # Errors
/// What the synthesis says.
pub fn shape(family: &Family) -> Result<Shape, ProverError> {
    family.shape()
}

/// Largest binary logarithm of a domain for which a witness is made only to be counted.
const MIX_LOG2_MAX: u32 = 22;

/// The mix of a witness of a family; none of a circuit so large that it would cost minutes.
///
/// # Errors
/// What the synthesis says.
pub fn mix(family: &Family, shape: &Shape) -> Result<Option<Mix>, ProverError> {
    let small = family.log2() <= MIX_LOG2_MAX;
    let witness = || shape.witness(family.example().circuit);
    Ok(small
        .then(witness)
        .transpose()?
        .map(|values| Mix::of(&values)))
}

/// Proves a job of the family and checks every proof once more, from its bytes. The blinding
/// factors are drawn from `dice`, which must be unpredictable where the witness is a secret.
///
/// # Errors
/// [`ProverError::Job`] with the reason if not every proof was made and verified.
pub fn prove(
    family: &Family,
    parameters: &Arc<Parameters>,
    request: &Request,
    (devices, tracer): (Devices, &Arc<Tracer>),
    dice: &mut impl RngCore,
) -> Result<Proved, ProverError> {
    let failed = |found: String| ProverError::Job {
        partitions: request.partitions,
        found,
    };
    let (mut circuits, mut inputs) = (Vec::new(), Vec::new());
    for statement in family.statements(request.seed, request.partitions) {
        inputs.push(statement.inputs.clone());
        let circuit = statement.circuit;
        circuits.push(Partition {
            parameters: Arc::clone(parameters),
            witness: Box::new(move |shape| shape.witness(circuit)),
            inputs: statement.inputs,
            blinding: (Scalar::random(&mut *dice), Scalar::random(&mut *dice)),
        });
    }
    let engine = start(request, devices, tracer).map_err(|error| failed(error.to_string()))?;
    let spec = JobSpec {
        id: request.job.clone(),
        kind: family.name().to_owned(),
        priority: Priority::Normal,
        circuits,
    };
    let ticket = engine.submit(spec);
    let ticket = ticket.map_err(|error| failed(error.to_string()))?;
    let report = engine.wait(ticket);
    engine.shutdown(Shutdown::Drain);
    let report = report.ok_or_else(|| failed("its report is gone".to_owned()))?;
    match report.end {
        JobEnd::Verified => {}
        JobEnd::Failed(reason) => return Err(failed(reason)),
        JobEnd::Cancelled => return Err(failed("it was cancelled".to_owned())),
    }
    let mut proved = Proved {
        proofs: report.proofs,
        inputs: PublicInputs { partitions: inputs },
        synth_us: report.synth_us,
        device_us: report.gpu_us,
        total_us: report.total_us,
        verify_us: 0,
    };
    proved.verify_us = check(&proved, parameters, tracer)?;
    Ok(proved)
}

fn start(
    request: &Request,
    devices: Devices,
    tracer: &Arc<Tracer>,
) -> Result<Engine<Groth16>, StartError> {
    let config = Config {
        synth_workers: 1,
        device_workers: request.device_workers,
        finishers: 1,
        expected: request.partitions as u64,
        limits: Limits {
            host_bytes: HOST_BYTES,
            waiting: request.partitions.max(1),
            reports: 1,
        },
        injection: Injection::default(),
    };
    Engine::start(devices.work, devices.all, Arc::clone(tracer), &config)
}

/// Checks every proof from its bytes; the time of the slowest check.
fn check(proved: &Proved, parameters: &Parameters, tracer: &Tracer) -> Result<u64, ProverError> {
    let mut slowest = 0;
    let count = proved.proofs.len();
    for (proof, inputs) in proved.proofs.iter().zip(&proved.inputs.partitions) {
        let begin = tracer.clock().now_us();
        let proof = Proof::from_bytes(&proof.to_bytes())?;
        if !parameters.prepared().verify(&proof, inputs)? {
            return Err(ProverError::Job {
                partitions: count,
                found: "one does not hold for its public inputs".to_owned(),
            });
        }
        slowest = slowest.max(tracer.clock().now_us().saturating_sub(begin));
    }
    Ok(slowest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::by_name;
    use crate::clock::SystemClock;
    use crate::device::{Backend, Wanted};
    use crate::srs::Ceremony;

    fn parameters(family: &Family, seed: u64) -> Arc<Parameters> {
        let shape = shape(family).expect("recorded");
        let srs = Ceremony::insecure(seed).parameters(&shape, &mut |_| ());
        let parameters = Parameters::new(shape, Box::new(srs.expect("made")));
        Arc::new(parameters.expect("they fit"))
    }

    fn request(partitions: usize) -> Request {
        Request {
            job: "test".to_owned(),
            seed: 3,
            partitions,
            device_workers: 1,
        }
    }

    #[test]
    fn a_job_of_three_partitions_is_proved_and_verified() {
        let family = by_name("mimc", 6).expect("known");
        let parameters = parameters(&family, 1);
        let tracer = Arc::new(Tracer::silent(Arc::new(SystemClock::new())));
        let mut dice = ChaCha20Rng::seed_from_u64(9);
        let devices = Devices::open(&Wanted {
            backend: Backend::Cpu,
            ..Wanted::default()
        });
        let devices = devices.expect("the processor is there");
        let proved = prove(
            &family,
            &parameters,
            &request(3),
            (devices, &tracer),
            &mut dice,
        );
        let proved = proved.expect("it is proved");
        assert_eq!(proved.proofs.len(), 3);
        assert_ne!(proved.proofs[0], proved.proofs[1]);
        let prepared = parameters.prepared();
        for (partition, proof) in proved.proofs.iter().enumerate() {
            for (other, inputs) in proved.inputs.partitions.iter().enumerate() {
                let holds = prepared.verify(proof, inputs).expect("as many inputs");
                assert_eq!(holds, partition == other);
            }
        }
    }

    #[test]
    fn parameters_of_another_circuit_are_refused() {
        let [small, large] = [4, 5].map(|log2| by_name("mimc", log2).expect("known"));
        let shape = shape(&small).expect("recorded");
        let srs = Ceremony::insecure(1)
            .parameters(&shape, &mut |_| ())
            .expect("made");
        let other = super::shape(&large).expect("recorded");
        assert!(Parameters::new(other, Box::new(srs)).is_err());
    }
}

//! The stand of a benchmark: a test circuit, its parameters, an engine on the processor.
//!
//! Statements and blinding factors come from a seed, so that a run can be repeated. That is right
//! for test circuits only, whose secrets nobody wants to keep.

use std::sync::Arc;

use blstrs::Scalar;
use ff::Field as _;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use tracefmt::event::TraceStart;

use super::{Batch, Request, Row, run};
use crate::circuits::Family;
use crate::device::groth16::{Parameters, Partition};
use crate::device::{Devices, Info};
use crate::engine::{
    Config, Engine, Injection, JobSpec, Limits, Priority, Shutdown, StartError, Status,
    late_free_bytes,
};
use crate::trace::Tracer;

/// What the jobs of a batch are made of.
#[derive(Debug, Clone)]
pub struct Jobs {
    /// The circuit.
    pub family: Family,
    /// Its shape and points.
    pub parameters: Arc<Parameters>,
    /// Partitions a job.
    pub partitions: usize,
    /// Decides statements and blinding.
    pub seed: u64,
}

impl Jobs {
    /// The n-th job.
    pub fn job(&self, index: usize) -> JobSpec<Partition> {
        let name = self.family.name();
        let seed = self.seed.wrapping_add(index as u64);
        let mut dice = ChaCha20Rng::seed_from_u64(!seed);
        let statements = self.family.statements(seed, self.partitions);
        let circuits = statements.into_iter().map(|statement| {
            let blinding = (Scalar::random(&mut dice), Scalar::random(&mut dice));
            let (circuit, inputs) = (statement.circuit, statement.inputs);
            Partition::of_circuit(&self.parameters, circuit, inputs, blinding)
        });
        JobSpec {
            id: format!("{name}-{seed}"),
            kind: name.to_owned(),
            priority: Priority::Normal,
            circuits: circuits.collect(),
        }
    }
}

/// How the engine is set up.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Workers on the device.
    pub device_workers: u32,
    /// Synthesis workers.
    pub synth_workers: u32,
    /// Host memory that partitions in flight may hold, bytes.
    pub host_bytes: u64,
    /// What is to go wrong.
    pub injection: Injection,
    /// What the caller knows of the machine and the build, for the head of the trace.
    pub machine: Vec<(&'static str, String)>,
}

/// What came of a batch, and what it took.
#[derive(Debug)]
pub struct Outcome {
    /// The rows.
    pub batch: Batch,
    /// The engine's last state.
    pub status: Status,
    /// The most device memory in use, bytes, of all devices.
    pub vram_peak: u64,
    /// Memory of a card on which a late free fails an allocation whatever the plan, bytes.
    pub late_free_bytes: Option<u64>,
    /// Time spent on the trace, microseconds, all threads together.
    pub trace_us: u64,
}

impl Setup {
    /// The head of a trace of this set-up; whoever has a clock adds the time and names the run.
    pub fn head(&self, jobs: &Jobs, request: Request, device: &Info) -> TraceStart<'static> {
        let number = |number: u64| number.to_string();
        let faults = self.injection.faults.iter().map(ToString::to_string);
        let mut config = vec![
            ("circuit", jobs.family.name().to_owned()),
            ("domain", number(1 << jobs.family.log2())),
            (
                "constraints",
                number(jobs.parameters.shape().num_constraints() as u64),
            ),
            ("partitions", number(jobs.partitions as u64)),
            ("workers", number(self.device_workers.into())),
            ("partition_workers", number(self.synth_workers.into())),
            ("host_bytes", number(self.host_bytes)),
            ("count", number(request.count as u64)),
            ("concurrency", number(request.concurrency as u64)),
            ("seed", number(jobs.seed)),
        ];
        config.extend(self.machine.iter().chain(&device.software).cloned());
        if !self.injection.faults.is_empty() {
            config.push(("inject", faults.collect::<Vec<_>>().join(" ")));
        }
        let pair = |(key, value): (&'static str, String)| (key.into(), value.into());
        TraceStart {
            build: env!("CARGO_PKG_VERSION").into(),
            device: device.name.clone().into(),
            vram_total: device.total,
            vram_free: device.free,
            config: config.into_iter().map(pair).collect(),
            ..TraceStart::default()
        }
    }

    /// Runs a batch on an engine of its own on these devices. `done` hears of every row as it
    /// comes.
    ///
    /// # Errors
    /// [`StartError`] when the engine does not start.
    pub fn run(
        &self,
        jobs: &Jobs,
        request: Request,
        (devices, tracer): (Devices, &Arc<Tracer>),
        done: impl Fn(&Row) + Sync,
    ) -> Result<Outcome, StartError> {
        let config = self.config(jobs, request);
        let info = devices.first();
        let others = info.total.saturating_sub(info.free);
        let late = late_free_bytes(&jobs.parameters.sizes(), self.device_workers);
        let engine = Engine::start(devices.work, devices.all, Arc::clone(tracer), &config)?;
        let clock = Arc::clone(tracer.clock());
        let batch = run(&engine, clock.as_ref(), request, |at| jobs.job(at), done);
        let status = engine.shutdown(Shutdown::Drain);
        Ok(Outcome {
            batch,
            vram_peak: status.devices.iter().map(|device| device.peak).sum(),
            status,
            late_free_bytes: late.map(|late| late.saturating_add(others)),
            trace_us: tracer.spent_us(),
        })
    }

    fn config(&self, jobs: &Jobs, request: Request) -> Config {
        Config {
            synth_workers: self.synth_workers,
            device_workers: self.device_workers,
            finishers: 1,
            expected: jobs.partitions.saturating_mul(request.count) as u64,
            limits: Limits {
                host_bytes: self.host_bytes,
                waiting: jobs.partitions.saturating_mul(request.concurrency),
                reports: request.count,
            },
            injection: self.injection.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::by_name;
    use crate::clock::SystemClock;
    use crate::device::{Backend, Wanted};
    use crate::groth16::Shape;
    use crate::srs::Ceremony;

    #[test]
    fn a_batch_of_real_proofs_is_verified_and_costs_little_to_trace() {
        let family = by_name("mimc", 8).expect("known");
        let (shape, _) = Shape::record(family.example().circuit).expect("records");
        let srs = Ceremony::insecure(1).parameters(&shape, &mut |_| ());
        let parameters = Parameters::new(shape, Box::new(srs.expect("makes")));
        let jobs = Jobs {
            family,
            parameters: Arc::new(parameters.expect("of this shape")),
            partitions: 3,
            seed: 1,
        };
        let setup = Setup {
            device_workers: 2,
            synth_workers: 1,
            host_bytes: 1 << 30,
            injection: Injection::default(),
            machine: vec![("cpu", "a processor".to_owned())],
        };
        let request = Request {
            count: 3,
            concurrency: 2,
        };
        let tracer = Arc::new(Tracer::silent(Arc::new(SystemClock::new())));
        let devices = Devices::open(&Wanted {
            backend: Backend::Cpu,
            ..Wanted::default()
        });
        let devices = devices.expect("the processor is there");
        let info = devices.first();
        let outcome = setup.run(&jobs, request, (devices, &tracer), |_| ());
        let outcome = outcome.expect("starts");
        let failures: Vec<_> = outcome
            .batch
            .rows
            .iter()
            .filter_map(|row| row.failure.clone())
            .collect();
        assert_eq!(failures, [""; 0]);
        assert_eq!(outcome.status.totals.verified, 3);
        assert_eq!(outcome.status.host_used, 0);
        assert!(outcome.vram_peak > 0);
        let head = setup.head(&jobs, request, &info);
        assert!(head.config.contains(&("domain".into(), "256".into())));
    }
}

//! The engine itself: starts the threads, takes jobs, answers, and shuts down.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use tracefmt::event::What;

use super::fault::{Faults, Injection};
use super::job::{JobEnd, JobReport, JobSpec, SubmitError, Ticket};
use super::sched::{Limits, Sched};
use super::shared::Shared;
use super::station::Station;
use super::status::{Status, WorkerStatus};
use super::{finish, settle, synth, worker};
use crate::device::{Device, Work};
use crate::plan::{MULTIPLES_PAY_FROM, Sizes};
use crate::trace::{Scope, Tracer};

/// How many threads an engine has, and its bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Synthesis workers.
    pub synth_workers: u32,
    /// Workers a device: one is on the device while the others prepare.
    pub device_workers: u32,
    /// Threads that put proofs together and check them.
    pub finishers: u32,
    /// Partitions that are likely to come, of one size: of many it is worth to make multiples of
    /// points, see [`MULTIPLES_PAY_FROM`].
    pub expected: u64,
    /// Bounds.
    pub limits: Limits,
    /// What is to go wrong.
    pub injection: Injection,
}

/// Why an engine did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A count that must not be zero.
    #[error("expected at least one {what}, found none")]
    None {
        /// Of what.
        what: &'static str,
    },
    /// The system gives no thread.
    #[error("cannot start the thread {name}: {source}")]
    Thread {
        /// Its name.
        name: String,
        /// What the system says.
        source: io::Error,
    },
}

/// How to shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Open jobs are done first.
    Drain,
    /// Open jobs are cancelled; what runs stops at its next op.
    Cancel,
}

/// A running engine. Dropping it shuts it down as [`Shutdown::Cancel`] does.
pub struct Engine<W: Work> {
    pub(super) shared: Arc<Shared<W>>,
    threads: Vec<JoinHandle<()>>,
}

impl<W: Work> Engine<W> {
    /// Starts an engine on these devices.
    ///
    /// # Errors
    /// [`StartError`] when a count is zero or the system gives no thread; the threads that did
    /// start are stopped.
    pub fn start(
        work: Arc<W>,
        devices: Vec<Arc<dyn Device<W>>>,
        tracer: Arc<Tracer>,
        config: &Config,
    ) -> Result<Self, StartError> {
        let counts = [
            (devices.len(), "device"),
            (config.synth_workers as usize, "synthesis worker"),
            (config.device_workers as usize, "device worker"),
            (config.finishers as usize, "finisher"),
        ];
        if let Some((_, what)) = counts.into_iter().find(|(count, _)| *count == 0) {
            return Err(StartError::None { what });
        }
        let stations = (0..).zip(devices);
        let repeats = config.expected >= MULTIPLES_PAY_FROM;
        let stations =
            stations.map(|(gpu, device)| Station::new(gpu, device, config.device_workers, repeats));
        let faults = Faults::new(config.injection.clone());
        let sched = Sched::new(config.limits);
        let shared = Shared::new(work, tracer, faults, stations.collect(), sched);
        let mut engine = Self {
            shared: Arc::new(shared),
            threads: Vec::new(),
        };
        engine.spawn_all(config)?;
        Ok(engine)
    }

    fn spawn_all(&mut self, config: &Config) -> Result<(), StartError> {
        for number in 0..config.synth_workers {
            self.spawn(format!("synth-{number}"), |shared| synth::run(&shared))?;
        }
        let gpus = u32::try_from(self.shared.stations.len()).unwrap_or(u32::MAX);
        for number in 0..gpus * config.device_workers {
            let gpu = number / config.device_workers;
            self.shared.workers().push(WorkerStatus {
                worker: number,
                gpu,
                busy: None,
            });
            self.spawn(format!("gpu-worker-{number}"), move |shared| {
                if let Some(station) = shared.stations.get(gpu as usize) {
                    worker::run(&shared, station, number);
                }
            })?;
        }
        for number in 0..config.finishers {
            self.spawn(format!("finish-{number}"), |shared| finish::run(&shared))?;
        }
        Ok(())
    }

    fn spawn(
        &mut self,
        name: String,
        run: impl FnOnce(Arc<Shared<W>>) + Send + 'static,
    ) -> Result<(), StartError> {
        let shared = Arc::clone(&self.shared);
        let spawned = Builder::new().name(name.clone()).spawn(|| run(shared));
        let thread = spawned.map_err(|source| StartError::Thread { name, source })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Takes a job in. One that can never be done (nothing in it, or larger than the budget or a
    /// device) leaves its submission and the reason of its end in the trace; one that may come
    /// again later leaves nothing.
    ///
    /// # Errors
    /// [`SubmitError`]: the job is empty, its name is taken, it fits neither into the budget nor on
    /// a device, too many wait, or the engine shuts down.
    pub fn submit(&self, spec: JobSpec<W::Circuit>) -> Result<Ticket, SubmitError> {
        let scope = Scope::of_job(&spec.id.as_str().into());
        let partitions = u32::try_from(spec.circuits.len()).unwrap_or(u32::MAX);
        let kind = spec.kind.clone();
        let kind = kind.as_str();
        let submitted = || What::JobSubmit {
            kind: kind.into(),
            partitions,
        };
        let taken = self.take(spec, &scope, submitted);
        if let Err(error) = taken.as_ref()
            && error.is_final()
        {
            let tracer = &self.shared.tracer;
            tracer.event(&scope, submitted());
            let end = JobEnd::Failed(format!("not accepted: {error}"));
            self.shared.announce(&scope.job, &end);
        }
        taken
    }

    fn take<'a>(
        &self,
        spec: JobSpec<W::Circuit>,
        scope: &Scope,
        submitted: impl FnOnce() -> What<'a>,
    ) -> Result<Ticket, SubmitError> {
        let work = &self.shared.work;
        let bytes: Vec<u64> = spec.circuits.iter().map(|c| work.host_bytes(c)).collect();
        let sizes: Vec<Sizes> = spec.circuits.iter().map(|c| work.sizes(c)).collect();
        for (station, sizes) in self.shared.stations.iter().flat_map(|station| {
            let sizes = sizes.iter();
            sizes.map(move |sizes| (station, sizes))
        }) {
            station
                .plan(sizes)
                .map_err(|error| SubmitError::Unplannable {
                    id: spec.id.clone(),
                    why: error.to_string(),
                })?;
        }
        let spec = JobSpec {
            circuits: spec.circuits.into_iter().zip(sizes).collect(),
            id: spec.id,
            kind: spec.kind,
            priority: spec.priority,
        };
        self.shared.change(|sched, now_us| {
            let number = sched.submit(spec, &bytes, now_us)?;
            // Under the lock, so that no worker's line about the job stands before this one.
            self.shared.tracer.event(scope, submitted());
            Ok(Ticket(number))
        })
    }

    /// Waits for the end of a job; none if its report was taken already, or kept no longer.
    pub fn wait(&self, ticket: Ticket) -> Option<JobReport<W::Proof>> {
        self.shared.wait_for(
            |sched, _| sched.take_report(ticket.0),
            |sched| !sched.expects(ticket.0),
        )
    }

    /// The report of a job that has ended, without waiting.
    pub fn poll(&self, ticket: Ticket) -> Option<JobReport<W::Proof>> {
        self.shared.sched().take_report(ticket.0)
    }

    /// Gives an open job up; false when no open job has this name.
    pub fn cancel(&self, id: &str) -> bool {
        let (found, left) = self.shared.change(|sched, now_us| sched.cancel(id, now_us));
        drop(left);
        found
    }

    /// What the engine is doing.
    pub fn status(&self) -> Status {
        let workers = self.shared.workers().clone();
        let stations = self.shared.stations.iter();
        let devices = stations.map(|station| station.device.info()).collect();
        let now_us = self.shared.now_us();
        let faults = self.shared.faults.counts();
        Status::of::<W>(&self.shared.sched(), now_us, workers, devices, faults)
    }

    /// Takes no more jobs, waits for what is open, ends all threads. The last state is returned:
    /// nothing is reserved any more.
    pub fn shutdown(mut self, how: Shutdown) -> Status {
        self.stop(how);
        self.status()
    }

    fn stop(&mut self, how: Shutdown) {
        let now = how == Shutdown::Cancel;
        self.shared.settle(|sched, now_us| sched.close(now, now_us));
        for thread in self.threads.drain(..) {
            // A worker catches what its work throws; a thread that died all the same has said so.
            drop(thread.join());
        }
        for station in &self.shared.stations {
            settle::vacate(&self.shared, station);
        }
    }
}

impl<W: Work> Drop for Engine<W> {
    fn drop(&mut self) {
        self.stop(Shutdown::Cancel);
    }
}

impl<W: Work> fmt::Debug for Engine<W> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Engine")
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}

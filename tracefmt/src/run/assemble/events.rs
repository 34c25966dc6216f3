//! What a `TIMELINE` event changes: pairing by job and partition, never by a stack, since
//! partitions overlap and lines of the same millisecond come in any order.

use super::Place;
use super::clock::When;
use super::clock::{bounded, unbelievable};
use super::copies::{Again, set};
use super::features::Sign;
use super::life::{Life, Link, LinkKind};
use crate::event::{Alloc, Event, EventKind, TraceStart, What};
use crate::finding::Confidence;
use crate::run::{At, Call, DeviceEvent, JobOutcome, LineRef, Miscount, Outcome, Task};

impl Life {
    pub(super) fn event(&mut self, place: Place, line: LineRef, event: &Event<'_>) {
        let us = event.t_us.unwrap_or(event.ms.saturating_mul(1000));
        if unbelievable(us) {
            self.run.unbelieved.push(line);
        }
        let us = bounded(us);
        let at = At { us, line };
        if place.repaired {
            self.clock.repaired_event(us);
        } else {
            self.clock
                .event(us, event.t_us.is_some(), &mut self.run.marks);
        }
        self.features.event(event.what.kind());
        self.saw_offset(event, us);
        self.worker_runs_on(event.place.worker, event.place.gpu);
        match &event.what {
            What::TraceStart(start) => self.trace_start(start),
            What::JobSubmit { .. } | What::JobEnd { .. } => self.job_event(at, event),
            What::ProofOk { all } | What::ProofBad { all } => self.proof(event, at, *all),
            What::SynthStart { .. } | What::SynthEnd { .. } => self.synthesis(at, event),
            What::ChanSend { .. } | What::GpuQueue { .. } => {
                self.step(event, |task| set(&mut task.queued, at));
            }
            What::GpuPickup => self.pickup(at, event),
            What::GpuStart => self.gpu_start(at, event),
            What::GpuEnd { gpu_ms } => self.gpu_end(at, event, *gpu_ms),
            What::PartitionFailed { error } => self.partition_failed(at, event, error),
            What::TraceEnd { counts } => self.trace_end(line, counts),
            What::Other { .. } => {}
            what => self.device_event(at, event, what),
        }
    }

    /// The task that an event speaks of.
    fn task_of(&mut self, event: &Event<'_>) -> u32 {
        let job = self.jobs.intern(&event.job);
        self.task_or_new(job, event.place.partition)
    }

    /// Changes the task of an event; the change says whether it came before. None for the copy of
    /// an event.
    fn step(&mut self, event: &Event<'_>, change: impl FnOnce(&mut Task) -> Again) -> Option<u32> {
        let index = self.task_of(event);
        let task = self.task_mut(index)?;
        match change(task) {
            Again::First => {}
            Again::Other => task.repeats += 1,
            Again::Copy => {
                self.copied += 1;
                return None;
            }
        }
        Some(index)
    }

    fn synthesis(&mut self, at: At, event: &Event<'_>) {
        if event.place.partition.is_some() {
            self.features.sign(Sign::Partitions);
        }
        match &event.what {
            What::SynthStart { kind, .. } => {
                let job = self.jobs.intern(&event.job);
                if self.is_retry(job, event.place.partition, at) {
                    self.jobs.submit(&event.job);
                }
                let job = self.jobs.intern(&event.job);
                if let (Some(kind), Some(job)) = (kind, self.jobs.get_mut(job)) {
                    job.kind.get_or_insert_with(|| kind.to_string());
                }
                self.step(event, |task| set(&mut task.synth_start, at));
            }
            What::SynthEnd { synth_ms, .. } => {
                self.step(event, |task| {
                    task.synth_ms = task.synth_ms.or(*synth_ms);
                    set(&mut task.synth_end, at)
                });
            }
            _ => {}
        }
    }

    /// The partition was begun before, in a job of the same id that has ended since.
    fn is_retry(&mut self, job: u32, partition: Option<u32>, at: At) -> bool {
        let known = self.task(job, partition);
        let begun = known
            .and_then(|task| self.run.tasks.get(task as usize))
            .and_then(|task| task.synth_start)
            .is_some_and(|begun| begun.us != at.us);
        begun && self.jobs.times_mut(job).is_some_and(|t| t.ended.is_some())
    }

    fn pickup(&mut self, at: At, event: &Event<'_>) {
        let worker = event.place.worker;
        let task = self.step(event, |task| {
            task.worker = worker.or(task.worker);
            set(&mut task.pickup, at)
        });
        if task.is_some() {
            self.worker_turns(worker, None, at.line.line);
        }
    }

    fn gpu_start(&mut self, at: At, event: &Event<'_>) {
        let worker = event.place.worker;
        let task = self.step(event, |task| {
            task.worker = worker.or(task.worker);
            set(&mut task.gpu_start, at)
        });
        let Some(task) = task else {
            return;
        };
        let call = self.push_call(Call {
            task,
            worker,
            gpu: event.place.gpu,
            confidence: Confidence::Ambiguous,
            lock_seq: None,
            start: at,
        });
        self.worker_turns(worker, Some(call), at.line.line);
    }

    fn gpu_end(&mut self, at: At, event: &Event<'_>, gpu_ms: Option<u64>) {
        let worker = event.place.worker;
        let task = self.step(event, |task| {
            task.worker = task.worker.or(worker);
            task.gpu_ms = task.gpu_ms.or(gpu_ms);
            set(&mut task.gpu_end, at)
        });
        if let Some(call) = task.and_then(|task| self.call_of(task)) {
            let (line, what) = (at.line.line, LinkKind::Ended);
            self.links.push(Link { line, call, what });
        }
    }

    fn partition_failed(&mut self, at: At, event: &Event<'_>, error: &str) {
        let task = self.task_of(event);
        self.fail(task, at.line, When::Offset(at.us), error);
    }

    /// A task failed with its own reason; so does its job.
    pub(super) fn fail(&mut self, task: u32, line: LineRef, when: When, error: &str) {
        let Some(slot) = self.task_mut(task) else {
            return;
        };
        slot.failure.get_or_insert(line);
        slot.outcome = Outcome::Failed;
        let job = slot.job;
        if let Some(call) = self.call_of(task) {
            let (line, what) = (line.line, LinkKind::Left);
            self.links.push(Link { line, call, what });
        }
        self.fail_job(job, line, when, error);
    }

    pub(super) fn fail_job(&mut self, job: u32, line: LineRef, when: When, error: &str) {
        if let Some(job) = self.jobs.get_mut(job) {
            job.outcome = JobOutcome::Failed;
            if job.error.is_none() && !error.is_empty() {
                job.error = Some(error.to_owned());
            }
        }
        if let Some(times) = self.jobs.times_mut(job) {
            times.ended.get_or_insert((when, line));
        }
    }

    fn job_event(&mut self, at: At, event: &Event<'_>) {
        let time = (When::Offset(at.us), at.line);
        match &event.what {
            What::JobSubmit { .. } if self.repeats_submit(event, time.0) => {}
            What::JobSubmit { kind, partitions } => {
                let job = self.jobs.submit(&event.job);
                if let Some(times) = self.jobs.times_mut(job) {
                    times.submitted.get_or_insert(time);
                }
                if let Some(job) = self.jobs.get_mut(job) {
                    job.kind = Some(kind.to_string());
                    job.partitions = Some(*partitions);
                }
            }
            What::JobEnd { status, error } => {
                let job = self.jobs.intern(&event.job);
                if let Some(times) = self.jobs.times_mut(job) {
                    times.ended = Some(time);
                }
                if let Some(job) = self.jobs.get_mut(job) {
                    job.outcome = match status.as_ref() {
                        "ok" => JobOutcome::Completed,
                        "cancelled" => JobOutcome::Cancelled,
                        _ => JobOutcome::Failed,
                    };
                    if let Some(error) = error {
                        job.error = Some(error.to_string());
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether the last job of that id was submitted at the same time.
    fn repeats_submit(&mut self, event: &Event<'_>, when: When) -> bool {
        let job = self.jobs.find(&event.job);
        let times = job.and_then(|job| self.jobs.times_mut(job));
        let submitted = times.and_then(|times| times.submitted);
        submitted.is_some_and(|(known, _)| known == when)
    }

    /// A verdict on one partition or on the whole proof.
    fn proof(&mut self, event: &Event<'_>, at: At, all: bool) {
        let line = at.line;
        let good = matches!(event.what, What::ProofOk { .. });
        let job = self.jobs.intern(&event.job);
        if let Some(job) = self.jobs.get_mut(job) {
            job.checked = job.checked.max(Some(at));
        }
        let whole = all || event.place.partition.is_none();
        if whole && let Some(job) = self.jobs.get_mut(job) {
            job.verified = Some((good, line));
        }
        if !whole {
            let task = self.task_or_new(job, event.place.partition);
            if let Some(slot) = self.task_mut(task) {
                slot.verified = Some(good);
            }
            let bad = &mut self.run.bad_proofs;
            if !good && bad.iter().rev().take(8).all(|(known, _)| *known != task) {
                bad.push((task, line));
            }
        }
    }

    /// Compares what the writer counted with what was read; other lines may be lost in between.
    fn trace_end(&mut self, line: LineRef, counts: &[(EventKind, u64)]) {
        self.begun = None;
        let here = |kind| u64::from(self.features.events(kind));
        if !Miscount::applies(counts, here(EventKind::TraceStart)) {
            return;
        }
        let mut kinds = Miscount::differences(counts, here);
        if self.copied > 0 && Miscount::is_multiple(counts, here) {
            kinds.clear();
        }
        self.run.miscount = (!kinds.is_empty()).then_some(Miscount { line, kinds });
    }

    fn trace_start(&mut self, start: &TraceStart<'_>) {
        if self.repeats_start(start) {
            return;
        }
        self.begun = Some((start.run.to_string(), start.epoch_unix_us));
        let epoch = bounded(start.epoch_unix_us);
        self.clock.set_epoch(epoch, &mut self.run.marks);
        let config = &mut self.run.config;
        config.vram_bytes = Some(start.vram_total);
        config.free_bytes = Some(start.vram_free);
        config.device = Some(start.device.to_string());
        config.build = Some(start.build.to_string());
        for (key, value) in &start.config {
            if key == "domain" {
                config.domain = value.parse().ok();
            }
            config.more.push((key.to_string(), value.to_string()));
        }
        config.more.push(("run".to_owned(), start.run.to_string()));
    }

    fn device_event(&mut self, at: At, event: &Event<'_>, what: &What<'_>) {
        let Some(what) = owned(what) else {
            return;
        };
        let job = (!event.job.is_empty()).then(|| self.jobs.intern(&event.job));
        self.run.device_events.push(DeviceEvent {
            at,
            job,
            place: event.place,
            what,
        });
    }
}

/// A device event that outlives its line; none for the other kinds.
fn owned(what: &What<'_>) -> Option<What<'static>> {
    let text = |text: &str| std::borrow::Cow::Owned(text.to_owned());
    Some(match what {
        What::VramAlloc(alloc) => What::VramAlloc(Alloc {
            id: alloc.id,
            buf: text(&alloc.buf),
            bytes: alloc.bytes,
            api: text(&alloc.api),
            stream: alloc.stream,
            rc: alloc.rc,
        }),
        What::VramFree {
            id,
            buf,
            bytes,
            api,
            stream,
            rc,
        } => What::VramFree {
            id: *id,
            buf: text(buf),
            bytes: *bytes,
            api: text(api),
            stream: *stream,
            rc: *rc,
        },
        What::Launch {
            op,
            phase,
            stream,
            reads,
            writes,
            rc,
        } => What::Launch {
            op: text(op),
            phase: text(phase),
            stream: *stream,
            reads: reads.clone(),
            writes: writes.clone(),
            rc: *rc,
        },
        other => return owned_small(other),
    })
}

fn owned_small(what: &What<'_>) -> Option<What<'static>> {
    let text = |text: &str| std::borrow::Cow::Owned(text.to_owned());
    Some(match *what {
        What::HostReg { addr, bytes, rc } => What::HostReg { addr, bytes, rc },
        What::HostUnreg { addr, rc } => What::HostUnreg { addr, rc },
        What::LockWait { ref lock } => What::LockWait { lock: text(lock) },
        What::LockAcq { ref lock } => What::LockAcq { lock: text(lock) },
        What::LockRel { ref lock } => What::LockRel { lock: text(lock) },
        What::Sync {
            ref scope,
            stream,
            event,
            rc,
        } => What::Sync {
            scope: text(scope),
            stream,
            event,
            rc,
        },
        What::EventRecord { event, stream, rc } => What::EventRecord { event, stream, rc },
        What::StreamWait { event, stream, rc } => What::StreamWait { event, stream, rc },
        What::PoolTrim { keep, rc } => What::PoolTrim { keep, rc },
        What::MemInfo { free, total } => What::MemInfo { free, total },
        What::PlanFallback {
            id,
            free,
            need,
            ref plan,
        } => What::PlanFallback {
            id,
            free,
            need,
            plan: text(plan),
        },
        _ => return None,
    })
}

//! Hand-built runs for the tests of the finders: a small daemon whose every event takes a line.

use tracefmt::event::{Place, What};
use tracefmt::finding::Confidence;
use tracefmt::run::{
    At, Call, DeviceEvent, Dialect, Input, Job, JobOutcome, LineRef, Outcome, Run, RunEnd, Task,
    Trace, Trouble, TroubleClass,
};

use super::{Diagnosis, NoLines, Question, Reading};
use crate::model::Analysis;

/// A run under construction; time and line go forward by one with every event.
pub(crate) struct Daemon {
    pub(crate) run: Run,
    line: u32,
}

impl Daemon {
    pub(crate) fn new() -> Self {
        let run = Run {
            first: LineRef::new(0, 1),
            dialect: Dialect {
                name: "phase9-v1",
                confidence: Confidence::Certain,
                why: "test".to_owned(),
            },
            ..Run::default()
        };
        Self { run, line: 0 }
    }

    pub(crate) fn now(&mut self) -> At {
        self.line += 1;
        let line = LineRef::new(0, self.line);
        self.run.last = line;
        self.run.last_us = i64::from(self.line) * 1000;
        At {
            us: self.run.last_us,
            line,
        }
    }

    /// A job of so many partitions, all synthesized and queued.
    pub(crate) fn job(&mut self, id: &str, partitions: u32) -> u32 {
        let job = u32::try_from(self.run.jobs.len()).unwrap();
        let mut tasks = Vec::new();
        for partition in 0..partitions {
            tasks.push(u32::try_from(self.run.tasks.len()).unwrap());
            let task = Task {
                job,
                partition: Some(partition),
                synth_start: Some(self.now()),
                synth_end: Some(self.now()),
                queued: Some(self.now()),
                outcome: Outcome::Queued,
                ..Task::default()
            };
            self.run.tasks.push(task);
        }
        self.run.jobs.push(Job {
            id: id.to_owned(),
            tasks,
            partitions: Some(partitions),
            ..Job::default()
        });
        job
    }

    /// Index of a partition of a job.
    pub(crate) fn task(&self, job: u32, partition: usize) -> u32 {
        self.run.jobs[job as usize].tasks[partition]
    }

    pub(crate) fn pickup(&mut self, task: u32, worker: u32) {
        let at = self.now();
        let task = &mut self.run.tasks[task as usize];
        task.pickup = Some(at);
        task.worker = Some(worker);
        task.gpu = Some(0);
        task.outcome = Outcome::PickedUp;
    }

    pub(crate) fn start(&mut self, task: u32, worker: u32) {
        self.pickup(task, worker);
        let at = self.now();
        self.run.calls.push(Call {
            task,
            worker: Some(worker),
            gpu: Some(0),
            confidence: Confidence::Certain,
            lock_seq: None,
            start: at,
        });
        let task = &mut self.run.tasks[task as usize];
        task.gpu_start = Some(at);
        task.outcome = Outcome::Proving;
    }

    pub(crate) fn end(&mut self, task: u32) {
        let at = self.now();
        let task = &mut self.run.tasks[task as usize];
        task.gpu_end = Some(at);
        task.outcome = Outcome::Completed;
    }

    /// All partitions of a job start and end, one after another.
    pub(crate) fn prove(&mut self, job: u32) {
        for task in self.run.jobs[job as usize].tasks.clone() {
            self.start(task, 0);
            self.end(task);
        }
        self.close(job, JobOutcome::Completed);
    }

    pub(crate) fn close(&mut self, job: u32, outcome: JobOutcome) {
        let at = self.now();
        let job = &mut self.run.jobs[job as usize];
        job.ended = Some(at);
        job.outcome = outcome;
    }

    pub(crate) fn verify(&mut self, job: u32, holds: bool) {
        let at = self.now();
        self.run.jobs[job as usize].verified = Some((holds, at.line));
    }

    pub(crate) fn trouble(
        &mut self,
        kind: TroubleClass,
        code: Option<i32>,
        text: &str,
        task: Option<u32>,
    ) -> LineRef {
        let at = self.now();
        self.run.troubles.push(Trouble {
            kind,
            line: at.line,
            us: Some(at.us),
            code,
            text: text.to_owned(),
            job: task.map(|task| self.run.tasks[task as usize].job),
            task,
        });
        at.line
    }

    /// A device call of our own traces.
    pub(crate) fn device(&mut self, task: u32, what: What<'static>) -> LineRef {
        let at = self.now();
        let owner = &self.run.tasks[task as usize];
        self.run.device_events.push(DeviceEvent {
            at,
            job: Some(owner.job),
            place: Place {
                gpu: owner.gpu,
                worker: owner.worker,
                partition: owner.partition,
            },
            what,
        });
        at.line
    }

    /// A partition panics, its job fails, the job's other open partitions are skipped.
    pub(crate) fn die(&mut self, task: u32, code: Option<i32>, text: &str) {
        let panic = self.trouble(TroubleClass::Panic, code, text, Some(task));
        self.trouble(
            TroubleClass::Failure,
            code,
            "proving task panicked",
            Some(task),
        );
        let dead = &mut self.run.tasks[task as usize];
        dead.outcome = Outcome::Failed;
        dead.failure = Some(panic);
        let job = dead.job;
        self.close(job, JobOutcome::Failed);
        for other in self.run.jobs[job as usize].tasks.clone() {
            if self.run.tasks[other as usize].outcome == Outcome::Queued {
                self.pickup(other, 1);
                self.trouble(TroubleClass::Consequence, None, "skipping", Some(other));
                self.run.tasks[other as usize].outcome = Outcome::Skipped;
            }
        }
    }

    pub(crate) fn ends(mut self, end: RunEnd) -> Trace {
        self.run.end = end;
        trace(vec![self.run])
    }
}

/// A trace of runs in one input called `run.log`.
pub(crate) fn trace(runs: Vec<Run>) -> Trace {
    let lines = runs.iter().map(|run| run.last.line).max().unwrap_or(0);
    Trace {
        inputs: vec![Input {
            path: "run.log".to_owned(),
            lines: u64::from(lines),
            ..Input::default()
        }],
        runs,
    }
}

/// An analysis that says nothing.
pub(crate) fn no_analysis() -> Analysis {
    Analysis::default()
}

/// The diagnosis of a trace by itself.
pub(crate) fn diagnosis(trace: &Trace) -> Diagnosis {
    let analysis = no_analysis();
    super::diagnose(&Question {
        subject: Reading {
            trace,
            analysis: &analysis,
        },
        baseline: None,
        replay: Vec::new(),
        lines: &NoLines,
    })
}

//! Lines of trouble, and whose trouble it is: a panic names nobody, but the error line that
//! follows does, and a worker with an open call may be the only one it can be.

use super::clock::When;
use super::life::Life;
use crate::record::{Level, LogLine, TroubleKind, TroubleLine};
use crate::run::{JobOutcome, LineRef, Outcome, Task, Trouble, TroubleClass};
use crate::timing::TimingWhat;

/// An error line that explains a panic stands at most so many lines behind it.
const NEAR: u32 = 64;

/// A panic's message takes a few lines at most.
const MESSAGE: u32 = 8;

/// A line that may tell of a failure.
#[derive(Debug)]
pub(super) struct Suspect {
    /// Index into the troubles.
    trouble: usize,
    line: LineRef,
    when: When,
    job: u32,
    task: Option<u32>,
    error: String,
}

impl Life {
    /// A panic, a CUDA error, an abort.
    pub(super) fn trouble(&mut self, line: LineRef, trouble: &TroubleLine<'_>) {
        let kind = match trouble.kind {
            TroubleKind::Panic => TroubleClass::Panic,
            TroubleKind::PanicMessage => return self.panic_message(line, trouble),
            TroubleKind::Cuda | TroubleKind::OpenCl => TroubleClass::Cuda,
            TroubleKind::Abort => TroubleClass::Abort,
        };
        self.nameless.push(self.run.troubles.len());
        let when = self.clock.now();
        let text = trouble.text.to_string();
        self.push(line, (kind, when), trouble.code, text);
    }

    /// A further line of the panic that was reported last.
    fn panic_message(&mut self, line: LineRef, message: &TroubleLine<'_>) {
        let panic = self.run.troubles.last_mut();
        let panic = panic.filter(|last| last.kind == TroubleClass::Panic);
        if let Some(panic) = panic
            && panic.line.line + MESSAGE >= line.line
        {
            panic.text.push_str(": ");
            panic.text.push_str(&message.text);
            panic.code = panic.code.or(message.code);
        }
    }

    /// A timing line that tells of a fallback.
    pub(super) fn trouble_of_timing(&mut self, line: LineRef, what: &TimingWhat<'_>) {
        let (kind, code, text) = match what {
            TimingWhat::HostRegisterFallback { err } => {
                let text = format!("host_register=fallback err={err}");
                (TroubleClass::Fallback, Some(*err), text)
            }
            TimingWhat::PrestageFallback { err } => {
                let text = format!("prestage_setup=fallback err={err}");
                (TroubleClass::Fallback, Some(*err), text)
            }
            TimingWhat::PrestageSkip => {
                let text = "prestage_setup=skip_vram".to_owned();
                (TroubleClass::SkipVram, None, text)
            }
            _ => return,
        };
        let code = code.and_then(|code| i32::try_from(code).ok());
        let when = self.clock.now();
        self.push(line, (kind, when), code, text);
    }

    /// A line of level WARN or ERROR of the engine.
    pub(super) fn trouble_of_log(&mut self, line: LineRef, log: &LogLine<'_>, when: When) {
        let (job, task) = self.named(log);
        let message = log.message.as_ref();
        let consequence = message.starts_with("skipping ") || message.starts_with("discarding ");
        let failed = message.contains("panicked") || message.contains("failed");
        let kind = if consequence {
            self.consequence(log, task)
        } else if message.contains("self-check") {
            TroubleClass::BadProof
        } else if log.level == Level::Error && failed && job.is_some() {
            self.failure(line, log, when, (job, task));
            TroubleClass::Failure
        } else {
            self.suspect(line, log, when, (job, task));
            if log.level == Level::Error {
                TroubleClass::Error
            } else {
                TroubleClass::Warning
            }
        };
        let mut text = message.to_owned();
        if let Some(error) = log.field("error") {
            text.push_str(": ");
            text.push_str(error);
        }
        let code = text.contains("out of memory").then_some(2);
        self.push(line, (kind, when), code, text);
        if let Some(trouble) = self.run.troubles.last_mut() {
            trouble.job = job;
            trouble.task = task;
        }
    }

    /// A line that names a job and may tell of its failure in words that are not known here:
    /// what comes after decides.
    fn suspect(
        &mut self,
        line: LineRef,
        log: &LogLine<'_>,
        when: When,
        (job, task): (Option<u32>, Option<u32>),
    ) {
        let error = log.field("error").or_else(|| log.field("err"));
        if let Some(job) = job
            && (log.level == Level::Error || error.is_some())
        {
            self.suspects.push(Suspect {
                trouble: self.run.troubles.len(),
                line,
                when,
                job,
                task,
                error: error.unwrap_or(&log.message).to_owned(),
            });
        }
    }

    /// At the end: a suspected partition or job of which nothing was heard after the line, and
    /// which did not complete, has failed.
    pub(super) fn settle_suspects(&mut self) {
        for suspect in std::mem::take(&mut self.suspects) {
            let Some(job) = self.jobs.list.get(suspect.job as usize) else {
                continue;
            };
            let goes_on = |task: &u32| {
                let task = self.run.tasks.get(*task as usize);
                task.is_some_and(|task| {
                    task.gpu_end.is_some() || task.last_line() > Some(suspect.line)
                })
            };
            let alive = match &suspect.task {
                Some(task) => goes_on(task),
                None => job.tasks.iter().any(goes_on),
            };
            if alive || job.outcome != JobOutcome::Open {
                continue;
            }
            let Suspect {
                line, when, error, ..
            } = &suspect;
            match suspect.task {
                Some(task) => self.fail(task, *line, *when, error),
                None => self.fail_job(suspect.job, *line, *when, error),
            }
            if let Some(trouble) = self.run.troubles.get_mut(suspect.trouble) {
                trouble.kind = TroubleClass::Failure;
            }
        }
    }

    fn push(
        &mut self,
        line: LineRef,
        (kind, when): (TroubleClass, When),
        code: Option<i32>,
        text: String,
    ) {
        self.run.troubles.push(Trouble {
            kind,
            line,
            us: None,
            code,
            text,
            job: None,
            task: None,
        });
        self.trouble_times.push(when);
    }

    /// An error line names the partition or job that failed; the panic before it was the same.
    fn failure(
        &mut self,
        line: LineRef,
        log: &LogLine<'_>,
        when: When,
        (job, task): (Option<u32>, Option<u32>),
    ) {
        let error = log.field("error").unwrap_or(&log.message);
        match (task, job) {
            (Some(task), _) => self.fail(task, line, when, error),
            (None, Some(job)) => self.fail_job(job, line, when, error),
            (None, None) => {}
        }
        if !log.message.contains("panicked") {
            return;
        }
        self.name_panic(line, error, (job, task));
    }

    /// Gives the oldest nameless panic with this text, or the oldest at all, an owner, together
    /// with what stands between it and the next panic.
    fn name_panic(&mut self, line: LineRef, error: &str, owner: (Option<u32>, Option<u32>)) {
        let troubles = &mut self.run.troubles;
        let of = |index: &usize| troubles.get(*index);
        let near = |index: &usize| of(index).is_some_and(|t| t.line.line + NEAR >= line.line);
        let words = |index: &usize| {
            let text = of(index).and_then(|t| t.text.split('"').next());
            text.is_some_and(|text| text.len() > 4 && error.contains(text))
        };
        let panic = |i: &usize| of(i).is_some_and(|t| t.kind == TroubleClass::Panic);
        let Some(start) = self.nameless.iter().position(near) else {
            return;
        };
        let recent = self.nameless.get(start..).unwrap_or_default();
        let found = start + recent.iter().position(words).unwrap_or(0);
        let before = self.nameless.get(..=found).unwrap_or_default();
        let first = before.iter().rposition(panic).unwrap_or(found);
        let after = self.nameless.get(first + 1..).unwrap_or_default();
        let end = first + 1 + after.iter().position(panic).unwrap_or(after.len());
        for index in self.nameless.drain(first..end) {
            if let Some(trouble) = troubles.get_mut(index) {
                (trouble.job, trouble.task) = owner;
            }
        }
    }

    /// Panics that no line names belong to the only call that was open, if there was only one.
    pub(super) fn name_the_rest(&mut self) {
        for index in std::mem::take(&mut self.nameless) {
            let Some(line) = self.run.troubles.get(index).map(|trouble| trouble.line) else {
                continue;
            };
            let open = |task: &Task| {
                let begun = task.gpu_start.is_some_and(|at| at.line < line);
                begun && task.gpu_end.is_none() && task.outcome != Outcome::Failed
            };
            let mut tasks = self.run.calls.iter().rev().take(64).filter_map(|call| {
                let task = self.run.tasks.get(call.task as usize)?;
                open(task).then_some(call.task)
            });
            let only = tasks
                .next()
                .filter(|first| tasks.all(|other| other == *first));
            let job = only.and_then(|task| self.run.tasks.get(task as usize));
            let job = job.map(|task| task.job);
            if let Some(trouble) = self.run.troubles.get_mut(index) {
                (trouble.job, trouble.task) = (job, only);
            }
        }
    }
}

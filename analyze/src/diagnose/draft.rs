//! A finding in the making: the finding without the text of its evidence, the lines that it
//! wants to quote, and what it may be a consequence of. Which one is the root is decided in
//! `cause`, when all are there.

use tracefmt::finding::{Code, Confidence, Finding, PartitionRef, Severity};
use tracefmt::run::{LineRef, Task};

use super::scene::Scene;

/// Most lines that a finding quotes.
pub(crate) const EVIDENCE_MAX: usize = 8;

/// Most partitions that a finding lists.
pub(crate) const PARTITIONS_MAX: usize = 500;

/// How a finding stands to the failures of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Explains failures by itself; the earliest such error is the root.
    Primary,
    /// Came of a failure or of the end of the run; root only when nothing else explains it.
    Follower,
    /// Followed from the death of the process, which is named by `run.truncated` or
    /// `run.aborted`; root only when nothing else explains it.
    LostAtEnd,
    /// Rests on lines of a kind that the log is known to lack: follows from that, never a root.
    Doubtful,
    /// By its nature a consequence, never a root.
    Consequence,
    /// Stands beside the failures: no cause, no consequence, never a root.
    Beside,
}

/// A finding in the making.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// All but id, evidence, root and causes.
    pub(crate) finding: Finding,
    /// Lines to quote, most telling first.
    pub(crate) lines: Vec<LineRef>,
    /// Where it first shows; decides what is earlier.
    pub(crate) at: LineRef,
    /// How it stands to the failures of its run.
    pub(crate) role: Role,
}

impl Draft {
    /// A draft that is certain, counts one, and shows at the end of everything until told where.
    pub(crate) fn new(code: Code, severity: Severity, role: Role, title: String) -> Self {
        Self {
            finding: Finding::new(code, severity, Confidence::Certain, title),
            lines: Vec::new(),
            at: LineRef::new(u32::MAX, u32::MAX),
            role,
        }
    }

    /// Sets the run.
    pub(crate) const fn of_run(mut self, run: u32) -> Self {
        self.finding.run = Some(run);
        self
    }

    /// Sets the explanation.
    pub(crate) fn because(mut self, explanation: String) -> Self {
        self.finding.explanation = explanation;
        self
    }

    /// Sets what to do next.
    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.finding.fix = Some(fix.into());
        self
    }

    /// Sets how many occurrences it stands for.
    pub(crate) fn counting(mut self, count: usize) -> Self {
        self.finding.count = count as u64;
        self
    }

    /// Sets the lines to quote; the earliest of them is where the finding shows.
    pub(crate) fn quoting(mut self, lines: impl IntoIterator<Item = LineRef>) -> Self {
        for line in lines {
            if line.line == 0 {
                continue;
            }
            self.at = self.at.min(line);
            if self.lines.len() < EVIDENCE_MAX && !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
        self
    }

    /// Lists partitions; a single one also fills the finding's own job and partition.
    pub(crate) fn about(mut self, partitions: impl IntoIterator<Item = PartitionRef>) -> Self {
        self.finding.partitions = partitions.into_iter().take(PARTITIONS_MAX).collect();
        if let [only] = self.finding.partitions.as_slice() {
            self.finding.job = Some(only.job.clone());
            self.finding.partition = only.partition;
        }
        self
    }

    /// Lists the partitions of tasks; a single one fills where it ran, too.
    pub(crate) fn about_tasks(self, scene: &Scene<'_>, tasks: &[&Task]) -> Self {
        let mut draft = self.about(tasks.iter().map(|task| scene.name(task)));
        if let [only] = tasks {
            draft.finding.worker = only.worker;
            draft.finding.gpu = only.gpu;
        }
        draft
    }

    /// Whether it is an error.
    pub(crate) fn is_error(&self) -> bool {
        self.finding.severity == Severity::Error
    }
}

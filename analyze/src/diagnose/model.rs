//! The result of a diagnosis, `cuzk.diagnosis/1`: verdict, a row per run, findings, root cause.
//! Fields may be added, never changed. How the values are arrived at is not here.

use serde::{Deserialize, Serialize};
use tracefmt::finding::{Code, Confidence, Finding, Severity};

use crate::foreign::ForeignRow;

/// Schema name of [`Diagnosis`].
pub const SCHEMA: &str = "cuzk.diagnosis/1";

/// Everything that `cuzk diagnose` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// [`SCHEMA`].
    pub schema: String,
    /// The inputs in the order given.
    pub inputs: Vec<InputRow>,
    /// The worst verdict of all runs.
    pub verdict: Verdict,
    /// The verdict in a sentence with its numbers.
    pub summary: String,
    /// One row per daemon run.
    pub runs: Vec<RunRow>,
    /// What the good run was, when one was given to compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineRow>,
    /// Id of the root cause of the first run that has one.
    pub root: Option<String>,
    /// Root first, then errors, warnings and information, each in order of the log.
    pub findings: Vec<Finding>,
    /// Timings of other programs, where an input holds no run of the engine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<ForeignRow>,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRow {
    /// As the user named it.
    pub path: String,
    /// Size after decompression.
    pub bytes: u64,
    /// Number of lines.
    pub lines: u64,
}

/// The run that the inputs were compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineRow {
    /// Its inputs.
    pub paths: Vec<String>,
    /// Whether its phases may be compared with those of the inputs.
    pub comparable: bool,
    /// In what the two differ: settings, or what one of them lacks.
    pub differs: Vec<String>,
}

/// What can be said of a run as a whole, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All partitions of all jobs ended, and every proof was verified.
    Verified,
    /// All ended, but not every proof was verified.
    CompleteUnverified,
    /// Nothing failed visibly, but the log ends before a proof does.
    Silent,
    /// The log was cut, or the process was killed, and nothing had failed before.
    Truncated,
    /// Something failed.
    Failed,
}

impl Verdict {
    /// The words that open the text report.
    pub const fn headline(self) -> &'static str {
        match self {
            Self::Verified => "VERIFIED",
            Self::CompleteUnverified => "COMPLETE, NOT VERIFIED",
            Self::Silent => "INCONCLUSIVE",
            Self::Truncated => "TRUNCATED",
            Self::Failed => "FAILED",
        }
    }
}

/// One daemon run in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// Index of the run.
    pub run: u32,
    /// Dialect of its log.
    pub dialect: String,
    /// How sure the dialect is.
    pub dialect_confidence: Confidence,
    /// Its own verdict.
    pub verdict: Verdict,
    /// The input that it starts in.
    pub path: String,
    /// First line, 1-based.
    pub first_line: u64,
    /// Last line; of another input when the run goes on there.
    pub last_line: u64,
    /// Jobs.
    pub jobs: JobCounts,
    /// Partitions; a monolithic proof counts as one.
    pub partitions: PartitionCounts,
    /// Id of its root cause.
    pub root: Option<String>,
}

/// Jobs of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCounts {
    /// All that the log names.
    pub total: u64,
    /// Proof assembled.
    pub completed: u64,
    /// Failed.
    pub failed: u64,
    /// Cancelled by a client or an operator.
    pub cancelled: u64,
    /// The log ends before they do.
    pub open: u64,
    /// Whole proof checked, and it holds.
    pub verified: u64,
    /// Checked, and it does not hold.
    pub invalid: u64,
}

impl JobCounts {
    /// Adds those of another run.
    pub(crate) const fn add(&mut self, other: Self) {
        self.total += other.total;
        self.completed += other.completed;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.open += other.open;
        self.verified += other.verified;
        self.invalid += other.invalid;
    }
}

impl PartitionCounts {
    /// Adds those of another run.
    pub(crate) const fn add(&mut self, other: Self) {
        self.total += other.total;
        self.completed += other.completed;
        self.failed += other.failed;
        self.open += other.open;
        self.cancelled += other.cancelled;
        self.verified += other.verified;
    }
}

/// Partitions of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionCounts {
    /// All that the log names.
    pub total: u64,
    /// Ended with success, and not thrown away.
    pub completed: u64,
    /// Failed, skipped or thrown away.
    pub failed: u64,
    /// Still on their way when the log ends.
    pub open: u64,
    /// Not done, and their job was cancelled.
    #[serde(default)]
    pub cancelled: u64,
    /// Checked by themselves or with their job, and they hold.
    pub verified: u64,
}

impl Diagnosis {
    /// The exit code of `cuzk diagnose`: 1 an error was found, 4 the baseline is not comparable,
    /// 3 nothing failed visibly but no proof can be seen to end, 0 nothing wrong.
    pub fn exit_code(&self) -> u8 {
        let error = |finding: &Finding| finding.severity == Severity::Error;
        if self.findings.iter().any(error) {
            1
        } else if self.baseline.as_ref().is_some_and(|row| !row.comparable) {
            4
        } else if self.verdict >= Verdict::Silent {
            3
        } else {
            0
        }
    }

    /// The words that open a report: the verdict's, and first that the run is slower than the good
    /// one where nothing else is wrong.
    pub fn headline(&self) -> String {
        let slower = |finding: &Finding| {
            finding.code == Code::PerfPhaseRegression && finding.severity == Severity::Error
        };
        let words = self.verdict.headline();
        if self.verdict < Verdict::Silent && self.findings.iter().any(slower) {
            format!("SLOWER, {words}")
        } else {
            words.to_owned()
        }
    }

    /// The finding with this id.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id == id)
    }
}

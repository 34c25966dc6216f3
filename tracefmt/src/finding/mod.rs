//! What every tool of this project says when it has found something: one [`Finding`] type, its
//! codes and its parts. Four crates make findings, so the type lives in the leaf crate. Merging
//! findings of several sources into one diagnosis is not done here but in `analyze::diagnose`.

mod code;

pub use code::Code;

use serde::{Deserialize, Serialize};

/// How bad a finding is. Only [`Severity::Error`] makes a verb exit with 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing to do.
    Info,
    /// Something is likely wrong, but no failure can be seen.
    Warning,
    /// A failure can be seen in the input, or is certain from recorded events.
    Error,
}

/// How a statement was arrived at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Several readings of the input are possible; the candidates are named.
    Ambiguous,
    /// Follows from a rule or a rebuilt schedule, not from a recorded event alone.
    Inferred,
    /// Stands in the input, or follows from it without any choice.
    Certain,
}

/// The true reason of a failed allocation; each has another fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OomCause {
    /// The card is too small for the schedule even when everything is freed in time.
    Capacity,
    /// A buffer past its last use, or past the lock it was used under, was still held.
    LateFree,
    /// Freed memory whose free no synchronisation had observed yet.
    UnobservedFree,
    /// Idle pages kept by the allocation pool.
    PoolRetained,
    /// Memory that nobody will ever free.
    Leak,
    /// Several workers held their own share at once, each within its rights.
    ConcurrentPeak,
    /// None that the schedule shows: by the model there was room for the request.
    Unexplained,
}

/// One line of an input that supports a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The input as the user named it.
    pub path: String,
    /// 1-based line in the decompressed input.
    pub line: u64,
    /// The line's text, without its line end; invalid UTF-8 replaced.
    pub text: String,
}

/// A changed schedule that was run, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIf {
    /// The change in the syntax of `cuzk replay --what-if`.
    pub change: String,
    /// Whether no allocation of the changed schedule fails, and it is recorded to its end.
    pub passes: bool,
    /// Peak of physical bytes in use, the baseline included.
    pub peak_bytes: u64,
    /// Ops that succeed although only what came of their failure was recorded, or that were left
    /// out of the trial: with some, nothing fails as far as is known, and that is no pass.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded: u64,
}

impl WhatIf {
    /// What came of it, in words.
    pub const fn said(&self) -> &'static str {
        match (self.passes, self.unrecorded) {
            (true, _) => "passes",
            (false, 0) => "still fails",
            (false, _) => "no allocation fails as far as is known",
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A partition that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartitionRef {
    /// Job id as the client gave it.
    pub job: String,
    /// Partition index; none for a monolithic proof.
    pub partition: Option<u32>,
}

const fn one() -> u64 {
    1
}

/// One thing that was found, with its proof and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Unique within one output: `f0`, `f1`, ... in order of report.
    pub id: String,
    /// What kind of thing it is.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// One line.
    pub title: String,
    /// Plain words: what happened, and why that is known.
    pub explanation: String,
    /// Index of the daemon run inside the inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    /// Job id as the client gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Partition index; none for a monolithic proof or a finding about the whole job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<u32>,
    /// Worker index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<u32>,
    /// GPU ordinal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<u32>,
    /// How many occurrences this one finding stands for: partitions lost, lines torn, ...
    #[serde(default = "one")]
    pub count: u64,
    /// The partitions concerned when there are several, in order of the log. A maker of findings
    /// may stop listing after a few hundred; [`Finding::count`] is always complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<PartitionRef>,
    /// For a failed allocation: the true reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<OomCause>,
    /// The lines that prove it, most telling first.
    pub evidence: Vec<Evidence>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// A changed schedule that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
    /// The command that shows the same finding again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// The earliest error of its run that explains an observed failure.
    pub root: bool,
    /// Ids of the findings that this one follows from.
    pub caused_by: Vec<String>,
}

impl Finding {
    /// A finding with nothing but its kind and title; the id is given when findings are merged.
    #[must_use]
    pub fn new(code: Code, severity: Severity, confidence: Confidence, title: String) -> Self {
        Self {
            id: String::new(),
            code,
            severity,
            confidence,
            title,
            explanation: String::new(),
            run: None,
            job: None,
            partition: None,
            worker: None,
            gpu: None,
            count: 1,
            partitions: Vec::new(),
            cause: None,
            evidence: Vec::new(),
            fix: None,
            what_if: None,
            reproduce: None,
            root: false,
            caused_by: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severity_orders_from_info_to_error() {
        assert!(Severity::Info < Severity::Warning && Severity::Warning < Severity::Error);
        assert!(Confidence::Ambiguous < Confidence::Certain);
    }

    #[test]
    fn json_keeps_the_documented_field_names() {
        let mut finding = Finding::new(
            Code::VramLateFree,
            Severity::Error,
            Confidence::Inferred,
            "d_bc outlives its lock".to_owned(),
        );
        finding.cause = Some(OomCause::LateFree);
        let json = serde_json::to_value(&finding).unwrap();
        assert_eq!(json["code"], "vram.late_free");
        assert_eq!(json["severity"], "error");
        assert_eq!(json["confidence"], "inferred");
        assert_eq!(json["cause"], "late_free");
        assert!(json.get("job").is_none());
        let back: Finding = serde_json::from_value(json).unwrap();
        assert_eq!(back, finding);
    }
}

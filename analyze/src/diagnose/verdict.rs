//! The verdict of a run and its sentence. Silence is not success: "all ended and were verified",
//! "all ended, but nothing was verified" and "no error seen, but no proof either" are different
//! verdicts with different words.

use tracefmt::finding::Code;
use tracefmt::run::RunEnd;

use super::draft::Draft;
use super::model::{RunRow, Verdict};
use super::scene::{Scene, many};

/// The verdict of one run, from its settled drafts.
pub(crate) fn of_run(scene: &Scene<'_>, drafts: &[Draft]) -> Verdict {
    let jobs = scene.jobs;
    let failed = |draft: &Draft| {
        draft.is_error()
            && !matches!(
                draft.finding.code,
                // What went on without its fast path was not stopped by it.
                Code::RunTruncated
                    | Code::PerfPhaseRegression
                    | Code::HostStaleRegistration
                    | Code::HostDoubleRegister
            )
            && !draft.follows_truncation(drafts)
    };
    if drafts.iter().any(failed) || jobs.failed > 0 {
        return Verdict::Failed;
    }
    let truncated = |draft: &Draft| draft.finding.code == Code::RunTruncated && draft.is_error();
    if drafts.iter().any(truncated) {
        return Verdict::Truncated;
    }
    let ended = jobs.completed + jobs.cancelled;
    if jobs.completed == 0 || ended < jobs.total || scene.run.end == RunEnd::Open {
        return Verdict::Silent;
    }
    if jobs.verified == jobs.completed {
        Verdict::Verified
    } else {
        Verdict::CompleteUnverified
    }
}

impl Draft {
    /// Whether it was lost with the log's end, so that it adds no failure of its own.
    fn follows_truncation(&self, all: &[Self]) -> bool {
        self.role == super::draft::Role::LostAtEnd
            && all
                .iter()
                .any(|draft| draft.finding.code == Code::RunTruncated)
    }
}

/// The verdict in a sentence, for one run.
pub(crate) fn sentence(row: &RunRow, root: Option<&str>) -> String {
    let (jobs, parts) = (row.jobs, row.partitions);
    match row.verdict {
        Verdict::Failed => failed(row, root),
        Verdict::Truncated if jobs.open == 0 => format!(
            "the last line is cut ({}:{}); all {} seen before it had ended{}",
            row.path,
            row.last_line,
            parts_of_jobs(row),
            unverified(row),
        ),
        Verdict::Truncated => format!(
            "the log breaks off at {}:{} while {} of {} were open; {} had ended, {} had not",
            row.path,
            row.last_line,
            jobs.open,
            many(jobs.total, "job"),
            many(parts.completed, "partition"),
            parts.open,
        ),
        Verdict::Silent if jobs.total == 0 => {
            "no errors seen, but no job and no proof either".to_owned()
        }
        Verdict::Silent if jobs.completed == 0 => {
            "no errors seen, but the log ends before any proof".to_owned()
        }
        Verdict::Silent => format!(
            "no errors seen, but the log ends while {} of {} are open, without a sign of death",
            jobs.open,
            many(jobs.total, "job"),
        ),
        Verdict::CompleteUnverified => {
            format!(
                "{} all {} ended{}",
                errors(root),
                parts_of_jobs(row),
                unverified(row)
            )
        }
        Verdict::Verified => {
            format!(
                "{} all {} ended and were verified",
                errors(root),
                parts_of_jobs(row)
            )
        }
    }
}

/// A run can come to its end without what failed on the way.
fn errors(root: Option<&str>) -> String {
    root.map_or_else(
        || "no errors, and".to_owned(),
        |at| format!("an error at {at}, yet"),
    )
}

fn parts_of_jobs(row: &RunRow) -> String {
    format!(
        "{} of {}",
        many(row.partitions.total, "partition"),
        many(row.jobs.total, "job")
    )
}

fn unverified(row: &RunRow) -> String {
    match row.jobs.verified {
        0 => ", but no proof was verified".to_owned(),
        n if n == row.jobs.completed => " and were verified".to_owned(),
        n => format!(
            ", but only {n} of {} were verified",
            many(row.jobs.completed, "proof")
        ),
    }
}

fn failed(row: &RunRow, root: Option<&str>) -> String {
    let (jobs, parts) = (row.jobs, row.partitions);
    let what = if jobs.total == 0 {
        "something failed, and the log names no job".to_owned()
    } else if jobs.failed == 0 {
        format!(
            "{} of {} completed, with errors",
            jobs.completed,
            many(jobs.total, "job")
        )
    } else {
        format!(
            "{} of {} failed, {} of {} lost",
            jobs.failed,
            many(jobs.total, "job"),
            parts.failed,
            many(parts.total, "partition")
        )
    };
    match root {
        Some(at) => format!("{what}; first failure at {at}"),
        None => what,
    }
}

//! The verdict of a run and its sentence. Silence is not success: "all ended and were verified",
//! "all ended, but nothing was verified" and "no error seen, but no proof either" are different
//! verdicts with different words.

use tracefmt::finding::Code;
use tracefmt::run::{Run, RunEnd};

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
    let open = ended < jobs.total || scene.run.end == RunEnd::Open;
    if ended == 0 || open || scene.run.lacks_start {
        return Verdict::Silent;
    }
    if jobs.verified == jobs.completed && jobs.completed > 0 {
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
/// `run` is what was read of it, `cut` the title of its `run.truncated`.
pub(crate) fn sentence(
    row: &RunRow,
    run: Option<&Run>,
    root: Option<&str>,
    cut: Option<&str>,
) -> String {
    let jobs = row.jobs;
    match row.verdict {
        Verdict::Failed => failed(row, root),
        Verdict::Truncated => truncated(row, run, cut),
        Verdict::Silent if jobs.total == 0 => {
            "no errors seen, but no job and no proof either".to_owned()
        }
        Verdict::Silent if jobs.open == 0 => {
            "no errors seen, but the beginning of the log is missing".to_owned()
        }
        Verdict::Silent if jobs.completed == 0 => {
            "no errors seen, but the log ends before any proof".to_owned()
        }
        Verdict::Silent => format!(
            "no errors seen, but the log ends while {} of {} {} open, without a sign of death",
            jobs.open,
            many(jobs.total, "job"),
            if jobs.open == 1 { "is" } else { "are" },
        ),
        Verdict::CompleteUnverified if jobs.completed == 0 => format!(
            "{} {} cancelled before a proof was made",
            errors(root),
            if jobs.total == 1 {
                "the only job was".to_owned()
            } else {
                format!("all {} were", many(jobs.total, "job"))
            }
        ),
        Verdict::CompleteUnverified => {
            format!(
                "{} {} ended{}",
                errors(root),
                parts_of_jobs(row),
                unverified(row)
            )
        }
        Verdict::Verified => {
            format!(
                "{} {} ended and were verified{}",
                errors(root),
                parts_of_jobs(row),
                cancelled(row)
            )
        }
    }
}

/// A log that is cut or lacks lines; only one that is cut breaks off somewhere.
fn truncated(row: &RunRow, run: Option<&Run>, cut: Option<&str>) -> String {
    let (jobs, parts) = (row.jobs, row.partitions);
    let breaks_off = run.is_none_or(|run| {
        run.damage.is_none() && matches!(run.end, RunEnd::Cut | RunEnd::Restarted)
    });
    let at = format!("{}:{}", row.path, row.last_line);
    let all = many(jobs.total, "job");
    let ended = many(parts.completed, "partition");
    if jobs.open == 0 {
        let (how, seen) = (how_cut(cut), parts_of_jobs(row));
        return format!(
            "{how} ({at}); {seen} seen in it had ended{}",
            unverified(row)
        );
    }
    if breaks_off {
        return format!(
            "the log breaks off at {at} while {} of {all} {} open; {ended} had ended, {} had not",
            jobs.open,
            if jobs.open == 1 { "was" } else { "were" },
            parts.open,
        );
    }
    let have = if jobs.open == 1 { "has" } else { "have" };
    format!(
        "{} ({at}); {} of {all} {have} no end in it, {ended} had ended and {} had not",
        how_cut(cut),
        jobs.open,
        parts.open,
    )
}

/// The title of a `run.truncated` as the beginning of a sentence.
fn how_cut(title: Option<&str>) -> String {
    let title = title.unwrap_or("The log is cut");
    let clause = title.split(", after").next().unwrap_or(title);
    let clause = clause.split(" while ").next().unwrap_or(clause);
    match clause.strip_prefix("The ") {
        Some(rest) => format!("the {rest}"),
        None => clause.to_owned(),
    }
}

/// A run can come to its end without what failed on the way.
fn errors(root: Option<&str>) -> String {
    root.map_or_else(
        || "no errors, and".to_owned(),
        |at| format!("an error at {at}, yet"),
    )
}

/// "all 12 partitions of 3 jobs": those of cancelled jobs are not meant.
fn parts_of_jobs(row: &RunRow) -> String {
    let (jobs, parts) = (row.jobs, row.partitions);
    let meant = parts.total.saturating_sub(parts.cancelled);
    let all = if parts.completed < meant {
        format!("{} of {}", parts.completed, many(meant, "partition"))
    } else {
        format!("all {}", many(meant, "partition"))
    };
    let jobs = jobs.total.saturating_sub(jobs.cancelled);
    format!("{all} of {}", many(jobs, "job"))
}

/// What else became of jobs, behind a sentence on those that ended.
fn cancelled(row: &RunRow) -> String {
    match row.jobs.cancelled {
        0 => String::new(),
        1 => "; 1 job was cancelled".to_owned(),
        n => format!("; {n} jobs were cancelled"),
    }
}

fn unverified(row: &RunRow) -> String {
    let parts = row.partitions;
    let said = match row.jobs.verified {
        0 if parts.verified == 0 => ", but no proof was verified".to_owned(),
        0 => format!(
            ", but only {} of {} were verified",
            parts.verified,
            many(parts.total.saturating_sub(parts.cancelled), "partition")
        ),
        n if n == row.jobs.completed => " and were verified".to_owned(),
        n => format!(
            ", but only {n} of {} were verified",
            many(row.jobs.completed, "proof")
        ),
    };
    format!("{said}{}", cancelled(row))
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

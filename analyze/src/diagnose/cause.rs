//! First cause against consequences: which finding of a run is its root, and which follow from
//! which.
//!
//! The root is the earliest error that explains failures by itself ([`Role::Primary`]). Only when
//! there is none may something that is usually a consequence be it, since something did fail. A
//! warning is never root. A finding that replay made wins against ours of the same time or later:
//! it explains the line that ours only reads.
//!
//! Not judged here: whether two errors of one run are independent of each other. Only what must
//! follow is marked so: what was skipped, lost or thrown away, everything behind a sticky error,
//! allocation failures whose cause replay names, and what rests on lines that are missing.

use tracefmt::finding::{Code, Severity};

use super::doubt;
use super::draft::{Draft, Role};

/// Marks the root of one run's drafts and says which follow from which.
///
/// Returns for each draft the indices of the drafts it was caused by; the root is the one with
/// `finding.root` set, if any.
pub(crate) fn settle(drafts: &mut [Draft]) -> Vec<Vec<usize>> {
    leaks_that_starved_nobody(drafts);
    let root = find_root(drafts);
    if let Some(draft) = root.and_then(|root| drafts.get_mut(root)) {
        draft.finding.root = true;
    }
    let end = drafts.iter().position(|draft| {
        matches!(draft.finding.code, Code::RunTruncated)
            || (draft.finding.code == Code::RunAborted && draft.is_error())
            || draft.finding.code == Code::HostOomKilled
    });
    let slower = drafts.iter().position(|draft| {
        draft.finding.code == Code::PerfPhaseRegression && draft.role == Role::Primary
    });
    let follows = |at: usize, draft: &Draft| {
        let by = match draft.role {
            Role::LostAtEnd => end.or(root).into_iter().collect(),
            Role::Doubtful => doubt::source(drafts).into_iter().collect(),
            Role::Consequence if draft.finding.code == Code::PerfPhaseRegression => {
                slower.into_iter().collect()
            }
            Role::Consequence | Role::Follower => failures_behind(drafts, root, draft),
            Role::Primary => causes_of_primary(drafts, root, draft),
            Role::Beside => Vec::new(),
        };
        let other = |by: &usize| *by != at && root != Some(at);
        by.into_iter().filter(other).collect::<Vec<_>>()
    };
    drafts
        .iter()
        .enumerate()
        .map(|(at, draft)| follows(at, draft))
        .collect()
}

fn find_root(drafts: &[Draft]) -> Option<usize> {
    let tiers: [&dyn Fn(&Draft) -> bool; 2] = [&|draft| draft.role == Role::Primary, &|draft| {
        matches!(draft.role, Role::Follower | Role::LostAtEnd)
    }];
    tiers.into_iter().find_map(|tier| {
        let candidates = drafts.iter().enumerate();
        candidates
            .filter(|(_, draft)| draft.is_error() && tier(draft))
            .min_by_key(|(at, draft)| (draft.at, !is_replay(draft), *at))
            .map(|(at, _)| at)
    })
}

/// What was not freed when a call failed did no harm where no allocation failed: it came of the
/// failure in its partition.
fn leaks_that_starved_nobody(drafts: &mut [Draft]) {
    let starved =
        |draft: &Draft| matches!(draft.finding.code, Code::VramOom | Code::VramSwallowedOom);
    if drafts.iter().any(starved) {
        return;
    }
    let place = |draft: &Draft| (draft.finding.job.clone(), draft.finding.partition);
    let failures = drafts.iter().filter(|draft| {
        let code = draft.finding.code;
        let failure = matches!(
            code,
            Code::CudaError | Code::CudaStickyError | Code::RunPanic | Code::SchedFailed
        );
        failure && draft.is_error() && draft.role == Role::Primary
    });
    let places: Vec<_> = failures.map(place).collect();
    for draft in drafts {
        let leaks = matches!(
            draft.finding.code,
            Code::VramLeak | Code::VramLeakOnError | Code::VramLeakOnPanic
        );
        if leaks && draft.role == Role::Primary && places.contains(&place(draft)) {
            draft.role = Role::Follower;
        }
    }
}

/// The failures that a loss may come of: those of its own jobs. Where none is, the root, unless
/// it is a matter of other jobs alone.
fn failures_behind(drafts: &[Draft], root: Option<usize>, draft: &Draft) -> Vec<usize> {
    let first = root.and_then(|root| drafts.get(root));
    if jobs(draft).is_empty() {
        return root.into_iter().collect();
    }
    let own = drafts.iter().enumerate().filter(|(at, other)| {
        let alone = causes_of_primary(drafts, root, other).is_empty();
        other.role == Role::Primary
            && other.is_error()
            && (alone || Some(*at) == root)
            && same_job(other, draft)
    });
    let own: Vec<usize> = own.map(|(at, _)| at).collect();
    let of_one_job = |first: &Draft| {
        let code = first.finding.code;
        matches!(
            code,
            Code::ProofInvalid | Code::SchedFailed | Code::RunPanic
        ) && !jobs(first).is_empty()
    };
    if own.is_empty() && !first.is_some_and(of_one_job) {
        return root.into_iter().collect();
    }
    own
}

/// Why an error that could be a cause by itself is none.
fn causes_of_primary(drafts: &[Draft], root: Option<usize>, draft: &Draft) -> Vec<usize> {
    let code = draft.finding.code;
    let direct = drafts.iter().position(|other| match other.finding.code {
        // The call that the misuse was made in fails.
        Code::VramDoubleFree | Code::VramUseAfterFree | Code::VramEarlyReuse => {
            matches!(code, Code::CudaError | Code::CudaStickyError)
                && other.lines.contains(&draft.at)
        }
        Code::ProofInvalid => {
            code == Code::SchedFailed && other.at <= draft.at && within(draft, other)
        }
        _ => false,
    });
    let forced = || root.filter(|root| must_follow(drafts.get(*root), draft));
    direct.or_else(forced).into_iter().collect()
}

/// The jobs that a finding names.
fn jobs(draft: &Draft) -> Vec<&str> {
    let finding = &draft.finding;
    let listed = finding.partitions.iter().map(|one| one.job.as_str());
    finding.job.as_deref().into_iter().chain(listed).collect()
}

fn same_job(one: &Draft, other: &Draft) -> bool {
    let known = jobs(one);
    jobs(other).iter().any(|job| known.contains(job))
}

/// Whether all jobs of a finding are among those of another.
fn within(draft: &Draft, other: &Draft) -> bool {
    let (own, known) = (jobs(draft), jobs(other));
    !own.is_empty() && own.iter().all(|job| known.contains(job))
}

/// Whether a re-executed schedule is behind a finding.
fn is_replay(draft: &Draft) -> bool {
    draft.finding.cause.is_some()
        || draft.finding.what_if.is_some()
        || matches!(
            draft.finding.code,
            Code::VramLateFree
                | Code::VramLeak
                | Code::VramLeakOnError
                | Code::VramLeakOnPanic
                | Code::VramUnowned
                | Code::VramFreeNeverRetired
        )
}

/// Whether an error that could be a cause by itself must be a consequence of the root.
fn must_follow(root: Option<&Draft>, draft: &Draft) -> bool {
    let Some(root) = root.filter(|root| root.at <= draft.at) else {
        return false;
    };
    let code = draft.finding.code;
    let of_device = matches!(
        code,
        Code::VramOom | Code::CudaError | Code::CudaStickyError | Code::RunPanic | Code::RunAborted
    );
    match root.finding.code {
        Code::CudaStickyError => of_device,
        // Whoever panics behind an abort is another process that lost its peer.
        Code::RunAborted => code == Code::RunPanic,
        // Memory is shared by all; another call of another job fails for reasons of its own.
        _ if is_replay(root) => {
            let unknown = jobs(root).is_empty() || jobs(draft).is_empty();
            of_device
                && draft.finding.severity == Severity::Error
                && (code == Code::VramOom || unknown || same_job(root, draft))
        }
        _ => false,
    }
}

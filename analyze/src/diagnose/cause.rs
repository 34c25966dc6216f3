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
//! and allocation failures whose cause replay names.

use tracefmt::finding::{Code, Severity};

use super::draft::{Draft, Role};

/// Marks the root of one run's drafts and says which follow from which.
///
/// Returns for each draft the indices of the drafts it was caused by; the root is the one with
/// `finding.root` set, if any.
pub(crate) fn settle(drafts: &mut [Draft]) -> Vec<Vec<usize>> {
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
            Role::LostAtEnd => end.or(root),
            Role::Consequence if draft.finding.code == Code::PerfPhaseRegression => slower,
            Role::Consequence | Role::Follower => root,
            Role::Primary => root.filter(|root| must_follow(drafts.get(*root), draft)),
            Role::Beside => None,
        };
        by.filter(|by| *by != at && root != Some(at))
            .into_iter()
            .collect::<Vec<_>>()
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
        _ if is_replay(root) => of_device && draft.finding.severity == Severity::Error,
        _ => false,
    }
}

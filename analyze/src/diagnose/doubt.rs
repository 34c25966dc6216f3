//! What a log that is known to lack lines cannot prove: a buffer without a free line leaks, or its
//! line was lost. Findings that rest on kinds of lines of which some are missing (or there twice)
//! become ambiguous warnings that follow from the hole. What a line says by itself, a failed call
//! or a proof that does not hold, stays what it is.
//!
//! Only of traces of ours, which count their lines; old logs have no schedule of their own, and
//! what is rebuilt for them is inferred anyway.

use tracefmt::event::EventKind;
use tracefmt::finding::{Code, Confidence, Severity};
use tracefmt::input::{Damage, Fault};
use tracefmt::run::Run;

use super::draft::{Draft, Role};

/// What is said of a finding that rests on missing lines.
const WHY: &str = "The log lacks lines of the kinds that this rests on, so it may only look so.";

/// What to do about it first.
const FIX: &str = "Take the whole log; look at this again if it is still there.";

/// Takes certainty from what rests on lines that the run is known to lack.
pub(crate) fn cast(run: &Run, drafts: &mut [Draft]) {
    if source(drafts).is_none() || run.dialect.name != "own" {
        return;
    }
    let last = run.last;
    let is_corrupt = |damage: &Damage| damage.fault == Fault::Corrupt;
    let unnamed = run.damage.as_ref().is_some_and(is_corrupt)
        || run.lacks_start
        || run.unread.count > 0
        || run.torn.lost.iter().any(|line| *line != last);
    for draft in drafts {
        let kinds = rests_on(draft.finding.code);
        let counted = || {
            run.miscount
                .as_ref()
                .is_some_and(|count| count.touches(kinds))
        };
        if kinds.is_empty() || !(unnamed || counted()) {
            continue;
        }
        let finding = &mut draft.finding;
        if finding.code == Code::VramOom {
            // The failed call is there; only why it failed is doubtful.
            if finding.cause.is_some() {
                finding.confidence = finding.confidence.min(Confidence::Inferred);
            }
            continue;
        }
        finding.confidence = Confidence::Ambiguous;
        finding.severity = finding.severity.min(Severity::Warning);
        if !finding.explanation.is_empty() {
            finding.explanation.push(' ');
        }
        finding.explanation.push_str(WHY);
        finding.fix = Some(FIX.to_owned());
        finding.what_if = None;
        draft.role = Role::Doubtful;
    }
}

/// The finding that says that lines are missing.
pub(crate) fn source(drafts: &[Draft]) -> Option<usize> {
    let codes = [
        Code::RunTruncated,
        Code::RunUnreadEvents,
        Code::RunTornLines,
    ];
    codes
        .iter()
        .find_map(|code| drafts.iter().position(|draft| draft.finding.code == *code))
}

/// The kinds of lines without which a finding of this code may be wrong; none for what a line says
/// by itself.
const fn rests_on(code: Code) -> &'static [EventKind] {
    use EventKind as E;
    match code {
        Code::VramLeak | Code::VramLeakOnError | Code::VramLeakOnPanic => &[E::VramFree],
        Code::VramDoubleFree => &[E::VramAlloc, E::VramFree],
        Code::VramLateFree | Code::VramUnowned | Code::VramOom => &[
            E::VramAlloc,
            E::VramFree,
            E::Launch,
            E::LockWait,
            E::LockAcq,
            E::LockRel,
        ],
        Code::VramUseAfterFree | Code::VramEarlyReuse | Code::VramFreeNeverRetired => &[
            E::VramAlloc,
            E::VramFree,
            E::Launch,
            E::Sync,
            E::EventRecord,
            E::StreamWait,
        ],
        Code::VramSwallowedOom | Code::VramStaleError => {
            &[E::PlanFallback, E::PartitionFailed, E::Launch]
        }
        Code::HostDoubleRegister
        | Code::HostUnregisterUnknown
        | Code::HostStaleRegistration
        | Code::HostOverBudget => &[E::HostReg, E::HostUnreg],
        Code::LockTwoHolders | Code::LockOrder | Code::LockUnbalanced => {
            &[E::LockWait, E::LockAcq, E::LockRel]
        }
        Code::SchedNeverStarted | Code::SchedNeverEnded | Code::SchedNeverPicked => &[
            E::JobEnd,
            E::SynthStart,
            E::SynthEnd,
            E::GpuQueue,
            E::GpuPickup,
            E::GpuStart,
            E::GpuEnd,
            E::LockWait,
            E::LockAcq,
            E::LockRel,
        ],
        _ => &[],
    }
}

//! What replay finds in a log that lacks lines: what rests on them is no certain root.

use tracefmt::event::EventKind;
use tracefmt::finding::{Code, Confidence, Evidence, Finding, Severity};
use tracefmt::run::{LineRef, Miscount, RunEnd, Trace};

use super::super::model::Verdict;
use super::super::testing::{Daemon, no_analysis};
use super::super::{Diagnosis, NoLines, Question, Reading, diagnose};
use super::{only, root};

/// What replay says at the second line.
fn replayed(code: Code) -> Finding {
    let title = "as replay says it".to_owned();
    let mut finding = Finding::new(code, Severity::Error, Confidence::Certain, title);
    finding.run = Some(0);
    finding.root = true;
    finding.explanation = "By the schedule.".to_owned();
    finding.fix = Some("Mend it.".to_owned());
    finding.evidence = vec![Evidence {
        path: "run.log".to_owned(),
        line: 2,
        text: String::new(),
    }];
    finding
}

fn said(trace: &Trace, code: Code) -> Diagnosis {
    let analysis = no_analysis();
    diagnose(&Question {
        subject: Reading {
            trace,
            analysis: &analysis,
        },
        baseline: None,
        replay: vec![replayed(code)],
        lines: &NoLines,
    })
}

/// A sound run of ours, but for the kind of which one line is missing.
fn lacking(kind: Option<EventKind>) -> Daemon {
    let mut daemon = Daemon::new();
    daemon.run.dialect.name = "own";
    let job = daemon.job("a", 2);
    daemon.prove(job);
    daemon.verify(job, true);
    daemon.run.miscount = kind.map(|kind| Miscount {
        line: daemon.run.last,
        kinds: vec![(kind, 13, 12)],
    });
    daemon
}

#[test]
fn what_rests_on_a_missing_line_follows_from_the_hole() {
    let rows = [
        (EventKind::LockRel, Code::SchedNeverEnded),
        (EventKind::LockRel, Code::LockOrder),
        (EventKind::LockRel, Code::LockTwoHolders),
        (EventKind::VramFree, Code::VramLeak),
        (EventKind::VramFree, Code::VramLateFree),
        (EventKind::VramAlloc, Code::VramDoubleFree),
        (EventKind::Sync, Code::VramEarlyReuse),
        (EventKind::HostUnreg, Code::HostDoubleRegister),
    ];
    for (kind, code) in rows {
        let sound = said(&lacking(None).ends(RunEnd::Complete), code);
        assert_eq!(root(&sound), Some(code), "{code}");
        let hole = said(&lacking(Some(kind)).ends(RunEnd::Complete), code);
        assert_eq!(root(&hole), Some(Code::RunTruncated), "{code}");
        assert_eq!((hole.verdict, hole.exit_code()), (Verdict::Truncated, 1));
        let doubtful = only(&hole, code);
        let sure = (doubtful.severity, doubtful.confidence);
        assert_eq!(sure, (Severity::Warning, Confidence::Ambiguous), "{code}");
        assert_eq!(Some(&doubtful.caused_by[0]), hole.root.as_ref());
    }
}

#[test]
fn what_a_line_says_by_itself_stays() {
    let other = said(
        &lacking(Some(EventKind::ProofOk)).ends(RunEnd::Complete),
        Code::VramLeak,
    );
    assert_eq!(root(&other), Some(Code::VramLeak), "no line of it is lost");
    let kinds = [EventKind::VramFree, EventKind::LockRel, EventKind::Sync];
    for kind in kinds {
        let visible = said(
            &lacking(Some(kind)).ends(RunEnd::Complete),
            Code::CudaStickyError,
        );
        assert_eq!(root(&visible), Some(Code::CudaStickyError));
    }
}

#[test]
fn lines_that_are_missing_or_unread_cast_doubt_on_every_kind() {
    let mut headless = lacking(None);
    headless.run.lacks_start = true;
    let mut unread = lacking(None);
    unread.run.unread.count = 1;
    unread.run.unread.lines = vec![LineRef::new(0, 3)];
    let mut torn = lacking(None);
    torn.run.torn.lost = vec![LineRef::new(0, 3)];
    for daemon in [headless, unread, torn] {
        let said = said(&daemon.ends(RunEnd::Complete), Code::VramLeak);
        assert_eq!(root(&said), None);
        let doubtful = only(&said, Code::VramLeak);
        assert_eq!(doubtful.confidence, Confidence::Ambiguous);
        assert_eq!(doubtful.caused_by.len(), 1);
    }
}

//! Logs from damaged archives: the archive is named first, and the process is not blamed.

use tracefmt::finding::{Code, Severity};
use tracefmt::input::{Compression, Damage, Fault};
use tracefmt::run::{RunEnd, Trace};

use super::super::model::Verdict;
use super::super::testing::{Daemon, diagnosis};
use super::{of, only, root};

fn damaged(fault: Fault, open: bool) -> Trace {
    let mut daemon = Daemon::new();
    let done = daemon.job("a", 2);
    daemon.prove(done);
    daemon.verify(done, true);
    if open {
        let task = daemon.job("b", 2);
        daemon.start(daemon.task(task, 0), 0);
    }
    daemon.run.damage = Some(Damage {
        compression: Compression::Gzip,
        fault,
        at: 4711,
        reason: "corrupt deflate stream".to_owned(),
    });
    daemon.ends(if open { RunEnd::Cut } else { RunEnd::Complete })
}

#[test]
fn a_damaged_archive_is_named_and_no_process_blamed() {
    for fault in [Fault::Cut, Fault::Corrupt, Fault::Behind] {
        let said = diagnosis(&damaged(fault, true));
        assert_eq!(
            (root(&said), said.exit_code()),
            (Some(Code::RunTruncated), 1)
        );
        assert_eq!(said.verdict, Verdict::Truncated);
        let found = only(&said, Code::RunTruncated);
        assert!(
            found.title.starts_with("The archive of the log"),
            "{}",
            found.title
        );
        assert!(
            found.explanation.contains("byte 4711"),
            "{}",
            found.explanation
        );
        assert!(!found.explanation.contains("the process died,"));
        assert!(!found.fix.as_ref().unwrap().contains("dmesg"));
        assert!(
            said.summary.starts_with("the archive of the log"),
            "{}",
            said.summary
        );
    }
}

#[test]
fn a_whole_log_in_a_cut_archive_is_a_warning_and_in_a_corrupt_one_an_error() {
    for (fault, severity, verdict) in [
        (Fault::Cut, Severity::Warning, Verdict::Verified),
        (Fault::Behind, Severity::Warning, Verdict::Verified),
        (Fault::Corrupt, Severity::Error, Verdict::Truncated),
    ] {
        let said = diagnosis(&damaged(fault, false));
        assert_eq!(only(&said, Code::RunTruncated).severity, severity);
        assert_eq!(said.verdict, verdict);
        assert!(of(&said, Code::RunTornLines).is_empty());
    }
}

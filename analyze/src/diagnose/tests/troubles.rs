//! What single kinds of trouble give: memory, CUDA, host ranges, panics, deaths, bad proofs.

use std::fmt::Write as _;

use tracefmt::event::{Alloc, What};
use tracefmt::finding::{Code, Confidence, Finding, Severity};
use tracefmt::run::{
    Bench, BenchProof, Copies, JobOutcome, LineRef, Outcome, RunEnd, TroubleClass as Class,
};

use super::super::model::{Diagnosis, Verdict};
use super::super::testing::{Daemon, diagnosis, trace};
use super::{of, only, root};

const OOM: &str = "cudaMalloc(..)@gpu_t.cuh:331 failed: \"out of memory\"";

/// One job ends well, the next has one partition in hand.
fn working() -> (Daemon, u32) {
    let mut daemon = Daemon::new();
    let first = daemon.job("a", 2);
    daemon.prove(first);
    let second = daemon.job("b", 4);
    let task = daemon.task(second, 0);
    daemon.start(task, 0);
    (daemon, task)
}

#[test]
fn one_defect_that_hits_every_job_is_one_finding() {
    let mut daemon = Daemon::new();
    let mut fallbacks = Vec::new();
    for name in ["a", "b", "c"] {
        let job = daemon.job(name, 4);
        let task = daemon.task(job, 0);
        daemon.start(task, 0);
        fallbacks.push(daemon.trouble(Class::Fallback, Some(2), "prestage err=2", None));
        daemon.die(task, Some(2), OOM);
    }
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(root(&said), Some(Code::VramOom));
    let oom = only(&said, Code::VramOom);
    assert_eq!((oom.count, oom.cause), (3, None));
    assert_eq!(oom.evidence[0].line, u64::from(fallbacks[0].line));
    assert!(
        oom.evidence[1].text.contains("out of memory"),
        "{:?}",
        oom.evidence
    );
    assert_eq!((oom.job.as_deref(), oom.partition), (Some("a"), Some(0)));
    assert!(
        oom.explanation
            .contains("No partition had ended before it.")
    );
    let cascade = only(&said, Code::RunCascade);
    assert_eq!((cascade.count, cascade.severity), (9, Severity::Info));
    assert_eq!(only(&said, Code::SchedNeverStarted).count, 9);
    assert_eq!(only(&said, Code::SchedNeverEnded).count, 3);
    for finding in &said.findings {
        let follows = finding.caused_by == std::slice::from_ref(&oom.id);
        assert_eq!(
            follows,
            !finding.root && finding.code != Code::RunNoVerification
        );
    }
    assert!(of(&said, Code::SchedFailed).is_empty() && of(&said, Code::RunPanic).is_empty());
    assert_eq!(said.verdict, Verdict::Failed);
    assert!(
        said.summary
            .contains("3 of 3 jobs failed, 12 of 12 partitions lost; first failure")
    );
}

#[test]
fn a_panic_is_about_the_message_below_its_header() {
    let (mut daemon, task) = working();
    daemon.trouble(Class::Panic, None, "src/lib.rs:151:9", None);
    daemon.trouble(Class::Cuda, Some(2), OOM, None);
    daemon.trouble(Class::Failure, None, "proving task panicked", Some(task));
    daemon.trouble(Class::Panic, None, "src/other.rs:7:1", None);
    let said = diagnosis(&daemon.ends(RunEnd::Open));
    assert_eq!(root(&said), Some(Code::VramOom));
    assert_eq!(only(&said, Code::VramOom).count, 1);
    assert_eq!(
        only(&said, Code::RunPanic).evidence[0].text,
        "src/other.rs:7:1"
    );
    assert!(of(&said, Code::SchedFailed).is_empty());
}

#[test]
fn an_abort_beside_a_warning_is_a_cause_of_its_own() {
    let mut daemon = Daemon::new();
    daemon.job("a", 1);
    daemon.trouble(Class::Warning, Some(9), "invalid configuration", None);
    let said = diagnosis(&daemon.ends(RunEnd::Aborted));
    assert_eq!(root(&said), Some(Code::RunAborted));
}

#[test]
fn a_fallback_that_everything_completes_after_is_a_warning() {
    let (mut daemon, task) = working();
    daemon.trouble(
        Class::Fallback,
        Some(2),
        "prestage_setup=fallback err=2",
        Some(task),
    );
    let second = daemon.run.tasks[task as usize].job;
    daemon.prove(second);
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!((root(&said), said.exit_code()), (None, 0));
    assert_eq!(only(&said, Code::VramOom).severity, Severity::Warning);
}

#[test]
fn a_sticky_error_owns_everything_behind_it() {
    let (mut daemon, task) = working();
    daemon.die(task, Some(700), "an illegal memory access was encountered");
    let third = daemon.job("c", 1);
    let task = daemon.task(third, 0);
    daemon.start(task, 0);
    daemon.die(task, Some(1), "invalid argument");
    daemon.trouble(Class::Abort, None, "terminate called", None);
    let said = diagnosis(&daemon.ends(RunEnd::Aborted));
    assert_eq!(root(&said), Some(Code::CudaStickyError));
    let sticky = only(&said, Code::CudaStickyError);
    assert!(sticky.title.contains("cudaErrorIllegalAddress"));
    assert!(sticky.explanation.contains("where it was noticed"));
    assert_eq!(
        only(&said, Code::CudaError).caused_by,
        std::slice::from_ref(&sticky.id)
    );
    assert_eq!(
        only(&said, Code::RunAborted).caused_by,
        std::slice::from_ref(&sticky.id)
    );
}

#[test]
fn terminate_stands_above_the_error_that_it_comes_of() {
    let mut daemon = Daemon::new();
    daemon.trouble(Class::Abort, None, "terminate called after throwing", None);
    daemon.trouble(
        Class::Cuda,
        Some(700),
        "what(): illegal memory access",
        None,
    );
    let said = diagnosis(&daemon.ends(RunEnd::Aborted));
    assert_eq!(root(&said), Some(Code::CudaStickyError));
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Failed, 1));
}

#[test]
fn an_abort_without_a_cause_is_one_itself() {
    let mut daemon = Daemon::new();
    daemon.trouble(
        Class::Abort,
        None,
        "fatal runtime error: foreign exception",
        None,
    );
    daemon.trouble(
        Class::Panic,
        None,
        "called unwrap() on IncompleteMessage",
        None,
    );
    let said = diagnosis(&daemon.ends(RunEnd::Aborted));
    assert_eq!(root(&said), Some(Code::RunAborted));
    let panic = only(&said, Code::RunPanic);
    assert_eq!(
        panic.caused_by,
        std::slice::from_ref(&only(&said, Code::RunAborted).id)
    );
}

#[test]
fn host_memory_is_not_device_memory() {
    let mut daemon = Daemon::new();
    let text = "Out of memory: Killed process 5 (x) anon-rss:138974336kB";
    daemon.trouble(Class::Abort, None, text, None);
    let said = diagnosis(&daemon.ends(RunEnd::Aborted));
    assert_eq!(root(&said), Some(Code::HostOomKilled));
    assert!(
        only(&said, Code::HostOomKilled)
            .explanation
            .contains("132.5 GiB")
    );
    assert!(of(&said, Code::VramOom).is_empty());
}

#[test]
fn a_stale_registration_needs_a_path_that_leaves_one() {
    for (skip, code) in [
        (true, Code::HostStaleRegistration),
        (false, Code::HostDoubleRegister),
    ] {
        let mut daemon = Daemon::new();
        let job = daemon.job("a", 2);
        let skipped = skip.then(|| daemon.trouble(Class::SkipVram, None, "skip_vram", None));
        let text = "host_register=fallback err=712";
        let first = daemon.trouble(Class::Fallback, Some(712), text, None);
        daemon.prove(job);
        daemon.trouble(Class::Fallback, Some(712), text, None);
        let mut trace = daemon.ends(RunEnd::Complete);
        // One that nothing is known to have started after.
        trace.runs[0].calls.clear();
        let said = diagnosis(&trace);
        assert_eq!((root(&said), said.exit_code()), (None, 0));
        let finding = only(&said, code);
        assert_eq!((finding.severity, finding.count), (Severity::Warning, 2));
        assert_eq!(finding.confidence, Confidence::Inferred);
        assert_eq!(finding.evidence[0].line, u64::from(first.line));
        let second = finding.evidence[1].line;
        assert_eq!(
            skipped.is_some_and(|line| u64::from(line.line) == second),
            skip
        );
    }
}

/// A run of one worker whose calls pin their memory, or fail to, as `pinned` says.
fn pinning(pinned: &[bool]) -> Diagnosis {
    let mut log = "TIMELINE,1,SYNTH_START,j,partition=0\n".to_owned();
    for (number, pinned) in pinned.iter().enumerate() {
        let at = format!("worker=0,partition={number}");
        let how = if *pinned {
            "prestage_setup=skip_vram"
        } else {
            "host_register=fallback err=712"
        };
        let ms = 2000 * (number + 1);
        write!(
            log,
            "TIMELINE,{ms},GPU_PICKUP,j,{at}\n\
             TIMELINE,{ms},GPU_START,j,{at}\n\
             CUZK_TIMING: split_vectors_ms=90 setup_to_split_ms=90\n\
             CUZK_TIMING: {how}\n\
             CUZK_TIMING: prep_msm_ms=1900\n\
             CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=700\n\
             CUZK_TIMING: gpu_tid=0 batch_add_ms=650\n\
             CUZK_TIMING: gpu_tid=0 tail_msm_ms=80 gpu_total_ms=1430\n\
             CUZK_TIMING: b_g2_msm_ms=400 num_circuits=1\n\
             CUZK_TIMING: epilogue_ms=1 pre_destructor_ms=1500\n\
             TIMELINE,{},GPU_END,j,{at},gpu_ms=1500\n",
            ms + 1500
        )
        .unwrap();
    }
    let source = tracefmt::Source::Bytes("run.log".to_owned(), log.into_bytes());
    diagnosis(&tracefmt::read(&[source]).unwrap().0)
}

#[test]
fn a_run_that_gets_over_a_failed_pinning_has_a_warning_and_one_that_does_not_an_error() {
    let (well, fails) = (true, false);
    for (calls, severity) in [
        (&[well, fails, fails, fails][..], Severity::Error),
        (&[well, fails, fails, well], Severity::Warning),
        (&[well, fails, well, fails], Severity::Warning),
        (&[well, well, fails], Severity::Warning),
        (&[fails, fails], Severity::Error),
    ] {
        let said = pinning(calls);
        let found: Vec<&Finding> = said
            .findings
            .iter()
            .filter(|finding| finding.code.as_str().starts_with("host."))
            .collect();
        assert_eq!(found.len(), 1, "{calls:?}");
        assert_eq!(found[0].severity, severity, "{calls:?}");
        assert_eq!(found[0].root, severity == Severity::Error, "{calls:?}");
        assert!(said.verdict < Verdict::Failed, "{calls:?}");
    }
}

#[test]
fn a_registration_error_behind_a_panic_follows_from_it() {
    let (mut daemon, task) = working();
    daemon.die(task, Some(2), OOM);
    daemon.trouble(
        Class::Fallback,
        Some(712),
        "host_register=fallback err=712",
        None,
    );
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(root(&said), Some(Code::VramOom));
    let stale = only(&said, Code::HostStaleRegistration);
    assert_eq!(stale.severity, Severity::Error);
    assert_eq!(stale.caused_by, ["f0"]);
}

#[test]
fn an_unknown_unregister_alone_is_an_error() {
    let mut daemon = Daemon::new();
    daemon.trouble(
        Class::Cuda,
        Some(713),
        "cudaHostUnregister returned: 713",
        None,
    );
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(root(&said), Some(Code::HostUnregisterUnknown));
}

#[test]
fn panics_group_by_their_words() {
    let (mut daemon, task) = working();
    daemon.trouble(
        Class::Panic,
        None,
        "Cannot block the current thread",
        Some(task),
    );
    daemon.trouble(Class::Panic, None, "index 7 of partition 3", None);
    daemon.trouble(Class::Panic, None, "index 8 of partition 2", None);
    daemon.trouble(Class::Panic, None, "called unwrap() on PoisonError", None);
    let said = diagnosis(&daemon.ends(RunEnd::Open));
    assert_eq!(root(&said), Some(Code::RunPanic));
    let panics = of(&said, Code::RunPanic);
    assert_eq!(panics.iter().map(|finding| finding.count).sum::<u64>(), 4);
    assert_eq!(panics.len(), 3);
    assert!(panics[0].root && panics[0].explanation.contains("Cannot block"));
    let poison = panics
        .iter()
        .find(|finding| finding.explanation.contains("Poison"));
    assert_eq!(poison.unwrap().caused_by, ["f0"]);
}

#[test]
fn a_failure_with_its_own_reason_is_told_with_it() {
    let (mut daemon, task) = working();
    let line = daemon.trouble(
        Class::Failure,
        None,
        "partition 0 synthesis failed: x",
        Some(task),
    );
    daemon.run.tasks[task as usize].failure = Some(line);
    let job = daemon.run.tasks[task as usize].job;
    daemon.close(job, JobOutcome::Failed);
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(root(&said), Some(Code::SchedFailed));
    let failed = only(&said, Code::SchedFailed);
    assert!(failed.explanation.contains("synthesis failed: x"));
    assert_eq!(
        (failed.job.as_deref(), failed.partition),
        (Some("b"), Some(0))
    );
}

#[test]
fn a_job_that_failed_beside_an_explained_one_is_told_too() {
    let (mut daemon, task) = working();
    daemon.die(task, Some(2), OOM);
    let other = daemon.job("c", 1);
    daemon.close(other, JobOutcome::Failed);
    daemon.run.jobs[other as usize].error = Some("bad request".to_owned());
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(root(&said), Some(Code::VramOom));
    let failed = only(&said, Code::SchedFailed);
    assert_eq!(failed.job.as_deref(), Some("c"));
    assert!(failed.explanation.contains("bad request") && failed.caused_by.is_empty());
}

fn alloc(rc: i32) -> What<'static> {
    What::VramAlloc(Alloc {
        id: 17,
        buf: "d_bc".into(),
        bytes: 8 << 30,
        api: "cudaMalloc".into(),
        stream: None,
        rc,
    })
}

#[test]
fn a_failed_device_call_of_our_own_trace_is_the_root() {
    let (mut daemon, task) = working();
    daemon.device(task, alloc(0));
    let line = daemon.device(task, alloc(2));
    let lost = daemon.now();
    let failed = &mut daemon.run.tasks[task as usize];
    failed.outcome = Outcome::Failed;
    failed.failure = Some(lost.line);
    let job = failed.job;
    daemon.run.jobs[job as usize].error = Some("out of memory".to_owned());
    daemon.close(job, JobOutcome::Failed);
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(root(&said), Some(Code::VramOom));
    let oom = only(&said, Code::VramOom);
    assert_eq!(oom.evidence[0].line, u64::from(line.line));
    assert_eq!(
        (oom.count, oom.partition, oom.worker),
        (1, Some(0), Some(0))
    );
    assert!(of(&said, Code::SchedFailed).is_empty());
}

#[test]
fn a_failed_device_call_that_its_partition_survives_is_a_warning() {
    let (mut daemon, task) = working();
    daemon.device(task, alloc(2));
    daemon.device(
        task,
        What::HostReg {
            addr: 4096,
            bytes: 1 << 20,
            rc: 712,
        },
    );
    let job = daemon.run.tasks[task as usize].job;
    daemon.prove(job);
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!((root(&said), said.exit_code()), (None, 0));
    assert_eq!(only(&said, Code::VramOom).severity, Severity::Warning);
    assert_eq!(
        only(&said, Code::HostDoubleRegister).severity,
        Severity::Warning
    );
}

#[test]
fn a_synchronisation_can_report_a_sticky_error() {
    let (mut daemon, task) = working();
    let sync = What::Sync {
        scope: "stream".into(),
        stream: None,
        event: None,
        rc: 700,
    };
    daemon.device(task, sync);
    let said = diagnosis(&daemon.ends(RunEnd::Open));
    assert_eq!(root(&said), Some(Code::CudaStickyError));
}

#[test]
fn an_invalid_proof_is_an_error_although_all_ended() {
    let mut daemon = Daemon::new();
    for name in ["a", "b"] {
        let job = daemon.job(name, 2);
        daemon.prove(job);
        daemon.verify(job, name == "a");
    }
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(root(&said), Some(Code::ProofInvalid));
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Failed, 1));
    let finding = only(&said, Code::ProofInvalid);
    assert_eq!((finding.count, finding.job.as_deref()), (1, Some("b")));
    assert!(of(&said, Code::RunNoVerification).is_empty());
}

#[test]
fn a_whole_proof_that_fails_with_its_partitions_is_not_counted_beside_them() {
    let mut daemon = Daemon::new();
    for name in ["a", "b"] {
        let job = daemon.job(name, 4);
        daemon.prove(job);
    }
    for task in 0..8 {
        let line = daemon.now().line;
        let bad = task >= 4;
        daemon.run.tasks[task as usize].verified = Some(!bad);
        if bad {
            daemon.run.bad_proofs.push((task, line));
        }
    }
    let first = daemon.run.bad_proofs[0].1;
    daemon.verify(0, true);
    daemon.verify(1, false);
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    let finding = only(&said, Code::ProofInvalid);
    assert_eq!(finding.title, "The proofs of 4 partitions do not hold");
    assert_eq!((finding.count, finding.partitions.len()), (4, 4));
    assert!(
        finding
            .explanation
            .contains("4 partitions of the same run hold")
    );
    assert_eq!(finding.evidence[0].line, u64::from(first.line));
}

#[test]
fn a_panic_over_opencl_memory_is_no_step_done_on_the_cpu() {
    let said = |kind| {
        let mut daemon = Daemon::new();
        daemon.trouble(kind, Some(-4), "CL_MEM_OBJECT_ALLOCATION_FAILURE", None);
        let said = diagnosis(&daemon.ends(RunEnd::Complete));
        only(&said, Code::VramOom).explanation.clone()
    };
    assert!(said(Class::Warning).contains("on the CPU"));
    let panic = said(Class::Panic);
    assert!(
        panic.contains("nothing caught it") && !panic.contains("on the CPU"),
        "{panic}"
    );
}

#[test]
fn twice_the_same_partition_is_found() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 3);
    daemon.prove(job);
    daemon.run.tasks[1].repeats = 1;
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(root(&said), Some(Code::SchedDuplicate));
    assert_eq!(only(&said, Code::SchedDuplicate).partition, Some(1));
}

#[test]
fn lines_that_are_there_twice_are_no_retries() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 3);
    daemon.prove(job);
    daemon.verify(job, true);
    for all in [false, true] {
        daemon.run.copies = Copies { events: 18, all };
        let trace = trace(vec![daemon.run.clone()]);
        let said = diagnosis(&trace);
        assert_eq!((said.verdict, said.exit_code()), (Verdict::Verified, 0));
        let finding = only(&said, Code::RunDoubledLines);
        assert_eq!((finding.count, finding.severity), (18, Severity::Warning));
        assert_eq!(finding.title.contains("are there twice"), all);
        assert!(of(&said, Code::SchedDuplicate).is_empty());
    }
}

#[test]
fn torn_and_error_lines_are_counted_without_alarm() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 3);
    daemon.prove(job);
    daemon.verify(job, true);
    daemon.trouble(Class::Error, None, "cannot write metrics", None);
    daemon.run.torn.repaired = vec![LineRef::new(0, 2); 30];
    daemon.run.torn.lost = vec![LineRef::new(0, 5)];
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    let torn = only(&said, Code::RunTornLines);
    assert_eq!((torn.count, torn.severity), (31, Severity::Info));
    assert_eq!(torn.title, "31 torn lines: 30 repaired, 1 lost");
    assert_eq!(only(&said, Code::RunErrorLine).severity, Severity::Warning);
    assert_eq!((said.verdict, said.exit_code()), (Verdict::Verified, 0));
}

fn client(rows: &[(&str, u64)]) -> Bench {
    let proof = |(at, (status, prove_ms)): (usize, &(&str, u64))| BenchProof {
        index: at as u64 + 1,
        status: (*status).to_owned(),
        wall_s: 1.0,
        prove_ms: *prove_ms,
        line: LineRef::new(0, 100 + u32::try_from(at).unwrap()),
    };
    Bench {
        line: LineRef::new(0, 99),
        proofs: rows.iter().enumerate().map(proof).collect(),
        ..Bench::default()
    }
}

#[test]
fn the_client_alone_tells_of_failures_but_not_of_an_idle_gpu() {
    let mut daemon = Daemon::new();
    daemon.run.bench = Some(client(&[("COMPLETED", 500), ("FAILED", 0)]));
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(root(&said), Some(Code::SchedFailed));
    let failed = only(&said, Code::SchedFailed);
    assert_eq!((failed.count, failed.evidence[0].line), (1, 101));
    assert!(
        failed
            .explanation
            .contains("means only that they did not complete")
    );
}

#[test]
fn client_and_daemon_are_compared() {
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 2);
    daemon.prove(job);
    daemon.run.bench = Some(client(&[("COMPLETED", 500), ("COMPLETED", 500)]));
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    let finding = only(&said, Code::RunBenchMismatch);
    assert_eq!(finding.severity, Severity::Warning);
    let mut daemon = Daemon::new();
    let job = daemon.job("a", 2);
    daemon.prove(job);
    daemon.run.bench = Some(client(&[("COMPLETED", 500)]));
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert!(of(&said, Code::RunBenchMismatch).is_empty());
}

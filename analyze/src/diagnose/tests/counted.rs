//! Traces that hold what their `TRACE_END` counts: what is missing in them, the engine lost.

use tracefmt::finding::Code;
use tracefmt::run::{Outcome, RunEnd, Source};

use super::super::testing::{Daemon, diagnosis};
use super::{of, only, root};

/// A job of two partitions by our own writer, without the lines that begin so; its end counts the
/// rest.
fn without(gone: &[&str]) -> super::Diagnosis {
    let mut lines = vec![
        "TRACE_START,,t_us=0,version=1,run=r,epoch_unix_us=1,build=b,device=d,vram_total=9,\
         vram_free=9"
            .to_owned(),
        "JOB_SUBMIT,j,t_us=1,kind=mimc,partitions=2".to_owned(),
    ];
    for partition in 0..2 {
        let stages = [
            ("SYNTH_START", ""),
            ("SYNTH_END", ",synth_ms=1"),
            ("GPU_QUEUE", ""),
            ("GPU_PICKUP", ",gpu=0,worker=0"),
            ("GPU_START", ",gpu=0,worker=0"),
            ("GPU_END", ",gpu=0,worker=0,gpu_ms=1"),
            ("PROOF_OK", ""),
        ];
        for (at, (event, more)) in (2..).zip(stages) {
            let us = partition * 100 + at;
            lines.push(format!("{event},j,partition={partition},t_us={us}{more}"));
        }
    }
    lines.push("JOB_END,j,t_us=900,status=ok".to_owned());
    lines.retain(|line| !gone.iter().any(|gone| line.starts_with(gone)));
    let names = lines.iter().filter_map(|line| line.split(',').next());
    let mut counts: Vec<(&str, u32)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let counts = counts
        .iter()
        .map(|(name, count)| format!(",{name}={count}"));
    let counts: String = counts.collect();
    lines.push(format!("TRACE_END,,t_us=999{counts}"));
    let text = lines.iter().map(|line| format!("TIMELINE,0,{line}\n"));
    let text: String = text.collect();
    let source = Source::Bytes("a.log".to_owned(), text.into_bytes());
    diagnosis(&tracefmt::run::read(&[source]).unwrap().0)
}

#[test]
fn a_partition_without_its_end_is_named_and_so_is_its_proof() {
    let said = without(&["GPU_END,j,partition=1"]);
    assert_eq!(
        (root(&said), said.exit_code()),
        (Some(Code::SchedNeverEnded), 1)
    );
    let found = only(&said, Code::SchedNeverEnded);
    assert_eq!((found.partition, found.worker), (Some(1), Some(0)));
    assert!(found.title.contains("Partition 1"), "{}", found.title);
    assert!(
        found.explanation.contains("PROOF_OK"),
        "{}",
        found.explanation
    );
    assert!(of(&said, Code::SchedNeverStarted).is_empty());
    let unchecked = without(&["GPU_END,j,partition=1", "PROOF_OK,j,partition=1"]);
    let found = only(&unchecked, Code::SchedNeverEnded);
    assert!(
        found.explanation.contains("No check"),
        "{}",
        found.explanation
    );
}

#[test]
fn where_it_stopped_says_the_code() {
    for (kept, code) in [
        (5, Code::SchedNeverEnded),
        (4, Code::SchedNeverStarted),
        (3, Code::SchedNeverPicked),
        (1, Code::SchedNeverEnded),
        (0, Code::SchedNeverStarted),
    ] {
        let stages = [
            "SYNTH_START",
            "SYNTH_END",
            "GPU_QUEUE",
            "GPU_PICKUP",
            "GPU_START",
            "GPU_END",
            "PROOF_OK",
        ];
        let gone = stages.iter().skip(kept);
        let gone: Vec<String> = gone.map(|event| format!("{event},j,partition=1")).collect();
        let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
        let said = without(&gone);
        assert_eq!(root(&said), Some(code), "{kept}: {}", said.summary);
        only(&said, code);
    }
    assert_eq!(root(&without(&[])), None);
}

#[test]
fn partitions_that_stopped_and_those_never_heard_of_are_two_findings() {
    let mut daemon = Daemon::new();
    daemon.run.dialect.name = "own";
    let job = daemon.job("a", 2);
    daemon.prove(job);
    daemon.run.jobs[0].partitions = Some(4);
    daemon.run.tasks[0].outcome = Outcome::Proving;
    daemon.run.tasks[0].gpu_end = None;
    let said = diagnosis(&daemon.ends(RunEnd::Complete));
    assert_eq!(said.exit_code(), 1);
    only(&said, Code::SchedNeverEnded);
    only(&said, Code::SchedNeverStarted);
    assert!(of(&said, Code::RunTruncated).is_empty());
}

//! Critical path of our own traces, whose times are taken at their word.

#![expect(
    clippy::unwrap_used,
    reason = "a log that cannot be read fails the test"
)]

use std::fmt::Write as _;

use analyze::model::{Analysis, PathStep};
use analyze::{Options, analyze};
use proptest::prelude::*;
use tracefmt::Source;
use tracefmt::run::read;

/// A job of some partitions, one behind the other on one GPU: start of synthesis, its length, that
/// of the GPU work. All on one worker, microseconds.
#[derive(Default)]
struct Log(Vec<(i64, String)>);

impl Log {
    fn put(&mut self, us: i64, event: &str, job: &str, rest: &str) {
        let ms = us / 1000;
        let line = format!("TIMELINE,{ms},{event},{job},{rest}t_us={us}");
        self.0.push((us, line));
    }

    /// A partition; the worker is free from `free` on. When its call ends.
    fn part(
        &mut self,
        (job, partition): (&str, u32),
        (start, synth, gpu): (i64, i64, i64),
        free: i64,
    ) -> i64 {
        let own = format!("partition={partition},");
        let on = format!("gpu=0,worker=0,{own}");
        let lock = |us| format!("t_us={us},lock=gpu0");
        let made = start + synth;
        self.put(start, "SYNTH_START", job, &own);
        self.put(
            made,
            "SYNTH_END",
            job,
            &format!("{own}synth_ms={},", synth / 1000),
        );
        self.put(made + 1, "GPU_QUEUE", job, &own);
        let picked = (made + 2).max(free + 1);
        self.put(picked, "GPU_PICKUP", job, &on);
        self.put(picked, "GPU_START", job, &on);
        for (us, event) in [
            (picked + 10, "LOCK_WAIT"),
            (picked + 20, "LOCK_ACQ"),
            (picked + 20 + gpu, "LOCK_REL"),
        ] {
            let line = format!("TIMELINE,{},{event},{job},{on}{}", us / 1000, lock(us));
            self.0.push((us, line));
        }
        let phase = picked + 19 + gpu;
        let us = gpu - 2;
        let line = format!(
            "CUZK_TIMING: phase=msm ms={} us={us} job={job} gpu=0 worker=0 partition={partition} t_us={phase}",
            us / 1000
        );
        self.0.push((phase, line));
        let end = picked + 21 + gpu;
        self.put(end, "GPU_END", job, &format!("{on}gpu_ms={},", gpu / 1000));
        end
    }

    fn analysis(mut self) -> Analysis {
        self.0.sort_by_key(|(us, _)| *us);
        let mut text = "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r1,epoch_unix_us=1795987032936956,build=0.1.0,device=cpu,vram_total=17179869184,vram_free=17179869184,cfg.workers=1\n".to_owned();
        for (_, line) in self.0 {
            writeln!(text, "{line}").unwrap();
        }
        let (trace, _) = read(&[Source::Bytes("own.log".to_owned(), text.into_bytes())]).unwrap();
        analyze(&trace, &Options::default())
    }
}

fn kinds(steps: &[PathStep]) -> Vec<&str> {
    steps.iter().map(|step| step.kind.as_str()).collect()
}

/// Steps follow each other without a hole, from a submission to `end_ms`.
fn is_whole(steps: &[PathStep], end_ms: f64) -> bool {
    // Milliseconds of whole microseconds.
    let same = |a: f64, b: f64| (a - b).abs() < 1e-6;
    let joined = steps
        .windows(2)
        .all(|pair| same(pair[0].end_ms, pair[1].start_ms));
    let ends = steps.last().is_some_and(|step| same(step.end_ms, end_ms));
    joined && ends && steps.first().is_some_and(|step| step.kind == "submit")
}

#[test]
fn a_short_synthesis_is_not_its_own_predecessor() {
    for synth in [0, 1, 300, 999, 1000, 1001] {
        let mut log = Log::default();
        log.put(10, "JOB_SUBMIT", "j", "kind=mimc,partitions=1,");
        let end = log.part(("j", 0), (1000, synth, 100), 0);
        let path = log.analysis().critical_path;
        let mut wanted = vec![
            "submit",
            "synthesis",
            "queue",
            "pre_lock_cpu",
            "mutex_wait",
            "gpu",
            "finish",
        ];
        wanted.retain(|kind| synth > 0 || *kind != "synthesis");
        assert_eq!(kinds(&path), wanted, "{synth} us");
        assert!(is_whole(&path, end as f64 / 1000.0), "{path:?}");
    }
}

#[test]
fn two_short_syntheses_do_not_lead_back_and_forth() {
    let mut log = Log::default();
    log.put(10, "JOB_SUBMIT", "j", "kind=mimc,partitions=2,");
    let end = log.part(("j", 0), (1000, 400, 100), 0);
    let end = log.part(("j", 1), (1100, 400, 100), end);
    let path = log.analysis().critical_path;
    let count = path.iter().filter(|step| step.kind == "synthesis").count();
    assert_eq!((count, path[0].kind.as_str()), (1, "submit"), "{path:?}");
    assert!(is_whole(&path, end as f64 / 1000.0), "{path:?}");
}

#[test]
fn a_gpu_that_was_free_was_not_handed_over() {
    let mut log = Log::default();
    log.put(10, "JOB_SUBMIT", "j", "kind=mimc,partitions=20,");
    let mut end = 900;
    for partition in 0..20 {
        end = log.part(("j", partition), (end + 100, 4_700, 100), end);
    }
    let path = log.analysis().critical_path;
    assert!(is_whole(&path, end as f64 / 1000.0), "{path:?}");
    let ms = |kind: &str| -> f64 {
        let own = path.iter().filter(|step| step.kind == kind);
        own.map(|step| step.end_ms - step.start_ms).sum()
    };
    assert!((ms("synthesis") - 94.0).abs() < 0.01, "{path:?}");
    assert!((ms("gpu") - 2.0).abs() < 0.01, "{path:?}");
}

#[test]
fn span_and_path_end_with_the_last_job() {
    let mut log = Log::default();
    log.put(10, "JOB_SUBMIT", "j", "kind=mimc,partitions=1,");
    log.part(("j", 0), (1000, 1_000_000, 1_000_000), 0);
    log.put(12_000_000, "PROOF_OK", "j", "partition=all,");
    log.put(13_000_002, "JOB_END", "j", "status=ok,");
    let found = log.analysis();
    let gpu = &found.gpus[0];
    assert!((gpu.span_start_ms + gpu.span_ms - 13_000.002).abs() < 1e-6);
    assert!(
        (gpu.idle_by_cause_ms.drain - 10_998.98).abs() < 0.1,
        "{:?}",
        gpu.idle_by_cause_ms
    );
    let path = found.critical_path;
    assert_eq!(path.last().unwrap().kind, "finish");
    assert!(is_whole(&path, 13_000.002), "{path:?}");
}

#[test]
fn a_proof_that_is_checked_last_is_the_end() {
    let mut log = Log::default();
    log.put(10, "JOB_SUBMIT", "j", "kind=mimc,partitions=1,");
    log.part(("j", 0), (1000, 10_000, 10_000), 0);
    log.put(500_000, "PROOF_OK", "j", "partition=0,");
    assert!(is_whole(&log.analysis().critical_path, 500.0));
}

proptest! {
    /// Whatever the lengths, each step comes once, strictly backwards, without a hole.
    #[test]
    fn a_path_is_whole(
        parts in prop::collection::vec((0_i64..3_000, 0_i64..3_000, 3_i64..3_000), 1..40),
    ) {
        let mut log = Log::default();
        log.put(10, "JOB_SUBMIT", "j", "kind=mimc,partitions=40,");
        let mut free = 0;
        let mut start = 1000;
        for (at, (apart, synth, gpu)) in (0..).zip(parts) {
            start += apart;
            free = log.part(("j", at), (start, synth, gpu), free);
        }
        let path = log.analysis().critical_path;
        prop_assert!(is_whole(&path, free as f64 / 1000.0), "{:?}", path);
        for step in &path {
            prop_assert!(step.start_ms < step.end_ms && step.slack_ms >= 0.0);
        }
    }
}

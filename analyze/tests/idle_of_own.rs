//! Idle time of our own traces: when no job is open, and when a line is lost.

#![expect(
    clippy::unwrap_used,
    reason = "a log that cannot be read fails the test"
)]

use analyze::model::Analysis;
use analyze::{Options, analyze};
use tracefmt::Source;
use tracefmt::finding::{Code, Confidence};
use tracefmt::run::{Trace, read};

const START: &str = "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r1,epoch_unix_us=1795987032936956,\
build=0.1.0,device=cpu,vram_total=17179869184,vram_free=17179869184,cfg.workers=2\n";

/// A job of one partition that is submitted at a time, in milliseconds.
fn job(id: &str, at: i64) -> String {
    let on = format!("{id},gpu=0,worker=0,partition=0,");
    let events = [
        (0, "JOB_SUBMIT", format!("{id},kind=mimc,partitions=1,"), ""),
        (1, "SYNTH_START", format!("{id},partition=0,"), ""),
        (
            1000,
            "SYNTH_END",
            format!("{id},partition=0,"),
            ",synth_ms=999",
        ),
        (1001, "GPU_QUEUE", format!("{id},partition=0,"), ""),
        (1002, "GPU_PICKUP", on.clone(), ""),
        (1003, "GPU_START", on.clone(), ""),
        (1004, "LOCK_WAIT", on.clone(), ",lock=gpu0"),
        (1005, "LOCK_ACQ", on.clone(), ",lock=gpu0"),
        (2005, "LOCK_REL", on.clone(), ",lock=gpu0"),
        (2006, "GPU_END", on, ",gpu_ms=1003"),
        (2007, "PROOF_OK", format!("{id},partition=0,"), ""),
        (2010, "JOB_END", format!("{id},"), ",status=ok"),
    ];
    let lines = events.map(|(ms, event, head, rest)| {
        let ms = at + ms;
        let line = format!("TIMELINE,{ms},{event},{head}t_us={}{rest}\n", ms * 1000);
        if event != "LOCK_REL" {
            return line;
        }
        let phase = format!("job={id} gpu=0 worker=0 partition=0 t_us={}", ms * 1000 - 1);
        format!("CUZK_TIMING: phase=msm ms=999 us=999000 {phase}\n{line}")
    });
    lines.concat()
}

fn trace(log: String) -> Trace {
    read(&[Source::Bytes("own.log".to_owned(), log.into_bytes())])
        .unwrap()
        .0
}

fn analysis(log: String) -> Analysis {
    analyze(&trace(log), &Options::default())
}

#[test]
fn a_machine_without_a_job_is_told_so() {
    let found = analysis(format!("{START}{}{}", job("a", 0), job("b", 60_000)));
    let gpu = &found.gpus[0];
    assert!((gpu.idle_no_job_ms - 57_990.0).abs() < 0.1, "{gpu:?}");
    assert!(gpu.idle_by_cause_ms.unattributed >= gpu.idle_no_job_ms);
    let idle = found.findings.iter().find(|f| f.code == Code::PerfIdle);
    let idle = idle.unwrap();
    assert!(idle.title.ends_with("no job was open"), "{}", idle.title);
    assert!(idle.explanation.contains("since no job was open"));
    let fix = idle.fix.as_deref().unwrap();
    assert!(fix.contains("Submit the next job"), "{fix}");
    assert!(!fix.contains("set-up"), "{fix}");
}

#[test]
fn a_tenure_whose_start_is_lost_is_held_and_nothing_is_certain() {
    let whole = format!(
        "{START}{}{}{}",
        job("a", 0),
        job("b", 2_100),
        job("c", 4_300)
    );
    let lost = |line: &&str| !line.contains("GPU_START,b");
    let cut: Vec<&str> = whole.split_inclusive('\n').filter(lost).collect();
    let (whole, cut) = (analysis(whole.clone()), analysis(cut.concat()));
    let (before, after) = (&whole.gpus[0], &cut.gpus[0]);
    assert_eq!(
        (before.holds_without_call, after.holds_without_call),
        (0, 1)
    );
    assert!((before.busy_hold_ms - after.busy_hold_ms).abs() < 0.1);
    let certain = |gap: &analyze::model::IdleGap| gap.confidence == Confidence::Certain;
    assert!(before.idle.iter().all(certain) && !after.idle.iter().any(certain));
    let idle = cut.findings.iter().find(|f| f.code == Code::PerfIdle);
    let idle = idle.unwrap();
    assert_eq!(idle.confidence, Confidence::Inferred);
    assert!(
        idle.explanation
            .contains("1 recorded tenure of the lock has no GPU_START")
    );
}

#[test]
fn a_time_that_no_clock_gives_is_named_with_its_line() {
    let good = format!("{START}{}", job("a", 0));
    for (old, new) in [
        (
            "GPU_END,a,gpu=0,worker=0,partition=0,t_us=2006000",
            "GPU_END,a,gpu=0,worker=0,partition=0,t_us=9223372036854775807",
        ),
        ("us=999000", "us=9223372036854775807"),
    ] {
        let bad = trace(good.replace(old, new));
        let unbelieved = &bad.runs[0].unbelieved;
        let lines: Vec<u32> = unbelieved.lines.iter().map(|at| at.line).collect();
        let mut numbered = (1..).zip(good.lines());
        let (line, _) = numbered.find(|(_, line)| line.contains(old)).unwrap();
        assert_eq!((unbelieved.count, lines), (1, vec![line]));
    }
    assert_eq!(trace(good).runs[0].unbelieved.count, 0);
}

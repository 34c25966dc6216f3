//! What small logs hold, one thing each.

use super::*;
use crate::scan::scan_slice;

fn stat(log: &str) -> Stat {
    let mut sink = StatSink::new();
    let scan = scan_slice(log.as_bytes(), &mut sink);
    sink.finish(scan)
}

#[test]
fn counts_by_name_and_finds_the_epoch() {
    let stat = stat(
        "TIMELINE,245689,GPU_PICKUP,j,worker=0,partition=3\n\
         \u{1b}[2m2026-02-19T04:24:22.996374Z\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m \
         \u{1b}[2mcuzk_core::engine\u{1b}[0m\u{1b}[2m:\u{1b}[0m hello\n\
         CUZK_TIMING: gpu_tid=0 batch_add_ms=656\n\
         TIMELINE,245700,GPU_NAP,j,worker=0\n",
    );
    assert_eq!(stat.events["GPU_PICKUP"], 1);
    assert_eq!(stat.events["GPU_NAP"], 1);
    assert_eq!(stat.timings["batch_add"], 1);
    let [run] = stat.runs.as_slice() else {
        panic!("one run")
    };
    assert!(run.complete);
    // 2026-02-19T04:20:17.307Z, within the millisecond that the offset truncates.
    let epoch = run.epoch_unix_us.unwrap();
    assert!((epoch - 1_771_474_817_307_000).abs() < 1000, "{epoch}");
}

#[test]
fn a_restart_begins_a_run_and_an_open_call_leaves_the_first_incomplete() {
    let stat = stat(
        "2026-02-19T04:20:17.000000Z  INFO cuzk_daemon: cuzk-daemon starting listen=x\n\
         TIMELINE,50000,GPU_START,j,worker=0,partition=3\n\
         2026-02-19T04:30:17.000000Z  INFO cuzk_daemon: cuzk-daemon starting listen=x\n\
         TIMELINE,20000,SYNTH_START,k,partition=0\n",
    );
    let lines: Vec<_> = stat
        .runs
        .iter()
        .map(|r| (r.first_line, r.last_line, r.complete))
        .collect();
    assert_eq!(lines, [(1, 2, false), (3, 4, true)]);
}

#[test]
fn events_that_cannot_be_read_are_counted_and_located() {
    let stat = stat(
        "TIMELINE,1,SYNTH_START,j,partition=0\n\
         TIMELINE,2,VRAM_ALLOC,j,gpu=0,t_us=2000,id=7,bytes=5\n\
         TIMELINE,3,GPU_END,j,worker=0\n",
    );
    assert_eq!(stat.bad_events.lines(), [2, 3]);
    assert_eq!(stat.bad_events.count(), 2);
    assert_eq!(stat.events.values().sum::<u64>(), 1);
}

#[test]
fn a_trace_of_ours_is_complete_if_it_holds_what_its_end_counts() {
    let head = "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=1,build=b,device=d,\
                epoch_unix_us=1,vram_total=1,vram_free=1\n";
    let job = "TIMELINE,0,JOB_SUBMIT,j,t_us=1,kind=mimc,partitions=1\n";
    let end = "TIMELINE,1,TRACE_END,,t_us=2,TRACE_START=1,JOB_SUBMIT=1\n";
    let complete = |lines: &[&str]| stat(&lines.concat()).runs[0].complete;
    assert!(complete(&[head, job, end]));
    assert!(!complete(&[job, end]) && !complete(&[head, end]) && !complete(&[head, job]));
}

#[test]
fn an_empty_or_foreign_log_is_one_run_of_unknown_dialect() {
    let stat = stat("nothing of ours\n");
    assert_eq!(stat.runs.len(), 1);
    assert_eq!(stat.dialect().unwrap().name, "unknown");
}

//! Traces of ours, whole, cut and with a clock that steps, as samples.

use tracefmt::run::{Source, read};

use super::*;
use crate::samples::read_jsonl;

/// A trace of ours with two partitions, the second of which is bent by the caller.
fn own(second_phase: &str, last: &str) -> Trace {
    let text = format!(
        "\
TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r-7,epoch_unix_us=1771475062996374,build=1f2e3d,\
device=cpu,vram_total=0,vram_free=0,cfg.workers=1,cfg.circuit=synthetic-2^4
TIMELINE,1,JOB_SUBMIT,j,t_us=1000,kind=synthetic,partitions=2
TIMELINE,1,SYNTH_START,j,partition=0,t_us=1010
TIMELINE,1,SYNTH_END,j,partition=0,t_us=1886,synth_ms=0
TIMELINE,1,SYNTH_START,j,partition=1,t_us=1400
TIMELINE,1,SYNTH_END,j,partition=1,t_us=1900,synth_ms=0
TIMELINE,2,GPU_START,j,gpu=0,worker=0,partition=0,t_us=2000
TIMELINE,2,VRAM_ALLOC,j,gpu=0,worker=0,partition=0,t_us=2100,id=1,buf=d_a,bytes=4096,api=x,rc=0
TIMELINE,2,VRAM_ALLOC,j,gpu=0,worker=0,partition=0,t_us=2100,id=2,buf=d_b,bytes=9999,api=x,rc=2
TIMELINE,3,VRAM_FREE,j,gpu=0,worker=0,partition=0,t_us=3100,id=1,buf=d_a,bytes=4096,api=x,rc=0
TIMELINE,3,VRAM_ALLOC,j,gpu=0,worker=0,partition=0,t_us=3200,id=3,buf=d_a,bytes=512,api=x,rc=0
TIMELINE,3,LAUNCH,j,worker=0,partition=0,t_us=3300,op=kernel,phase=x,stream=1,reads=,writes=3,rc=0
TIMELINE,3,LAUNCH,j,worker=0,partition=0,t_us=3400,op=d2h,phase=x,stream=1,reads=3,writes=,rc=0
CUZK_TIMING: phase=merkle ms=1 us=1500 job=j gpu=0 worker=0 partition=0 t_us=4000
TIMELINE,5,GPU_END,j,gpu=0,worker=0,partition=0,t_us=5000,gpu_ms=3
TIMELINE,6,GPU_START,j,gpu=0,worker=0,partition=1,t_us=6000
CUZK_TIMING: {second_phase} job=j gpu=0 worker=0 partition=1 t_us=7000
TIMELINE,8,GPU_END,j,gpu=0,worker=0,partition=1,t_us=8000,gpu_ms=2
TIMELINE,9,PROOF_OK,j,partition=all,t_us=9000
TIMELINE,9,JOB_END,j,t_us=9500,status=completed
{last}"
    );
    let source = Source::Bytes("run.log".to_owned(), text.into_bytes());
    read(&[source]).expect("memory is read to its end").0
}

const END: &str = "TIMELINE,10,TRACE_END,,t_us=10000,TRACE_START=1\n";

fn phase(name: &str, us: u64) -> String {
    format!("phase={name} ms={} us={us}", us / 1000)
}

#[test]
fn a_trace_of_ours_becomes_samples() {
    let set = of_trace(&own(&phase("merkle", 1750), END));
    let run = &set.runs[0];
    assert!(run.complete);
    assert_eq!(run.commit.as_deref(), Some("1f2e3d"));
    let times = &run.phases["merkle"];
    assert_eq!(
        (times.ms.as_slice(), times.partitions),
        (&[1.5, 1.75][..], 2)
    );
    assert_eq!(times.verified, [true, true]);
    assert_eq!(run.phases["gpu_ms"].ms, [3.0, 2.0]);
    assert_eq!(set.anomaly_count, 0, "{:?}", set.anomalies);
    assert_eq!(
        run.exact["worker_peak_bytes"], 4096,
        "the failed one is not held"
    );
    assert_eq!(
        (
            run.exact["partition_allocs"],
            run.exact["partition_kernels"]
        ),
        (2, 1)
    );
    assert_eq!(run.phases["synth"].ms, [0.876, 0.5], "below a millisecond");
    let key = &set.key;
    assert_eq!(key.circuit.as_deref(), Some("synthetic-2^4"));
    assert_eq!(
        (key.partitions, key.workers, key.vram_bytes),
        (Some(2), Some(1), None)
    );
}

#[test]
fn a_clock_that_steps_back_within_a_stage_is_counted_too() {
    let mut trace = own(&phase("merkle", 1750), END);
    let end = trace.runs[0].tasks[0]
        .synth_end
        .as_mut()
        .expect("synthesized");
    end.us = 910;
    let set = of_trace(&trace);
    assert_eq!(set.runs[0].phases["synth"].ms, [0.5]);
    assert_eq!((set.anomaly_count, set.anomalies[0].line), (1, 4));
    assert!(
        set.anomalies[0].what.contains("synth took -0.1 ms"),
        "{:?}",
        set.anomalies
    );
}

#[test]
fn injected_faults_are_read_from_the_header() {
    let mut trace = own(&phase("merkle", 1750), END);
    let more = &mut trace.runs[0].config.more;
    more.push((
        "inject".to_owned(),
        "slow:merkle:1.1 leak-on-error".to_owned(),
    ));
    let set = of_trace(&trace);
    assert_eq!(
        set.runs[0].injected.as_deref(),
        Some("slow:merkle:1.1 leak-on-error")
    );
}

#[test]
fn the_text_form_says_the_same() {
    let trace = own(&phase("merkle", 1750), END);
    let mut bytes = Vec::new();
    write_trace(&trace, &mut bytes).unwrap();
    assert_eq!(read_jsonl(bytes.as_slice()).unwrap(), of_trace(&trace));
}

#[test]
fn a_clock_set_back_is_counted_with_its_line() {
    let set = of_trace(&own("gpu_tid=0 ntt_msm_h_ms=-3", END));
    assert_eq!(set.anomaly_count, 1, "{:?}", set.anomalies);
    assert_eq!(set.anomalies[0].line, 17);
    assert!(
        set.anomalies[0].what.contains("-3 ms"),
        "{:?}",
        set.anomalies
    );
}

#[test]
fn a_cut_trace_is_no_complete_run() {
    assert!(!of_trace(&own(&phase("merkle", 1750), "")).runs[0].complete);
}

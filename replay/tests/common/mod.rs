//! The engine's own plan for tests and benches, rebuilt from a log made up for the purpose.

#![expect(clippy::expect_used, reason = "a test may stop where it stands")]

use std::fmt::Write as _;

use replay::lifecycle::{Given, rebuild};
use tracefmt::ops::Schedule;
use tracefmt::run::{Source, read};

/// A log in which each worker proves its partitions, one call after the other.
pub(crate) fn log(workers: u32, partitions: u32) -> String {
    let mut log = String::new();
    let mut ms = 0;
    for number in 0..workers * partitions {
        let at = format!("worker={},partition={number}", number % workers);
        ms += 2000;
        write!(
            log,
            "TIMELINE,{ms},SYNTH_START,j,partition={number}\n\
             TIMELINE,{ms},SYNTH_END,j,partition={number},synth_ms=1\n\
             TIMELINE,{ms},GPU_PICKUP,j,{at}\n\
             TIMELINE,{ms},GPU_START,j,{at}\n\
             CUZK_TIMING: split_vectors_ms=90 setup_to_split_ms=90\n\
             CUZK_TIMING: prestage_setup=ok domain=134217728 lot_of_memory=1\n\
             CUZK_TIMING: prep_msm_ms=1900\n\
             CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=700\n\
             CUZK_TIMING: gpu_tid=0 batch_add_ms=650\n\
             CUZK_TIMING: gpu_tid=0 tail_msm_ms=80 gpu_total_ms=1430\n\
             CUZK_TIMING: b_g2_msm_ms=400 num_circuits=1\n\
             CUZK_TIMING: epilogue_ms=1 pre_destructor_ms=1500\n\
             TIMELINE,{},GPU_END,j,{at},gpu_ms=1500\n",
            ms + 1500
        )
        .expect("memory");
    }
    log
}

/// The plan of a lifecycle profile on a card of this size.
pub(crate) fn plan(profile: &str, workers: u32, partitions: u32, vram_gib: u64) -> Schedule {
    let text = log(workers, partitions).into_bytes();
    let source = Source::Bytes("run.log".to_owned(), text);
    let run = read(&[source]).expect("reads").0.runs.remove(0);
    let given = Given {
        vram: Some(vram_gib << 30),
        version: Some(profile.to_owned()),
        ..Given::default()
    };
    let plan = rebuild(&run, &given).expect("a known version").schedule;
    let of_workers = |step: &tracefmt::ops::Step| step.worker;
    assert_eq!(
        plan.steps.iter().filter_map(of_workers).max(),
        Some(workers - 1)
    );
    plan
}

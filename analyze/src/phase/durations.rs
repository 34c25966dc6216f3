//! The durations that a run prints, phase by phase, with the worker and GPU they belong to.

use std::collections::BTreeMap;

use tracefmt::run::{MarkKind, Run};
use tracefmt::timing::TimingWhat;

use crate::interval::gpu_of;

/// One printed duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Milliseconds.
    pub ms: f32,
    /// GPU, where the line has an owner.
    pub gpu: Option<u16>,
    /// Worker, where the line has an owner.
    pub worker: Option<u16>,
}

/// All durations of one or more runs by phase, each list in recorded order.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    known: Vec<(&'static str, Vec<Sample>)>,
    own: BTreeMap<String, Vec<Sample>>,
}

/// Where a duration was measured.
type Place = (Option<u16>, Option<u16>);

impl Durations {
    /// Adds all durations of a run.
    pub fn add_run(&mut self, run: &Run) {
        let places: Vec<Place> = run
            .calls
            .iter()
            .map(|call| {
                let gpu = u16::try_from(gpu_of(run, call)).ok();
                (
                    gpu,
                    call.worker.and_then(|worker| u16::try_from(worker).ok()),
                )
            })
            .collect();
        for task in &run.tasks {
            if let Some(ms) = task.synth_ms {
                self.push("synth", ms as f64, (None, None));
            }
            if let Some(ms) = task.gpu_ms {
                let gpu = task.gpu.and_then(|gpu| u16::try_from(gpu).ok());
                let worker = task.worker.and_then(|worker| u16::try_from(worker).ok());
                self.push("gpu_ms", ms as f64, (gpu, worker));
            }
        }
        for mark in &run.marks {
            let place = mark.call().and_then(|call| places.get(call as usize));
            let place = place.copied().unwrap_or_default();
            if mark.kind() == MarkKind::Phase {
                let name = run.marks.name(mark);
                self.push_own(name, mark.us() as f64 / 1000.0, place);
            } else {
                each_of(&run.marks.what(mark), |name, ms| self.push(name, ms, place));
            }
        }
        self.add_residuals(run, &places);
    }

    /// Phase names and their samples, sorted by name.
    pub fn into_sorted(self) -> BTreeMap<String, Vec<Sample>> {
        let mut all = self.own;
        for (name, samples) in self.known {
            all.entry(name.to_owned()).or_default().extend(samples);
        }
        all
    }

    /// The wait at the barrier where no line prints it: what the parts leave of the total.
    fn add_residuals(&mut self, run: &Run, places: &[Place]) {
        for (call, place) in places.iter().enumerate() {
            if let Some(ms) = residual_ms(run, call) {
                self.push("barrier_wait", ms, *place);
            }
        }
    }

    fn push(&mut self, name: &'static str, ms: f64, (gpu, worker): Place) {
        let sample = Sample {
            ms: single(ms),
            gpu,
            worker,
        };
        match self.known.iter_mut().find(|(known, _)| *known == name) {
            Some((_, samples)) => samples.push(sample),
            None => self.known.push((name, vec![sample])),
        }
    }

    fn push_own(&mut self, name: &str, ms: f64, (gpu, worker): Place) {
        let sample = Sample {
            ms: single(ms),
            gpu,
            worker,
        };
        match self.own.get_mut(name) {
            Some(samples) => samples.push(sample),
            None => {
                self.own.insert(name.to_owned(), vec![sample]);
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "single precision holds the milliseconds that a line prints"
)]
const fn single(ms: f64) -> f32 {
    ms as f32
}

/// The barrier wait of a call as a residual; none if a line prints it or a part is missing.
pub fn residual_ms(run: &Run, call: usize) -> Option<f64> {
    let (mut parts, mut found, mut total) = (0, 0, None);
    for mark in run.marks_of(call) {
        match run.marks.what(mark) {
            TimingWhat::BarrierWait { .. } => return None,
            TimingWhat::NttMsmH { ms, gpu_tid: 0 } | TimingWhat::BatchAdd { ms, gpu_tid: 0 } => {
                parts += ms;
                found += 1;
            }
            TimingWhat::TailMsm {
                ms,
                gpu_total_ms,
                gpu_tid: 0,
            } => {
                parts += ms;
                found += 1;
                total = Some(gpu_total_ms);
            }
            _ => {}
        }
    }
    let rest = total? - parts;
    (found == 3).then_some(rest.max(0) as f64)
}

/// Calls `each` with every duration of a line; negative ones, from a stepped clock, are left out.
pub fn each_of(what: &TimingWhat<'_>, mut each: impl FnMut(&'static str, f64)) {
    let mut put = |name, ms: i64| {
        if ms >= 0 {
            each(name, ms as f64);
        }
    };
    match what {
        TimingWhat::SplitVectors { split_ms, setup_ms } => {
            put("split_vectors", *split_ms);
            put("setup_to_split", *setup_ms);
        }
        TimingWhat::PreLock {
            pre_lock_cpu_ms,
            mutex_wait_ms,
        } => {
            put("pre_lock_cpu", *pre_lock_cpu_ms);
            put("mutex_wait", *mutex_wait_ms);
        }
        TimingWhat::PrestageOk {
            parts_ms: Some([sync, trim, alloc, upload, total]),
            ..
        } => {
            put("prestage_sync", *sync);
            put("prestage_trim", *trim);
            put("prestage_alloc", *alloc);
            put("prestage_upload", *upload);
            put("prestage", *total);
        }
        TimingWhat::NttMsmH { ms, .. } => put("ntt_msm_h", *ms),
        TimingWhat::BarrierWait { ms, .. } => put("barrier_wait", *ms),
        TimingWhat::BatchAdd { ms, .. } => put("batch_add", *ms),
        TimingWhat::TailMsm {
            ms, gpu_total_ms, ..
        } => {
            put("tail_msm", *ms);
            put("gpu_total", *gpu_total_ms);
        }
        TimingWhat::MutexHeld {
            held_ms,
            total_start_fn_ms,
        } => {
            put("mutex_held", *held_ms);
            put("total_start_fn", *total_start_fn_ms);
        }
        TimingWhat::PrepMsm { ms } => put("prep_msm", *ms),
        TimingWhat::BG2Msm { ms, .. } => put("b_g2_msm", *ms),
        TimingWhat::Epilogue {
            epilogue_ms,
            pre_destructor_ms,
        } => {
            put("epilogue", *epilogue_ms);
            put("pre_destructor", *pre_destructor_ms);
        }
        TimingWhat::AsyncDealloc { ms } => put("async_dealloc", *ms),
        TimingWhat::NttH { .. } => each_ntt_part(what, put),
        _ => {}
    }
}

fn each_ntt_part(what: &TimingWhat<'_>, mut put: impl FnMut(&'static str, i64)) {
    if let TimingWhat::NttH {
        d_b_alloc_ms,
        ntt_kernels_ms,
        coset_intt_sync_ms,
        msm_init_ms,
        msm_invoke_ms,
        msm_dtor_ms,
        total_ms,
    } = what
    {
        put("d_b_alloc", *d_b_alloc_ms);
        put("ntt_kernels", *ntt_kernels_ms);
        put("coset_intt_sync", *coset_intt_sync_ms);
        put("msm_init", *msm_init_ms);
        put("msm_invoke", *msm_invoke_ms);
        put("msm_dtor", *msm_dtor_ms);
        put("ntt_h_total", *total_ms);
    }
}

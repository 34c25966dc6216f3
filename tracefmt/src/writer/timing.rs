//! One timing line.

use super::buffer::{escaped, number, raw, signed};
use crate::timing::{Tag, Timing, TimingWhat as W};

/// Appends a timing line, without a line end: the shape that the old engine printed, and behind
/// it the tag, if there is one.
pub fn write_timing(line: &mut Vec<u8>, timing: &Timing<'_>) {
    let prefix: &[u8] = match timing.what {
        W::NttH { .. } => b"CUZK_NTT_H: ",
        _ => b"CUZK_TIMING: ",
    };
    line.extend_from_slice(prefix);
    shape(line, &timing.what);
    if let Some(tag) = &timing.tag {
        write_tag(line, tag);
    }
}

fn write_tag(line: &mut Vec<u8>, tag: &Tag<'_>) {
    line.extend_from_slice(b" job=");
    escaped(line, &tag.job);
    let place = [
        (" gpu=", tag.place.gpu),
        (" worker=", tag.place.worker),
        (" partition=", tag.place.partition),
    ];
    for (key, value) in place {
        if let Some(value) = value {
            line.extend_from_slice(key.as_bytes());
            number(line, u64::from(value));
        }
    }
    line.extend_from_slice(b" t_us=");
    number(line, tag.t_us);
}

/// `key=value` with blanks between.
fn pairs(line: &mut Vec<u8>, unit: &str, pairs: &[(&str, i64)]) {
    for (index, (key, value)) in pairs.iter().enumerate() {
        if index > 0 {
            line.push(b' ');
        }
        line.extend_from_slice(key.as_bytes());
        line.push(b'=');
        signed(line, *value);
        line.extend_from_slice(unit.as_bytes());
    }
}

fn shape(line: &mut Vec<u8>, what: &W<'_>) {
    match *what {
        W::SplitVectors { split_ms, setup_ms } => {
            let keys = [
                ("split_vectors_ms", split_ms),
                ("setup_to_split_ms", setup_ms),
            ];
            pairs(line, "", &keys);
        }
        W::PreLock {
            pre_lock_cpu_ms,
            mutex_wait_ms,
        } => {
            let keys = [
                ("pre_lock_cpu_ms", pre_lock_cpu_ms),
                ("mutex_wait_ms", mutex_wait_ms),
            ];
            pairs(line, "", &keys);
        }
        W::MutexHeld {
            held_ms,
            total_start_fn_ms,
        } => {
            let keys = [
                ("mutex_held_ms", held_ms),
                ("total_start_fn_ms", total_start_fn_ms),
            ];
            pairs(line, "", &keys);
        }
        W::Epilogue {
            epilogue_ms,
            pre_destructor_ms,
        } => {
            let keys = [
                ("epilogue_ms", epilogue_ms),
                ("pre_destructor_ms", pre_destructor_ms),
            ];
            pairs(line, "", &keys);
        }
        W::PrepMsm { ms } => pairs(line, "", &[("prep_msm_ms", ms)]),
        W::AsyncDealloc { ms } => pairs(line, "", &[("async_dealloc_ms", ms)]),
        W::BG2Msm { ms, num_circuits } => {
            pairs(line, "", &[("b_g2_msm_ms", ms)]);
            count(line, " num_circuits=", num_circuits);
        }
        W::NttMsmH { gpu_tid, ms } => gpu(line, gpu_tid, &[("ntt_msm_h_ms", ms)]),
        W::BarrierWait { gpu_tid, ms } => gpu(line, gpu_tid, &[("barrier_wait_ms", ms)]),
        W::BatchAdd { gpu_tid, ms } => gpu(line, gpu_tid, &[("batch_add_ms", ms)]),
        W::TailMsm {
            gpu_tid,
            ms,
            gpu_total_ms,
        } => {
            gpu(
                line,
                gpu_tid,
                &[("tail_msm_ms", ms), ("gpu_total_ms", gpu_total_ms)],
            );
        }
        W::Phase { ref name, us } => {
            line.extend_from_slice(b"phase=");
            escaped(line, name);
            count(line, " ms=", us / 1000);
            count(line, " us=", us);
        }
        W::Other { ref text } => raw(line, text),
        _ => memory(line, what),
    }
}

/// What the GPU's thread reports.
fn gpu(line: &mut Vec<u8>, gpu_tid: u32, keys: &[(&str, i64)]) {
    count(line, "gpu_tid=", u64::from(gpu_tid));
    line.push(b' ');
    pairs(line, "", keys);
}

fn count(line: &mut Vec<u8>, key: &str, value: u64) {
    line.extend_from_slice(key.as_bytes());
    number(line, value);
}

/// Memory set-up.
fn memory(line: &mut Vec<u8>, what: &W<'_>) {
    match *what {
        W::HostRegisterFallback { err } => {
            line.extend_from_slice(b"host_register=fallback ");
            pairs(line, "", &[("err", err)]);
        }
        W::PrestageVram {
            free_mib,
            usable_mib,
            need_da_mib,
            need_dbc_mib,
            total_mib,
        } => {
            count(line, "prestage_vram free_mib=", free_mib);
            count(line, " usable_mib=", usable_mib);
            count(line, " need_da_mib=", need_da_mib);
            count(line, " need_dbc_mib=", need_dbc_mib);
            count(line, " total_mib=", total_mib);
        }
        W::PrestageSkip => line.extend_from_slice(b"prestage_setup=skip_vram"),
        W::PrestageOk {
            domain,
            lot_of_memory,
            parts_ms,
        } => {
            count(line, "prestage_setup=ok domain=", domain);
            count(line, " lot_of_memory=", u64::from(lot_of_memory));
            if let Some([sync, trim, alloc, upload, total]) = parts_ms {
                line.push(b' ');
                let keys = [
                    ("sync_ms", sync),
                    ("trim_ms", trim),
                    ("alloc_ms", alloc),
                    ("upload_ms", upload),
                    ("total_ps_ms", total),
                ];
                pairs(line, "", &keys);
            }
        }
        W::PrestageFallback { err } => {
            line.extend_from_slice(b"prestage_setup=fallback ");
            pairs(line, "", &[("err", err)]);
        }
        W::PoolThresholdMax { gpu } => {
            count(
                line,
                "set pool release threshold to MAX on gpu ",
                u64::from(gpu),
            );
        }
        W::DaCache { mib, gpu } => {
            count(line, "d_a_cache allocated ", mib);
            count(line, " MiB on gpu ", u64::from(gpu));
        }
        _ => ntt_h(line, what),
    }
}

/// The line of the transforms.
fn ntt_h(line: &mut Vec<u8>, what: &W<'_>) {
    if let W::NttH {
        d_b_alloc_ms,
        ntt_kernels_ms,
        coset_intt_sync_ms,
        msm_init_ms,
        msm_invoke_ms,
        msm_dtor_ms,
        total_ms,
    } = *what
    {
        let keys = [
            ("d_b_alloc", d_b_alloc_ms),
            ("ntt_kernels", ntt_kernels_ms),
            ("coset_intt_sync", coset_intt_sync_ms),
            ("msm_init", msm_init_ms),
            ("msm_invoke", msm_invoke_ms),
            ("msm_dtor", msm_dtor_ms),
            ("total", total_ms),
        ];
        pairs(line, "ms", &keys);
    }
}

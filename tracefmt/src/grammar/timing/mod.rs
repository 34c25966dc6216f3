//! `CUZK_TIMING` and `CUZK_NTT_H` lines, with and without the tag of our own writer.

use std::sync::LazyLock;

use memchr::memmem::FinderRev;

use super::{number, text};
use crate::event::Place;
use crate::timing::{Tag, Timing, TimingWhat};

mod plain;

pub(crate) use plain::parse_plain_timing;

/// Reads a timing line. Whatever its shape, it gives a record: one that no version has printed
/// is [`TimingWhat::Other`] with the text behind the prefix.
pub fn parse_timing(text: &[u8]) -> Timing<'_> {
    if let Some(body) = text.strip_prefix(b"CUZK_NTT_H: ") {
        let (body, tag) = split_tag(body);
        let what = ntt_h(body).unwrap_or_else(|| other(body));
        return Timing { what, tag };
    }
    let body = text.strip_prefix(b"CUZK_TIMING: ").unwrap_or(text);
    let (body, tag) = split_tag(body);
    let what = shape(body).unwrap_or_else(|| other(body));
    Timing { what, tag }
}

fn other(body: &[u8]) -> TimingWhat<'_> {
    TimingWhat::Other {
        text: text::lossy(body),
    }
}

/// Where a tag begins.
static TAG: LazyLock<FinderRev<'static>> = LazyLock::new(|| FinderRev::new(" job="));

/// Cuts the tag off the end. Job ids of our writer hold no blank, so the last ` job=` begins it.
fn split_tag(body: &[u8]) -> (&[u8], Option<Tag<'_>>) {
    let whole = (body, None);
    // No line of the old writer holds a j; most lines are spared the search.
    if memchr::memchr(b'j', body).is_none() {
        return whole;
    }
    let Some(at) = TAG.rfind(body) else {
        return whole;
    };
    let Some((head, tail)) = body.split_at_checked(at) else {
        return whole;
    };
    match tag(tail) {
        Some(tag) => (head, Some(tag)),
        None => whole,
    }
}

/// ` job=<id> [gpu=<n>] [worker=<n>] [partition=<n>] t_us=<n>`
fn tag(tail: &[u8]) -> Option<Tag<'_>> {
    let mut job = None;
    let mut t_us = None;
    let mut place = Place::default();
    for pair in tail.get(1..)?.split(|byte| *byte == b' ') {
        let at = memchr::memchr(b'=', pair)?;
        let (key, value) = pair.split_at_checked(at)?;
        let value = value.get(1..)?;
        match key {
            b"job" => job = Some(text::unescape(value)),
            b"gpu" => place.gpu = Some(number::whole(value)?),
            b"worker" => place.worker = Some(number::whole(value)?),
            b"partition" => place.partition = Some(number::whole(value)?),
            b"t_us" => t_us = Some(number::whole(value)?),
            _ => {}
        }
    }
    Some(Tag {
        job: job?,
        place,
        t_us: t_us?,
    })
}

/// Exactly the keys given, in this order, one blank between them, each with a number of the
/// width that C's format gives it.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "with its keys known, comparing them is a few instructions and no call"
)]
fn values<const N: usize>(body: &[u8], keys: [&[u8]; N], unit: &[u8]) -> Option<[i64; N]> {
    let mut rest = body;
    let mut found = [0; N];
    for (index, (key, slot)) in keys.iter().zip(&mut found).enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b" ")?;
        }
        rest = rest.strip_prefix(*key)?.strip_prefix(b"=")?;
        let negative = rest.strip_prefix(b"-");
        let (value, tail) = number::front(negative.unwrap_or(rest))?;
        *slot = match negative {
            Some(_) => 0i64.checked_sub_unsigned(value)?,
            None => i64::try_from(value).ok()?,
        };
        rest = tail.strip_prefix(unit)?;
    }
    rest.is_empty().then_some(found)
}

/// As [`values`], without a unit and without negative numbers.
fn counts<const N: usize>(body: &[u8], keys: [&[u8]; N]) -> Option<[u64; N]> {
    let found = values(body, keys, b"")?;
    let mut counts = [0; N];
    for (count, value) in counts.iter_mut().zip(found) {
        *count = u64::try_from(value).ok()?;
    }
    Some(counts)
}

fn ntt_h(body: &[u8]) -> Option<TimingWhat<'_>> {
    let keys: [&[u8]; 7] = [
        b"d_b_alloc",
        b"ntt_kernels",
        b"coset_intt_sync",
        b"msm_init",
        b"msm_invoke",
        b"msm_dtor",
        b"total",
    ];
    let [alloc, kernels, coset, init, invoke, dtor, total] = values(body, keys, b"ms")?;
    Some(TimingWhat::NttH {
        d_b_alloc_ms: alloc,
        ntt_kernels_ms: kernels,
        coset_intt_sync_ms: coset,
        msm_init_ms: init,
        msm_invoke_ms: invoke,
        msm_dtor_ms: dtor,
        total_ms: total,
    })
}

/// The shape is told by the first key; a second look is taken only where two share one.
fn shape(body: &[u8]) -> Option<TimingWhat<'_>> {
    let end = body.iter().position(|byte| matches!(byte, b'=' | b' '))?;
    let (first, _) = body.split_at_checked(end)?;
    Some(match first {
        b"gpu_tid" => return gpu_thread(body),
        b"split_vectors_ms" => {
            let [split_ms, setup_ms] =
                values(body, [b"split_vectors_ms", b"setup_to_split_ms"], b"")?;
            TimingWhat::SplitVectors { split_ms, setup_ms }
        }
        b"prep_msm_ms" => {
            let [ms] = values(body, [b"prep_msm_ms"], b"")?;
            TimingWhat::PrepMsm { ms }
        }
        b"b_g2_msm_ms" => {
            let [ms, circuits] = values(body, [b"b_g2_msm_ms", b"num_circuits"], b"")?;
            let num_circuits = u64::try_from(circuits).ok()?;
            TimingWhat::BG2Msm { ms, num_circuits }
        }
        b"async_dealloc_ms" => {
            let [ms] = values(body, [b"async_dealloc_ms"], b"")?;
            TimingWhat::AsyncDealloc { ms }
        }
        b"epilogue_ms" => {
            let [epilogue_ms, pre_destructor_ms] =
                values(body, [b"epilogue_ms", b"pre_destructor_ms"], b"")?;
            TimingWhat::Epilogue {
                epilogue_ms,
                pre_destructor_ms,
            }
        }
        b"pre_lock_cpu_ms" => {
            let [pre_lock_cpu_ms, mutex_wait_ms] =
                values(body, [b"pre_lock_cpu_ms", b"mutex_wait_ms"], b"")?;
            TimingWhat::PreLock {
                pre_lock_cpu_ms,
                mutex_wait_ms,
            }
        }
        b"mutex_held_ms" => {
            let [held_ms, total_start_fn_ms] =
                values(body, [b"mutex_held_ms", b"total_start_fn_ms"], b"")?;
            TimingWhat::MutexHeld {
                held_ms,
                total_start_fn_ms,
            }
        }
        b"prestage_vram" => return prestage_vram(body),
        b"prestage_setup" => return prestage_setup(body),
        b"host_register" => {
            let [err] = values(
                body.strip_prefix(b"host_register=fallback ")?,
                [b"err"],
                b"",
            )?;
            TimingWhat::HostRegisterFallback { err }
        }
        b"set" => {
            let gpu = body.strip_prefix(b"set pool release threshold to MAX on gpu ")?;
            TimingWhat::PoolThresholdMax {
                gpu: number::whole(gpu)?,
            }
        }
        b"d_a_cache" => return d_a_cache(body),
        b"phase" => return phase(body),
        _ => return None,
    })
}

/// `gpu_tid=<n> <key>=<ms> ...`: the lines of the GPU's thread.
fn gpu_thread(body: &[u8]) -> Option<TimingWhat<'_>> {
    let (gpu_tid, rest) = number::front(body.strip_prefix(b"gpu_tid=")?)?;
    let gpu_tid = u32::try_from(gpu_tid).ok()?;
    let rest = rest.strip_prefix(b" ")?;
    Some(match rest.first()? {
        b'n' => {
            let [ms] = values(rest, [b"ntt_msm_h_ms"], b"")?;
            TimingWhat::NttMsmH { gpu_tid, ms }
        }
        b't' => {
            let [ms, gpu_total_ms] = values(rest, [b"tail_msm_ms", b"gpu_total_ms"], b"")?;
            TimingWhat::TailMsm {
                gpu_tid,
                ms,
                gpu_total_ms,
            }
        }
        _ => {
            if let Some([ms]) = values(rest, [b"batch_add_ms"], b"") {
                return Some(TimingWhat::BatchAdd { gpu_tid, ms });
            }
            let [ms] = values(rest, [b"barrier_wait_ms"], b"")?;
            TimingWhat::BarrierWait { gpu_tid, ms }
        }
    })
}

fn prestage_vram(body: &[u8]) -> Option<TimingWhat<'_>> {
    let keys: [&[u8]; 5] = [
        b"free_mib",
        b"usable_mib",
        b"need_da_mib",
        b"need_dbc_mib",
        b"total_mib",
    ];
    let body = body.strip_prefix(b"prestage_vram ")?;
    let [free_mib, usable_mib, need_da_mib, need_dbc_mib, total_mib] = counts(body, keys)?;
    Some(TimingWhat::PrestageVram {
        free_mib,
        usable_mib,
        need_da_mib,
        need_dbc_mib,
        total_mib,
    })
}

fn prestage_setup(body: &[u8]) -> Option<TimingWhat<'_>> {
    let body = body.strip_prefix(b"prestage_setup=")?;
    if body == b"skip_vram" {
        return Some(TimingWhat::PrestageSkip);
    }
    if let Some(body) = body.strip_prefix(b"fallback ") {
        let [err] = values(body, [b"err"], b"")?;
        return Some(TimingWhat::PrestageFallback { err });
    }
    let body = body.strip_prefix(b"ok ")?;
    let pair: [&[u8]; 2] = [b"domain", b"lot_of_memory"];
    if let Some([domain, lot]) = counts(body, pair) {
        return Some(TimingWhat::PrestageOk {
            domain,
            lot_of_memory: lot != 0,
            parts_ms: None,
        });
    }
    let keys: [&[u8]; 7] = [
        b"domain",
        b"lot_of_memory",
        b"sync_ms",
        b"trim_ms",
        b"alloc_ms",
        b"upload_ms",
        b"total_ps_ms",
    ];
    let [domain, lot, parts @ ..] = values(body, keys, b"")?;
    Some(TimingWhat::PrestageOk {
        domain: u64::try_from(domain).ok()?,
        lot_of_memory: lot != 0,
        parts_ms: Some(parts),
    })
}

/// `d_a_cache allocated <n> MiB on gpu <n>`
fn d_a_cache(body: &[u8]) -> Option<TimingWhat<'_>> {
    let (mib, rest) = number::front(body.strip_prefix(b"d_a_cache allocated ")?)?;
    let gpu = number::whole(rest.strip_prefix(b" MiB on gpu ")?)?;
    Some(TimingWhat::DaCache { mib, gpu })
}

/// `phase=<name> ms=<n> [us=<n>]`, ours only; without `us=` the milliseconds count.
fn phase(body: &[u8]) -> Option<TimingWhat<'_>> {
    let body = body.strip_prefix(b"phase=")?;
    let end = memchr::memchr(b' ', body)?;
    let (name, rest) = body.split_at_checked(end)?;
    let rest = rest.get(1..)?;
    let us = if let Some([_, us]) = counts(rest, [b"ms", b"us"]) {
        us
    } else {
        let [ms] = counts(rest, [b"ms"])?;
        ms.checked_mul(1000)?
    };
    Some(TimingWhat::Phase {
        name: text::unescape(name),
        us,
    })
}

#[cfg(test)]
mod tests;

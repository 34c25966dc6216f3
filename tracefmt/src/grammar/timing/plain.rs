//! The commonest timing lines, read without looking at a byte twice. A line that passes is one of
//! the closed set of shapes from its first byte to its last, so it holds no other line; all else
//! is left to [`super::parse_timing`].

#![expect(
    clippy::inline_always,
    reason = "a call gives a mark back through memory, and it is read in other pieces than written"
)]

use super::number;
use crate::run::{MarkKind, PlainMark};

/// Reads a line of one of the kinds without text whose values are short, not negative and without
/// a tag; none for all others.
#[inline(always)]
pub(crate) fn parse_plain_timing(text: &[u8]) -> Option<PlainMark> {
    let body = text.strip_prefix(b"CUZK_TIMING: ")?;
    let head = body.first_chunk::<8>()?;
    match head {
        b"gpu_tid=" => gpu_thread(body),
        b"prep_msm" => one(body, MarkKind::PrepMsm, b"prep_msm_ms="),
        b"split_ve" => {
            let keys: [&[u8]; 2] = [b"split_vectors_ms=", b" setup_to_split_ms="];
            two(body, MarkKind::SplitVectors, keys)
        }
        b"b_g2_msm" => two(body, MarkKind::BG2Msm, [b"b_g2_msm_ms=", b" num_circuits="]),
        b"epilogue" => {
            let keys: [&[u8]; 2] = [b"epilogue_ms=", b" pre_destructor_ms="];
            two(body, MarkKind::Epilogue, keys)
        }
        b"async_de" => one(body, MarkKind::AsyncDealloc, b"async_dealloc_ms="),
        b"pre_lock" => {
            let keys: [&[u8]; 2] = [b"pre_lock_cpu_ms=", b" mutex_wait_ms="];
            two(body, MarkKind::PreLock, keys)
        }
        b"mutex_he" => {
            let keys: [&[u8]; 2] = [b"mutex_held_ms=", b" total_start_fn_ms="];
            two(body, MarkKind::MutexHeld, keys)
        }
        _ => None,
    }
}

#[inline(always)]
fn gpu_thread(body: &[u8]) -> Option<PlainMark> {
    let (thread, rest) = number::front(body.strip_prefix(b"gpu_tid=")?)?;
    let thread = i32::try_from(thread).ok()?;
    let rest = rest.strip_prefix(b" ")?;
    let (kind, key): (_, &[u8]) = match rest.first()? {
        b'n' => (MarkKind::NttMsmH, b"ntt_msm_h_ms="),
        b't' => {
            let mark = two(
                rest,
                MarkKind::TailMsm,
                [b"tail_msm_ms=", b" gpu_total_ms="],
            )?;
            return Some(mark.of_thread(thread.unsigned_abs()));
        }
        b'b' if rest.starts_with(b"batch") => (MarkKind::BatchAdd, b"batch_add_ms="),
        _ => (MarkKind::BarrierWait, b"barrier_wait_ms="),
    };
    let ms = last(rest, key)?;
    Some(PlainMark::new(kind, [ms, thread]))
}

/// `<key><number>` and nothing else.
#[inline(always)]
fn last(body: &[u8], key: &[u8]) -> Option<i32> {
    let (head, value) = number::back(body)?;
    (head == key).then(|| i32::try_from(value).ok())?
}

#[inline(always)]
fn one(body: &[u8], kind: MarkKind, key: &[u8]) -> Option<PlainMark> {
    Some(PlainMark::new(kind, [last(body, key)?, 0]))
}

#[inline(always)]
fn two(body: &[u8], kind: MarkKind, [key, other]: [&[u8]; 2]) -> Option<PlainMark> {
    let (value, rest) = number::front(body.strip_prefix(key)?)?;
    let values = [i32::try_from(value).ok()?, last(rest, other)?];
    Some(PlainMark::new(kind, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::parse_timing;

    /// What the whole grammar makes of the line, if it is of a plain kind.
    fn slow(text: &[u8]) -> Option<PlainMark> {
        let timing = parse_timing(text);
        PlainMark::of(&timing.what).filter(|_| timing.tag.is_none())
    }

    #[test]
    fn the_short_way_reads_what_the_whole_grammar_reads() {
        let bodies = [
            "split_vectors_ms=4 setup_to_split_ms=311",
            "prep_msm_ms=0",
            "b_g2_msm_ms=412 num_circuits=1",
            "gpu_tid=0 ntt_msm_h_ms=845",
            "gpu_tid=3 barrier_wait_ms=12",
            "gpu_tid=12 batch_add_ms=1",
            "gpu_tid=1 tail_msm_ms=86 gpu_total_ms=1588",
            "epilogue_ms=3 pre_destructor_ms=123456",
            "async_dealloc_ms=5012",
            "pre_lock_cpu_ms=7 mutex_wait_ms=1210",
            "mutex_held_ms=1500 total_start_fn_ms=2800",
        ];
        for body in bodies {
            let line = format!("CUZK_TIMING: {body}");
            let line = line.as_bytes();
            let plain = parse_plain_timing(line);
            assert!(plain.is_some(), "{body}");
            assert_eq!(plain, slow(line), "{body}");
            for cut in 0..line.len() {
                let (head, tail) = line.split_at(cut);
                let damaged = [
                    [head, &tail[1..]].concat(),
                    [head, b"x", tail].concat(),
                    [head, b"9", tail].concat(),
                    head.to_owned(),
                    [line, tail].concat(),
                ];
                for text in damaged {
                    let plain = parse_plain_timing(&text);
                    let shown = text.escape_ascii();
                    assert!(plain.is_none() || plain == slow(&text), "{shown}");
                }
            }
        }
    }

    #[test]
    fn what_needs_more_than_numbers_is_left() {
        for line in [
            "CUZK_TIMING: prep_msm_ms=-4",
            "CUZK_TIMING: prep_msm_ms=3000000000",
            "CUZK_TIMING: prep_msm_ms=4 job=a gpu=0 t_us=5",
            "CUZK_TIMING: prestage_setup=skip_vram",
            "CUZK_NTT_H: total=5ms",
            "CUZK_TIMING: gpu_tid=99999999999 batch_add_ms=1",
            "CUZK_TIMING: new=1",
            "CUZK_TIMING: ",
        ] {
            assert_eq!(parse_plain_timing(line.as_bytes()), None, "{line}");
        }
    }
}

//! The shape of a `TIMELINE` line: whole, or the first part of one that was torn.
//!
//! The old writer issues one `write` for each of `TIMELINE,` offset `,` event `,` job `,` detail
//! and line end, so a fragment ends at one of eight places; values are never cut inside.

use crate::event::EventKind;

const PREFIX: &[u8] = b"TIMELINE,";

/// The fields of a line that holds at least offset and event.
struct Fields<'a> {
    event: &'a [u8],
    /// After the comma behind the event: job, comma, detail.
    rest: &'a [u8],
}

/// Splits offset and event off, without looking at the rest. A negative offset makes no fragment:
/// a clock that was set back wrote it, and what it means is not asked here.
#[inline]
fn fields(text: &[u8]) -> Option<Fields<'_>> {
    let body = text.strip_prefix(PREFIX)?;
    let body = body.strip_prefix(b"-").unwrap_or(body);
    let digits = body.iter().take_while(|b| b.is_ascii_digit()).count();
    let body = body[digits..].strip_prefix(b",")?;
    let name = body.iter().take_while(|b| is_name_byte(**b)).count();
    let rest = body[name..].strip_prefix(b",")?;
    (digits > 0 && name > 0).then_some(Fields {
        event: &body[..name],
        rest,
    })
}

/// Whether a line is whole beyond doubt, cheaply: five fields, and behind the event no byte that
/// another line written into it would bring (`:` of a stamp or a timing prefix, `L` of a second
/// `TIMELINE`) and no NUL. A line that fails may still be whole.
#[inline]
pub(super) fn is_plainly_whole(text: &[u8]) -> bool {
    let Some(rest) = quick_rest(text).or_else(|| fields(text).map(|f| f.rest)) else {
        return false;
    };
    memchr::memchr3(b':', b'L', 0, rest).is_none() && memchr::memchr(b',', rest).is_some()
}

/// Whether a timing line holds nothing that another line written into it would bring.
#[inline]
pub(super) fn is_plain_timing(text: &[u8]) -> bool {
    const HEAD: usize = "CUZK_NTT_H: ".len();
    memchr::memchr3(b':', b',', 0, &text[HEAD.min(text.len())..]).is_none()
}

/// What stands behind the event, for offsets and events of usual length: [`fields`] without loops.
#[inline]
fn quick_rest(text: &[u8]) -> Option<&[u8]> {
    let body = text.get(PREFIX.len()..)?;
    let offset = field_length(body, is_digits)?;
    let body = &body[offset + 1..];
    let event = field_length(body, is_name)?;
    Some(&body[event + 1..])
}

/// A byte in each of the sixteen lanes.
const ONES: u128 = u128::MAX / 0xff;

/// Length of a field that a comma ends within sixteen bytes, if it passes. Lanes behind the field
/// are given to the test as they stand, and its answer for them is ignored.
#[inline]
fn field_length(text: &[u8], other: impl Fn(u128) -> u128) -> Option<usize> {
    let head = u128::from_le_bytes(*text.first_chunk::<16>()?);
    let commas = head ^ (ONES * u128::from(b','));
    let first = commas.wrapping_sub(ONES) & !commas & (ONES << 7);
    if first == 0 {
        return None;
    }
    let bits = first.trailing_zeros() & !7;
    (bits > 0 && other(head) & ((1 << bits) - 1) == 0).then_some((bits / 8) as usize)
}

/// Not zero in the lanes that hold no digit. A carry out of a lane comes from a lane that failed.
#[inline]
fn is_digits(lanes: u128) -> u128 {
    let high = |lanes: u128| (lanes & (ONES * 0xf0)) ^ (ONES * 0x30);
    high(lanes) | high(lanes.wrapping_add(ONES * 6))
}

/// Not zero in the lanes that [`is_name_byte`] refuses.
#[inline]
fn is_name(lanes: u128) -> u128 {
    (lanes & (ONES * 0xe0)) ^ (ONES * 0x40)
}

/// Whether a byte can stand in the name of an event: capitals, `_`, and the five marks around it.
fn is_name_byte(byte: u8) -> bool {
    byte & 0xe0 == 0x40
}

/// Whether a line has all five fields, of whatever content.
pub(super) fn has_five_fields(text: &[u8]) -> bool {
    fields(text).is_some_and(|f| memchr::memchr(b',', f.rest).is_some())
}

/// Whether fragments put together make a valid line: a known event, a job, and a detail that ends
/// with the key that the event ends with.
pub(super) fn is_valid(text: &[u8]) -> bool {
    let Some(Fields { event, rest }) = fields(text) else {
        return false;
    };
    let Some(kind) = EventKind::from_name(event) else {
        return false;
    };
    let Some(comma) = memchr::memrchr(b',', rest) else {
        return false;
    };
    let (job, last) = (&rest[..comma], &rest[comma + 1..]);
    let job = strip_detail(job);
    if job.is_empty() {
        return false;
    }
    let (key, value) = match memchr::memchr(b'=', last) {
        Some(at) => (&last[..at], &last[at + 1..]),
        None => (last, &b""[..]),
    };
    let number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    match kind {
        EventKind::SynthStart if key == b"kind" => !value.is_empty() && !value.contains(&b' '),
        EventKind::SynthStart => number && is_partition(key),
        EventKind::SynthEnd => number && key == b"synth_ms",
        EventKind::ChanSend => last.is_empty() || number && is_partition(key),
        EventKind::GpuQueue => last == b"monolithic" || number && is_partition(key),
        EventKind::GpuPickup | EventKind::GpuStart => {
            number && (key == b"worker" || is_partition(key))
        }
        EventKind::GpuEnd => number && key == b"gpu_ms",
        _ => !key.is_empty() && !value.is_empty(),
    }
}

/// Whether a line ends inside its job id, of which at least a byte is there: an event of the old
/// writer, which writes ids as they are.
pub(super) fn ends_in_id(text: &[u8]) -> bool {
    fields(text).is_some_and(|Fields { event, rest }| {
        let kind = EventKind::from_name(event);
        kind.is_some_and(is_old) && !rest.is_empty() && memchr::memchr(b',', rest).is_none()
    })
}

/// Whether a line with a line feed at `feed` is valid beyond doubt: the id goes on behind the line
/// feed, and the detail is not empty.
pub(super) fn is_valid_with_id(text: &[u8], feed: usize) -> bool {
    let rest = text.get(feed + 1..).unwrap_or_default();
    let short = matches!(rest.first(), None | Some(b','));
    let id = strip_detail(&rest[..memchr::memrchr(b',', rest).unwrap_or(0)]);
    !short && !id.is_empty() && !rest.ends_with(b",") && is_valid(text)
}

/// Whether the old writer knows an event.
fn is_old(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::SynthStart
            | EventKind::SynthEnd
            | EventKind::ChanSend
            | EventKind::GpuQueue
            | EventKind::GpuPickup
            | EventKind::GpuStart
            | EventKind::GpuEnd
    )
}

fn is_partition(key: &[u8]) -> bool {
    key == b"partition" || key == b"snap_partition"
}

/// The job, once the items of the detail before the last are off: `job,worker=0` gives `job`.
fn strip_detail(mut job: &[u8]) -> &[u8] {
    loop {
        let at = memchr::memrchr(b',', job).map_or(0, |comma| comma + 1);
        let item = &job[at..];
        let known = [&b"worker="[..], b"partition=", b"snap_partition="]
            .iter()
            .any(|key| {
                item.strip_prefix(*key)
                    .is_some_and(|v| !v.is_empty() && v.iter().all(u8::is_ascii_digit))
            });
        if !known {
            return job;
        }
        job = &job[..at.saturating_sub(1)];
    }
}

/// Whether a fragment can be the first part of a torn line: it ends where a `write` ended.
pub(super) fn is_first_part(text: &[u8]) -> bool {
    let Some(body) = text.strip_prefix(PREFIX) else {
        return false;
    };
    let digits = body.iter().take_while(|b| b.is_ascii_digit()).count();
    let body = &body[digits..];
    if body.is_empty() {
        return true;
    }
    let Some(body) = body.strip_prefix(b",") else {
        return false;
    };
    if digits == 0 || body.is_empty() {
        return digits > 0;
    }
    let name = body.iter().take_while(|b| is_name_byte(**b)).count();
    let known = EventKind::from_name(&body[..name]).is_some();
    known && (body.len() == name || body[name] == b',')
}

/// Whether bytes that no open fragment claims look like the later part of a torn line.
pub(super) fn is_later_part(text: &[u8]) -> bool {
    let body = text.strip_prefix(b",").unwrap_or(text);
    let item = [
        &b"worker="[..],
        b"partition=",
        b"snap_partition=",
        b"kind=",
        b"synth_ms=",
    ];
    text.len() > body.len() || item.iter().any(|key| body.starts_with(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = "8fdded90-cfde-49a5-9deb-b970d1c2f781";

    fn details() -> Vec<(&'static str, &'static str)> {
        vec![
            ("SYNTH_START", "kind=porep-c2"),
            ("SYNTH_START", "partition=3"),
            ("SYNTH_START", "snap_partition=3"),
            ("SYNTH_END", "synth_ms=30811"),
            ("SYNTH_END", "partition=3,synth_ms=30811"),
            ("CHAN_SEND", ""),
            ("CHAN_SEND", "partition=0"),
            ("GPU_QUEUE", "monolithic"),
            ("GPU_QUEUE", "partition=0"),
            ("GPU_PICKUP", "worker=1"),
            ("GPU_PICKUP", "worker=1,partition=9"),
            ("GPU_START", "worker=1,partition=9"),
            ("GPU_END", "worker=1,gpu_ms=3542"),
            ("GPU_END", "worker=1,partition=9,gpu_ms=3542"),
            (
                "VRAM_ALLOC",
                "gpu=0,worker=0,partition=3,t_us=5,id=17,buf=d_bc,rc=0",
            ),
        ]
    }

    #[test]
    fn every_documented_shape_is_whole() {
        for job in [
            JOB,
            "wdpost-2113939-3-[194 67 224 232]",
            "a,b=c",
            "porep-1000-1613",
        ] {
            for (event, detail) in details() {
                let line = format!("TIMELINE,245689,{event},{job},{detail}");
                assert!(is_valid(line.as_bytes()), "{line}");
                assert!(is_plainly_whole(line.as_bytes()), "{line}");
                assert!(has_five_fields(line.as_bytes()), "{line}");
            }
        }
    }

    #[test]
    fn a_line_without_its_last_field_is_not_valid() {
        for (event, detail) in details() {
            if event == "CHAN_SEND" {
                continue;
            }
            for line in [
                format!("TIMELINE,245689,{event},{JOB}"),
                format!("TIMELINE,245689,{event},{JOB},"),
                format!("TIMELINE,245689,{event},,{detail}"),
                format!("TIMELINE,245689,{event},{detail}"),
                format!("TIMELINE,,{event},{JOB},{detail}"),
                format!("TIMELINE,245689,,{JOB},{detail}"),
                format!("TIMELINE,245689,GPU_STOP,{JOB},{detail}"),
                format!("TIMELINE,245689,{event},{JOB},{detail} and more text"),
            ] {
                let own = event == "VRAM_ALLOC" && !line.ends_with(',');
                assert!(!is_valid(line.as_bytes()) || own, "{line}");
            }
        }
    }

    #[test]
    fn a_fragment_ends_where_a_write_ended() {
        let writes = [
            "TIMELINE,",
            "245689",
            ",",
            "GPU_END",
            ",",
            JOB,
            ",",
            "worker=1,gpu_ms=3542",
        ];
        let mut text = String::new();
        for write in writes {
            text.push_str(write);
            assert!(is_first_part(text.as_bytes()), "{text}");
        }
        for not in [
            "TIMELINE",
            "TIMELINE,12x",
            "TIMELINE,12,GPU",
            "TIMELINE,,GPU_END",
            "x",
        ] {
            assert!(!is_first_part(not.as_bytes()), "{not}");
        }
    }

    #[test]
    fn a_line_with_another_line_in_it_is_not_plainly_whole() {
        for inserted in [
            "CUZK_TIMING: prep_msm_ms=1",
            "TIMELINE,1,GPU_START,j,worker=0",
            "a\0",
        ] {
            let line = format!("TIMELINE,245689,GPU_END,{JOB},{inserted}");
            assert!(!is_plainly_whole(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn the_quick_look_agrees_with_the_slow_one() {
        for line in [
            "TIMELINE,0,GPU_END,j,worker=0,gpu_ms=5",
            "TIMELINE,123456789012345,GPU_END,j,worker=0,gpu_ms=5",
            "TIMELINE,1234567890123456,GPU_END,j,worker=0,gpu_ms=5",
            "TIMELINE,5,PARTITION_FAILED,j,error=x",
            "TIMELINE,5,A,j,",
            "TIMELINE,,GPU_END,job-1,worker=0",
            "TIMELINE,5,,job-1,worker=0,partition=1",
            "TIMELINE,5:6,GPU_END,job-1,worker=0",
            "TIMELINE,5;6,GPU_END,job-1,worker=0",
            "TIMELINE,5\u{ff},GPU_END,job-1,worker=0",
            "TIMELINE,/5,GPU_END,job-1,worker=0",
            "TIMELINE,5,gpu_end,job-1,worker=0",
            "TIMELINE,5,GPU END,job-1,worker=0",
            "TIMELINE,-5,GPU_END,job-1,worker=0",
            "TIMELINE,-,GPU_END,job-1,worker=0",
        ] {
            let slow = fields(line.as_bytes()).map(|f| f.rest);
            let quick = quick_rest(line.as_bytes());
            assert!(quick.is_none() || quick == slow, "{line}");
            assert_eq!(is_plainly_whole(line.as_bytes()), slow.is_some(), "{line}");
        }
    }

    #[test]
    fn later_parts_are_known_without_the_first() {
        assert!(is_later_part(b",8fdded90-cfde"));
        assert!(is_later_part(b"worker=1,partition=2"));
        assert!(!is_later_part(b"starting up"));
    }
}

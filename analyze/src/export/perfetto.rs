//! Perfetto's protobuf trace: a process track a run, a child track a lane, slices for spans.
//!
//! Only the fields that are written are declared, with the numbers of Perfetto's published
//! `trace_packet.proto`, `track_event.proto` and `track_descriptor.proto`. Each packet is
//! written as field 1 of the trace message, so the file is never in memory as a whole.

use std::io::{self, Write};

use prost::Message;

use super::chrome::{category, label, process, span_name};
use super::moments::moments;
use crate::lanes::{Lane, Span, lanes};
use crate::model::Analysis;
use tracefmt::run::{Run, Trace};

/// Writer of all packets; one sequence is enough, since nothing is interned.
const SEQUENCE: u32 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`: the reader need not wait for earlier packets.
const STATE_CLEARED: u32 = 1;
/// Tracks of a run have uuids from `run * TRACKS` on.
const TRACKS: u64 = 1 << 32;
/// `ChildTracksOrdering::EXPLICIT`
const ORDER_EXPLICIT: i32 = 3;

const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const INSTANT: i32 = 3;

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<Process>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(int32, optional, tag = "11")]
    child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    sibling_order_rank: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct Process {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    process_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<Annotation>,
    #[prost(int32, optional, tag = "9")]
    kind: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Annotation {
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    string_value: Option<String>,
    #[prost(string, optional, tag = "10")]
    name: Option<String>,
}

/// The whole trace message, for readers.
#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}

/// The whole file.
pub(super) fn write(trace: &Trace, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let first = Packet {
        sequence_flags: Some(STATE_CLEARED),
        ..Packet::default()
    };
    put(out, first)?;
    for run in &trace.runs {
        one_run(out, run, analysis)?;
    }
    Ok(())
}

fn put(out: &mut dyn Write, mut packet: Packet) -> io::Result<()> {
    packet.trusted_packet_sequence_id = Some(SEQUENCE);
    let file = File {
        packet: vec![packet],
    };
    out.write_all(&file.encode_to_vec())
}

fn one_run(out: &mut dyn Write, run: &Run, analysis: &Analysis) -> io::Result<()> {
    let parent = u64::from(run.index) * TRACKS + 1;
    let process = Process {
        pid: i32::try_from(run.index + 1).ok(),
        process_name: Some(process(run)),
    };
    describe(
        out,
        TrackDescriptor {
            uuid: Some(parent),
            process: Some(process),
            child_ordering: Some(ORDER_EXPLICIT),
            ..TrackDescriptor::default()
        },
    )?;
    let events = parent + 1;
    child(out, (parent, events), 0, "events")?;
    for moment in moments(run) {
        let mut notes = annotations(&moment.job, None, moment.line);
        notes.extend(text("text", &moment.text));
        event(
            out,
            moment.ms,
            TrackEvent {
                debug_annotations: notes,
                kind: Some(INSTANT),
                track_uuid: Some(events),
                categories: vec!["event".to_owned()],
                name: Some(moment.name),
            },
        )?;
    }
    for (rank, lane) in (1..).zip(lanes(run, analysis)) {
        let uuid = events + u64::from(rank);
        child(out, (parent, uuid), rank, &label(run, lane.owner))?;
        one_lane(out, uuid, &lane)?;
    }
    Ok(())
}

fn child(out: &mut dyn Write, (parent, uuid): (u64, u64), rank: u32, name: &str) -> io::Result<()> {
    describe(
        out,
        TrackDescriptor {
            uuid: Some(uuid),
            name: Some(name.to_owned()),
            parent_uuid: Some(parent),
            sibling_order_rank: i32::try_from(rank).ok(),
            ..TrackDescriptor::default()
        },
    )
}

fn describe(out: &mut dyn Write, track: TrackDescriptor) -> io::Result<()> {
    put(
        out,
        Packet {
            track_descriptor: Some(track),
            ..Packet::default()
        },
    )
}

/// Begins and ends in the order in which they nest: spans come by start, the longer first.
fn one_lane(out: &mut dyn Write, uuid: u64, lane: &Lane) -> io::Result<()> {
    let mut open: Vec<f64> = Vec::new();
    for span in &lane.spans {
        while let Some(end) = open.pop_if(|end| *end <= span.start_ms) {
            close(out, uuid, end)?;
        }
        begin(out, uuid, span)?;
        open.push(span.end_ms);
    }
    while let Some(end) = open.pop() {
        close(out, uuid, end)?;
    }
    Ok(())
}

fn begin(out: &mut dyn Write, uuid: u64, span: &Span) -> io::Result<()> {
    let mut notes = annotations(&span.job, span.partition, span.line);
    if span.open {
        notes.extend(text("open", "no end in the log"));
    }
    event(
        out,
        span.start_ms,
        TrackEvent {
            debug_annotations: notes,
            kind: Some(SLICE_BEGIN),
            track_uuid: Some(uuid),
            categories: vec![category(span.stage).to_owned()],
            name: Some(span_name(span.stage, span.partition)),
        },
    )
}

fn close(out: &mut dyn Write, uuid: u64, end_ms: f64) -> io::Result<()> {
    event(
        out,
        end_ms,
        TrackEvent {
            kind: Some(SLICE_END),
            track_uuid: Some(uuid),
            ..TrackEvent::default()
        },
    )
}

fn event(out: &mut dyn Write, ms: f64, event: TrackEvent) -> io::Result<()> {
    put(
        out,
        Packet {
            timestamp: Some(nanoseconds(ms)),
            track_event: Some(event),
            ..Packet::default()
        },
    )
}

fn annotations(job: &str, partition: Option<u32>, line: u64) -> Vec<Annotation> {
    let number = |name: &str, value: u64| Annotation {
        uint_value: Some(value),
        name: Some(name.to_owned()),
        ..Annotation::default()
    };
    let mut out: Vec<Annotation> = text("job", job).into_iter().collect();
    out.extend(partition.map(|partition| number("partition", u64::from(partition))));
    out.extend((line > 0).then(|| number("line", line)));
    out
}

fn text(name: &str, value: &str) -> Option<Annotation> {
    (!value.is_empty()).then(|| Annotation {
        string_value: Some(value.to_owned()),
        name: Some(name.to_owned()),
        ..Annotation::default()
    })
}

/// Nanoseconds of a moment; moments before the run's start, which only a broken clock gives,
/// become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what a u64 holds"
)]
fn nanoseconds(ms: f64) -> u64 {
    (ms * 1e6).round().clamp(0.0, 9e18) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Owner, Stage};

    fn span(stage: Stage, start_ms: f64, end_ms: f64) -> Span {
        Span {
            stage,
            start_ms,
            end_ms,
            job: "a,b%\"".to_owned(),
            job_index: 0,
            partition: Some(3),
            line: 7,
            open: false,
        }
    }

    fn decode(lane: &Lane) -> Vec<(u64, i32, String)> {
        let mut bytes = Vec::new();
        one_lane(&mut bytes, 9, lane).unwrap();
        let packets = File::decode(bytes.as_slice()).unwrap().packet;
        let events = packets.into_iter().map(|packet| {
            assert_eq!(packet.trusted_packet_sequence_id, Some(SEQUENCE));
            let event = packet.track_event.unwrap();
            assert_eq!(event.track_uuid, Some(9));
            let name = event.name.unwrap_or_default();
            (packet.timestamp.unwrap(), event.kind.unwrap(), name)
        });
        events.collect()
    }

    #[test]
    fn slices_nest_and_end_before_the_next_begins() {
        let lane = Lane {
            owner: Owner::Worker(Some(0), 0),
            spans: vec![
                span(Stage::Call, 1.0, 9.0),
                span(Stage::Hold, 2.0, 8.0),
                span(Stage::Kernel, 2.0, 4.0),
                span(Stage::Kernel, 4.0, 8.0),
                span(Stage::Call, 9.0, 10.0),
            ],
        };
        let events = decode(&lane);
        let kinds: Vec<(u64, i32)> = events.iter().map(|e| (e.0 / 1_000_000, e.1)).collect();
        let expected = [
            (1, SLICE_BEGIN),
            (2, SLICE_BEGIN),
            (2, SLICE_BEGIN),
            (4, SLICE_END),
            (4, SLICE_BEGIN),
            (8, SLICE_END),
            (8, SLICE_END),
            (9, SLICE_END),
            (9, SLICE_BEGIN),
            (10, SLICE_END),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(events[0].2, "prove call p3");
    }

    #[test]
    fn annotations_keep_the_job_as_it_is() {
        let notes = annotations("a,b%\"", Some(3), 7);
        assert_eq!(notes[0].string_value.as_deref(), Some("a,b%\""));
        assert_eq!(notes.len(), 3);
        assert!(annotations("", None, 0).is_empty());
    }

    #[test]
    fn times_before_the_start_are_moved_to_it() {
        assert_eq!(nanoseconds(-5.0), 0);
        assert_eq!(nanoseconds(1.5), 1_500_000);
        assert_eq!(nanoseconds(f64::INFINITY), 9_000_000_000_000_000_000);
    }
}

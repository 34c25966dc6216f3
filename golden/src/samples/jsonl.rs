//! `cuzk.samples/1`: JSON Lines with an optional header, optional run lines, and one line a time.
//!
//! ```text
//! {"schema":"cuzk.samples/1","key":{"gpu":"...","circuit":"..."},"verified":true}
//! {"run":"b0","commit":"1f2e3d","complete":true,"exact":{"vram_peak_bytes":9876543210}}
//! {"run":"b0","phase":"ntt_msm_h","partition":3,"ms":845.2}
//! ```
//! `verified` on a time counts before the one on its run, that before the header's; where none
//! says so, a time is unverified. `injected` on a run names the faults that were put into it: such
//! a run is no golden. Unknown keys are ignored.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

use super::{Sample, Samples};
use crate::{GoldenError, Key};

/// The name of the format.
pub const SCHEMA: &str = "cuzk.samples/1";

/// The longest line that is kept: a time takes a hundred bytes, so this is no time.
const LINE_MAX: usize = 1 << 20;

/// Any line; which one it is shows in the fields it has.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct Line<'l> {
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    schema: Option<std::borrow::Cow<'l, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Key>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    run: Option<std::borrow::Cow<'l, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    phase: Option<std::borrow::Cow<'l, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    injected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<BTreeMap<String, u64>>,
}

/// Reads `cuzk.samples/1`. A line that does not parse is counted and located, not fatal.
///
/// # Errors
/// A stream that breaks off, and a header that names another schema.
pub fn read_jsonl(mut reader: impl BufRead) -> Result<Samples, GoldenError> {
    let mut samples = Samples::default();
    let mut verified = Verified::default();
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let more = read_line(&mut reader, &mut line).map_err(|source| GoldenError::Stream {
            line: number - 1,
            source,
        })?;
        if !more {
            break;
        }
        let text = if number == 1 {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line)
        } else {
            &line
        };
        if text.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line<'_>>(text) {
            Ok(parsed) => take(parsed, number, &mut verified, &mut samples)?,
            Err(error) => samples.note(number, format!("not a line of {SCHEMA}: {error}")),
        }
    }
    Ok(samples)
}

/// What is known so far about verification: the header's word and the runs' own.
#[derive(Debug, Default)]
struct Verified {
    all: bool,
    runs: BTreeMap<String, bool>,
}

fn take(
    line: Line<'_>,
    number: u64,
    verified: &mut Verified,
    samples: &mut Samples,
) -> Result<(), GoldenError> {
    if let Some(schema) = line.schema {
        if schema != SCHEMA {
            return Err(GoldenError::Format {
                expected: SCHEMA,
                found: format!("{schema:?}"),
            });
        }
        verified.all = line.verified.unwrap_or(false);
        if let Some(key) = line.key {
            samples.key = key;
        }
        return Ok(());
    }
    let Some(run) = line.run else {
        samples.note(number, "no \"run\" in the line".to_owned());
        return Ok(());
    };
    let (Some(phase), Some(ms)) = (line.phase.as_deref(), line.ms) else {
        if line.phase.is_some() || line.ms.is_some() || line.partition.is_some() {
            samples.note(number, "a time needs both \"phase\" and \"ms\"".to_owned());
            return Ok(());
        }
        if let Some(word) = line.verified {
            verified.runs.insert(run.to_string(), word);
        }
        let run = samples.run_mut(&run);
        run.complete = line.complete.unwrap_or(run.complete);
        run.commit = line.commit.or(run.commit.take());
        run.time = line.time.or(run.time.take());
        run.injected = line.injected.or(run.injected.take());
        run.exact.extend(line.exact.unwrap_or_default());
        return Ok(());
    };
    let of_run = || {
        verified
            .runs
            .get(run.as_ref())
            .copied()
            .unwrap_or(verified.all)
    };
    let verified = line.verified.unwrap_or_else(of_run);
    samples.push(Sample {
        phase: phase.to_owned(),
        partition: line.partition,
        ms,
        verified,
        run: run.into_owned(),
    });
    Ok(())
}

/// Reads one line, keeping at most [`LINE_MAX`] bytes of it; false at the end of the input.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut any = false;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |at| at + 1);
        let room = LINE_MAX.saturating_sub(line.len()).min(taken);
        line.extend_from_slice(&buffer[..room]);
        reader.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// Writes a set as `cuzk.samples/1`; [`read_jsonl`] gives the same set back, but for its times'
/// order between phases.
///
/// Times that are not finite have no JSON and are left out: the reader of a trace has counted
/// them already.
///
/// # Errors
/// What the writer says.
pub fn write_jsonl(samples: &Samples, mut out: impl Write) -> std::io::Result<()> {
    let header = Line {
        schema: Some(SCHEMA.into()),
        key: Some(samples.key.clone()),
        ..Line::default()
    };
    put(&mut out, &header)?;
    for run in &samples.runs {
        let name = || Some(run.id.as_str().into());
        put(
            &mut out,
            &Line {
                run: name(),
                complete: Some(run.complete),
                commit: run.commit.clone(),
                time: run.time.clone(),
                injected: run.injected.clone(),
                exact: (!run.exact.is_empty()).then(|| run.exact.clone()),
                ..Line::default()
            },
        )?;
        for (phase, times) in &run.phases {
            let known = times.indices.len() == times.ms.len();
            for (at, (ms, verified)) in times.ms.iter().zip(&times.verified).enumerate() {
                let line = Line {
                    run: name(),
                    phase: Some(phase.as_str().into()),
                    partition: known.then(|| times.indices[at]),
                    ms: Some(*ms),
                    verified: Some(*verified),
                    ..Line::default()
                };
                if ms.is_finite() {
                    put(&mut out, &line)?;
                }
            }
        }
    }
    out.flush()
}

fn put(out: &mut impl Write, line: &Line<'_>) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Samples {
        read_jsonl(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_documented_lines() {
        let set = read(concat!(
            "\u{feff}{\"schema\":\"cuzk.samples/1\",\"key\":{\"gpu\":\"H200\"},\"later\":1}\r\n",
            "{\"run\":\"b0\",\"complete\":false,\"commit\":\"c\",",
            "\"exact\":{\"peak\":7},\"verified\":true}\n",
            "\n",
            "{\"run\":\"b0\",\"phase\":\"ntt_msm_h\",\"partition\":3,\"ms\":845.2}\n",
            "{\"run\":\"b0\",\"phase\":\"ntt_msm_h\",\"partition\":4,",
            "\"ms\":846,\"verified\":false}\n",
            "{\"run\":\"b1\",\"phase\":\"ntt_msm_h\",\"ms\":850}",
        ));
        assert_eq!(set.key.gpu.as_deref(), Some("H200"));
        assert_eq!(set.anomaly_count, 0, "{:?}", set.anomalies);
        assert!(!set.runs[0].complete);
        assert_eq!(set.runs[0].exact["peak"], 7);
        assert_eq!(set.runs[0].phases["ntt_msm_h"].verified, [true, false]);
        assert_eq!(set.runs[1].phases["ntt_msm_h"].verified, [false]);
    }

    #[test]
    fn bad_lines_are_counted_and_located() {
        let set = read(concat!(
            "{\"run\":\"b\",\"phase\":\"p\",\"ms\":NaN}\n",
            "{\"run\":\"b\",\"ms\":1}\nnoise\n{\"ms\":1}\n{\"run\":\"b\",\"ph",
        ));
        assert_eq!(set.anomaly_count, 5);
        assert_eq!(
            set.anomalies.iter().map(|a| a.line).collect::<Vec<_>>(),
            [1, 2, 3, 4, 5]
        );
        assert!(set.runs.is_empty());
    }

    #[test]
    fn another_schema_is_refused() {
        let error = read_jsonl(&b"{\"schema\":\"cuzk.samples/2\"}\n"[..]).unwrap_err();
        assert!(error.to_string().contains("samples/2"), "{error}");
    }

    #[test]
    fn a_giant_line_takes_no_memory() {
        let mut line = vec![b'x'; 3 * LINE_MAX];
        line.push(b'\n');
        let mut kept = Vec::new();
        assert!(read_line(&mut line.as_slice(), &mut kept).unwrap());
        assert_eq!(kept.len(), LINE_MAX);
    }

    proptest! {
        #[test]
        fn reading_what_was_written_is_the_identity(
            times in prop::collection::vec(
                (0_u8..3, 0_u8..3, 0.001_f64..1e6, any::<bool>(), 0_u32..20),
                1..60,
            ),
            counted in any::<bool>(),
            complete in any::<bool>(),
        ) {
            let set = Samples::from_samples(
                Key { gpu: Some("g, \"x\"".to_owned()), ..Key::default() },
                times.iter().map(|(run, phase, ms, verified, partition)| Sample {
                    run: format!("run {run}"),
                    phase: format!("phase {phase}"),
                    partition: counted.then_some(*partition),
                    ms: *ms,
                    verified: *verified,
                }),
            );
            let mut set = set;
            set.runs[0].complete = complete;
            let mut bytes = Vec::new();
            write_jsonl(&set, &mut bytes).unwrap();
            prop_assert_eq!(read_jsonl(bytes.as_slice()).unwrap(), set);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _kept = read_jsonl(bytes.as_slice());
        }
    }
}

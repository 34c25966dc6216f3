//! Lines that a container runtime wrapped in JSON, one object a line:
//! `{"log":"TIMELINE,...\\n","stream":"stderr","time":"..."}`. The text is what `log` holds; the
//! bytes of the ledger are those of the whole object.

use std::borrow::Cow;

use serde::Deserialize;

use super::parted::{Part, Stream};

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    log: Cow<'a, str>,
    #[serde(borrow)]
    stream: Cow<'a, str>,
}

/// Whether a line is such an object, and what it says of the daemon's line: one that has no line
/// feed goes on in the next object of its stream. What was written, without its line end, is then
/// in `out`.
pub(super) fn unwrap(body: &[u8], out: &mut Vec<u8>) -> Option<Part> {
    let like = body.starts_with(b"{\"") && memchr::memmem::find(body, b"\"stream\":").is_some();
    if !like {
        return None;
    }
    let record = serde_json::from_slice::<Record<'_>>(body).ok()?;
    let stream = match record.stream.as_ref() {
        "stdout" => Stream::Out,
        "stderr" => Stream::Err,
        _ => return None,
    };
    let written = record.log.as_bytes();
    let text = written.strip_suffix(b"\n").unwrap_or(written);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    out.clear();
    out.extend(text.iter().filter(|byte| **byte != 0));
    Some(Part {
        stream,
        last: text.len() < written.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> Option<String> {
        let mut out = Vec::new();
        unwrap(line.as_bytes(), &mut out).map(|_| String::from_utf8(out).unwrap())
    }

    #[test]
    fn the_text_comes_out_as_it_was_written() {
        let line = r#"{"log":"\u001b[2m2026\u001b[0m \"a\"\n","stream":"stdout","time":"t"}"#;
        assert_eq!(text(line).as_deref(), Some("\u{1b}[2m2026\u{1b}[0m \"a\""));
        let line = r#"{"stream":"stderr","attrs":{"a":"b"},"log":"x","time":"t"}"#;
        assert_eq!(text(line).as_deref(), Some("x"));
    }

    #[test]
    fn a_record_without_a_line_feed_goes_on() {
        for (log, stream, last) in [
            ("a\\n", Stream::Err, true),
            ("a\\r\\n", Stream::Out, true),
            ("a", Stream::Err, false),
            ("", Stream::Out, false),
        ] {
            let name = if stream == Stream::Out {
                "stdout"
            } else {
                "stderr"
            };
            let line = format!(r#"{{"log":"{log}","stream":"{name}","time":"t"}}"#);
            let part = unwrap(line.as_bytes(), &mut Vec::new());
            assert_eq!(part, Some(Part { stream, last }), "{line}");
        }
    }

    #[test]
    fn other_objects_stay_as_they_are() {
        for line in [
            r#"{"log":"x"}"#,
            r#"{"log":"x","stream":"other"}"#,
            r#"{"op":"malloc","stream":1}"#,
            r#"{"log":"x","stream":"stdout""#,
            "TIMELINE,1,CHAN_SEND,j,",
        ] {
            assert_eq!(text(line), None, "{line}");
        }
    }
}

//! Which words of a line are a timing: `<what>: <duration>`, `<what>: <number> ms|s`,
//! `<what> done: <seconds> s`, `<seconds>s to <what>`.

use super::duration;

/// What a text says took how many milliseconds.
pub(super) fn of(text: &str) -> Option<(&str, f64)> {
    tree(text).or_else(|| labelled(text))
}

/// `| | 1.4371s to convert trace data`, bars drawn before it.
fn tree(text: &str) -> Option<(&str, f64)> {
    let text = text.trim_start_matches(['|', ' ']);
    let (time, what) = text.split_once(" to ")?;
    Some((what.trim(), duration::parse(time)?))
}

fn labelled(text: &str) -> Option<(&str, f64)> {
    // A rate behind the duration: `16m5.7s (33.93 MiB/s)`.
    let text = text.trim_end();
    let text = match text.strip_suffix(')') {
        Some(rated) => rated.rsplit_once('(').map_or(text, |(front, _)| front),
        None => text,
    };
    let (what, time) = text.trim_end().rsplit_once(": ")?;
    let time = time.trim();
    let ms = duration::parse(time).or_else(|| {
        let (number, unit) = time.split_once(' ')?;
        let number: f64 = number.parse().ok()?;
        let scale = match unit {
            "ms" => 1.0,
            "s" => 1000.0,
            _ => return None,
        };
        (number.is_finite() && number >= 0.0).then_some(number * scale)
    })?;
    let what = what.trim();
    let what = match what.split_once("<-- ") {
        Some((_, done)) => done.strip_suffix(" done").unwrap_or(done),
        None => what,
    };
    (!what.is_empty()).then_some((what, ms))
}

/// Milliseconds of a field whose key says that it is a time: `tProof` in seconds,
/// `tookMilliseconds`.
pub(super) fn of_field(key: &str, value: &str) -> Option<f64> {
    let seconds = key
        .strip_prefix('t')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    let scale = if seconds {
        1000.0
    } else if key.ends_with("Milliseconds") {
        1.0
    } else {
        return None;
    };
    let number: f64 = value.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (text, what, ms) in [
            ("ZQ: a_s end: 290.5s", "ZQ: a_s end", 290_500.0),
            ("seal: verify: 9.5ms", "seal: verify", 9.5),
            ("unseal: 2h (3.045 MiB/s)", "unseal", 7_200_000.0),
            ("iFFT A: 18158 ms", "iFFT A", 18_158.0),
            ("x --> <-- Y done: 1.5 s", "Y", 1500.0),
            ("| | 1.5s to convert", "convert", 1500.0),
            ("50.5s to prove root first", "prove root first", 50_500.0),
        ] {
            assert_eq!(of(text), Some((what, ms)), "{text}");
        }
    }

    #[test]
    fn what_is_no_timing() {
        for text in [
            "port: 8080",
            "took 5s",
            ": 5s",
            "size: 5 MB",
            "from a to b",
            "Chunk: 4405294)",
            "",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(of_field("tProof", "x"), None);
        assert_eq!(of_field("took", "5"), None);
        assert_eq!(of_field("ticket", "5"), None);
    }
}

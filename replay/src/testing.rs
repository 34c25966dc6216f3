//! Schedules in few words, for tests.

use std::fmt::Write as _;

use tracefmt::ops::Schedule;

/// A 16 GiB card with nothing on it.
pub(crate) const HEADER: &str = r#"{"schema":"cuzk.ops/1","capacity":17179869184,"workers":2}"#;

/// A schedule on a 16 GiB card from lines `worker op key=value ...`. Sizes may end in `M` or
/// `G`; lists are `reads=[1,2]`; blank lines are passed over.
pub(crate) fn schedule(lines: &str) -> Schedule {
    with_header(HEADER, lines)
}

/// The same under a header of one's own.
pub(crate) fn with_header(header: &str, lines: &str) -> Schedule {
    let mut text = format!("{header}\n");
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let worker = words.next().expect("a worker");
        let op = words.next().expect("an op");
        write!(text, "{{\"worker\":{worker},\"op\":\"{op}\"").expect("memory");
        for word in words {
            let (key, value) = word.split_once('=').expect("key=value");
            write!(text, ",\"{key}\":{}", json_of(value)).expect("memory");
        }
        text.push_str("}\n");
    }
    let schedule = Schedule::read(text.as_bytes()).expect("a header");
    assert!(schedule.errors.is_empty(), "{:?}", schedule.errors);
    schedule
}

fn json_of(value: &str) -> String {
    for (suffix, shift) in [('M', 20), ('G', 30)] {
        let number = value
            .strip_suffix(suffix)
            .and_then(|n| n.parse::<u64>().ok());
        if let Some(number) = number {
            return (number << shift).to_string();
        }
    }
    let plain = value.parse::<f64>().is_ok() || value == "true" || value.starts_with('[');
    if plain {
        value.to_owned()
    } else {
        format!("\"{value}\"")
    }
}

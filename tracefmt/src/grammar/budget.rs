//! Lines about the host-memory budget in prose, as the engine's design paper has them.

use std::borrow::Cow;

use super::text;

/// The text of a line about the budget; none for any other line.
pub fn parse_budget(text: &[u8]) -> Option<Cow<'_, str>> {
    const BEGINNINGS: [&[u8]; 5] = [
        b"memory budget:",
        b"SRS ",
        b"PCE ",
        b"partition[",
        b"evicting ",
    ];
    let line = text.trim_ascii();
    let begins = BEGINNINGS.iter().any(|begin| line.starts_with(begin));
    let speaks = || {
        [&b"budget"[..], b" GiB"]
            .iter()
            .all(|word| memchr::memmem::find(line, word).is_some())
    };
    (begins && speaks()).then(|| text::lossy(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose() {
        for line in [
            "memory budget: 251 GiB (256 total - 5 safety)",
            "SRS porep-32g loaded: 44 GiB, budget 207/251 GiB remaining",
            "partition[3] released 13 GiB (a/b/c), budget 180/251 GiB remaining",
            "evicting SRS snap-32g (idle 8m12s), freed 33 GiB, budget 214/251 GiB remaining",
        ] {
            assert_eq!(parse_budget(line.as_bytes()).as_deref(), Some(line));
        }
        for line in [
            "",
            "SRS porep-32g loaded",
            "my budget is 5 GiB",
            "partition[3] done",
        ] {
            assert_eq!(parse_budget(line.as_bytes()), None, "{line}");
        }
    }
}

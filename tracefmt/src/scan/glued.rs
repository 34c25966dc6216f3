//! Lines glued behind the cut end of another: a daemon was killed or its log cut inside a line, and
//! what was written next stands on the same line. The needles of `needle` find those whose first
//! bytes are rare; here are the two that need a closer look.

use super::head::{self, Head};

/// From the date to the `T` of a stamp.
const DATE: usize = "2026-02-19".len();

/// Where a line of tracing-subscriber without colour begins inside a line: not behind a blank or a
/// quote, where a message would cite it or an unknown tool would have put a prefix before it.
pub(super) fn tracing(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'T', text)
        .filter_map(|mark| mark.checked_sub(DATE))
        .filter(|at| *at > 0)
        .find(|at| {
            let before = text[at - 1];
            let cited = matches!(
                before,
                b' ' | b'"' | b'\'' | b'=' | b'(' | b'[' | b'`' | b'>'
            );
            !cited && head::of(&text[*at..]) == Head::Tracing
        })
}

/// Where a line of the bench client begins inside a line: a proof, or a title.
pub(super) fn bench(text: &[u8]) -> Option<usize> {
    let starts =
        memchr::memmem::find_iter(text, b"  [").chain(memchr::memmem::find_iter(text, b"=== "));
    starts
        .filter(|at| *at > 0 && head::of(&text[*at..]) == Head::Bench)
        .min()
}

/// Whether a text is the beginning of one of our lines and was cut there, perhaps with dots in the
/// place of the rest: at least two letters, and not the whole head.
pub(super) fn is_cut_head(text: &[u8], dotted: bool) -> bool {
    const HEADS: [&[u8]; 3] = [b"TIMELINE,", b"CUZK_TIMING: ", b"CUZK_NTT_H: "];
    let dots = [&b"..."[..], "\u{2026}".as_bytes()];
    let stem = dots.iter().find_map(|dots| text.strip_suffix(*dots));
    let stem = match (stem, dotted) {
        (Some(stem), _) => stem,
        (None, true) => return false,
        (None, false) => text,
    };
    stem.len() > 1 && HEADS.iter().any(|head| head.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_begins_a_line_where_nothing_cites_it() {
        let line = "2026-02-19T04:24:22.996374Z  INFO cuzk_core: x";
        for (before, at) in [
            ("CU", Some(2)),
            ("a b ", None),
            ("a \"", None),
            ("", None),
            ("T-2026-02-1", Some(11)),
        ] {
            let text = format!("{before}{line}");
            assert_eq!(tracing(text.as_bytes()), at, "{text}");
        }
        assert_eq!(tracing(b"at 2026-02-19T04:24:22 o'clock"), None);
    }

    #[test]
    fn bench_lines_are_found_behind_anything() {
        let proof = "  [2/5] FAILED \u{2014} 3.0s (prove=0 ms, queue=5 ms)";
        for (text, at) in [
            (format!("CU{proof}"), Some(2)),
            (format!("0 ms, queue=5 ms){proof}"), Some(17)),
            ("CU=== Batch Summary ===".to_owned(), Some(2)),
            (proof.to_owned(), None),
            ("a  [1/2] of it".to_owned(), None),
            ("a === b".to_owned(), None),
        ] {
            assert_eq!(bench(text.as_bytes()), at, "{text}");
        }
    }

    #[test]
    fn a_cut_head_is_told_from_words() {
        for (text, dotted, want) in [
            ("CU...", true, true),
            ("CU...", false, true),
            ("CUZK_TIMING\u{2026}", true, true),
            ("TIMELI", false, true),
            ("TIMELI", true, false),
            ("T", false, false),
            ("T...", true, false),
            ("...", false, false),
            ("CUSTOM", false, false),
        ] {
            assert_eq!(is_cut_head(text.as_bytes(), dotted), want, "{text}");
        }
    }
}

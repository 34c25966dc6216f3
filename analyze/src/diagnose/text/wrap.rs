//! Lines of limited width: text wrapped at blanks, quoted lines cut with a mark.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A blank at which no line ends.
pub(super) const GLUE: char = '\u{a0}';

/// Appends a line.
pub(super) fn put(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Text wrapped at blanks; the first line begins with `first`, the others with `rest`. Every line
/// ends with a newline. A word longer than the width stands alone on its line. A number is kept
/// with its unit by [`GLUE`].
pub(super) fn wrap(text: &str, first: &str, rest: &str, width: usize) -> String {
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_ascii_whitespace() {
        if !empty && line.width() + 1 + word.width() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            rest.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out.replace(GLUE, " ")
}

/// The text cut to a width, with `...` where something is missing.
pub(super) fn clip(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width.saturating_sub(3) {
            break;
        }
        cut.push(c);
    }
    cut.push_str("...");
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_move_to_the_next_line_whole() {
        let text = wrap("one two three four", "- ", "  ", 10);
        assert_eq!(text, "- one two\n  three\n  four\n");
        assert_eq!(wrap("", "x", "", 5), "x\n");
        assert_eq!(wrap("abcdefghij k", "", "", 4), "abcdefghij\nk\n");
    }

    #[test]
    fn a_number_keeps_its_unit() {
        assert_eq!(wrap("idle 12\u{a0}% now", "", "", 8), "idle\n12 % now\n");
    }

    #[test]
    fn long_lines_are_cut_with_a_mark() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abc...");
        assert_eq!(clip("ééééééé", 6), "ééé...");
    }
}

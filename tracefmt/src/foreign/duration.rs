//! Durations as Go and Rust print them: `1h2m3.5s`, `37.268746346s`, `332.897593ms`, `242.142µs`.

/// Units, longest first where one begins with another, with their milliseconds.
const UNITS: [(&str, f64); 8] = [
    ("ms", 1.0),
    ("\u{b5}s", 1e-3),
    ("\u{3bc}s", 1e-3),
    ("us", 1e-3),
    ("ns", 1e-6),
    ("h", 3_600_000.0),
    ("m", 60_000.0),
    ("s", 1000.0),
];

/// Milliseconds of a duration with its units and nothing else; none for all else.
pub fn parse(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, unit) = rest.split_at_checked(end)?;
        let number: f64 = number.parse().ok()?;
        let (after, scale) = UNITS
            .iter()
            .find_map(|(name, scale)| Some((unit.strip_prefix(name)?, *scale)))?;
        total += number * scale;
        rest = after;
    }
    (!text.is_empty() && total.is_finite()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_add_up() {
        for (text, ms) in [
            ("37.268746346s", 37_268.746_346),
            ("3h3m16.757401329s", 10_996_757.401_329),
            ("1m40s", 100_000.0),
            ("332.897593ms", 332.897_593),
            ("242.142\u{b5}s", 0.242_142),
            ("5ns", 5e-6),
        ] {
            let found = parse(text).unwrap();
            assert!((found - ms).abs() < 1e-6, "{text}: {found}");
        }
    }

    #[test]
    fn other_words_are_no_durations() {
        for text in [
            "", "5", "s", "1.2.3s", "12 s", "7x", "-5s", "5s later", "..s",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

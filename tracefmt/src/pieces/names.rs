//! What rotation does to the names of files: `run.log.2.gz`, `run.log.1`, `run.log`;
//! `run.log-20260219`, `run.log.2026-02-19.zst`.

/// A name without what rotation and compression have put behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The log's own name, with its folder.
    pub(super) base: String,
    /// Rises with time: older pieces come first, the log that is still written last.
    pub(super) rank: i64,
}

/// The parts of a path.
pub(super) fn of(path: &str) -> Name {
    let plain = [".gz", ".zst", ".zstd"]
        .iter()
        .find_map(|end| path.strip_suffix(end))
        .unwrap_or(path);
    let numbered = plain.rsplit_once('.').and_then(|(base, number)| {
        let short = number.len() < 5 && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse::<i64>().ok()?;
        short.then_some((base, -number))
    });
    let (base, rank) = numbered
        .or_else(|| dated(plain, '-'))
        .or_else(|| dated(plain, '.'))
        .unwrap_or((plain, i64::MAX));
    Name {
        base: base.to_owned(),
        rank,
    }
}

/// `<base><mark>` and a date of eight digits or more, with or without dashes.
fn dated(path: &str, mark: char) -> Option<(&str, i64)> {
    let split = path
        .char_indices()
        .filter(|(_, c)| *c == mark)
        .find_map(|(at, _)| {
            let (base, rest) = path.split_at_checked(at)?;
            let date: String = rest.chars().filter(char::is_ascii_digit).collect();
            let only = rest
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | 'T'));
            (only && (8..=17).contains(&date.len())).then_some((base, date))
        });
    let (base, date) = split?;
    // The same number of digits for all: a date alone is the beginning of its day.
    let date = format!("{date:0<17}");
    Some((base, date.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_names_have_one_base_and_rise_with_time() {
        let families: [&[&str]; 3] = [
            &[
                "a/run.log.10.gz",
                "a/run.log.2.gz",
                "a/run.log.1",
                "a/run.log",
            ],
            &[
                "run.log-20260218",
                "run.log-20260219.gz",
                "run.log-20260219120000",
                "run.log",
            ],
            &["x.2026-02-18.zst", "x.2026-02-19", "x"],
        ];
        for family in families {
            let names: Vec<Name> = family.iter().map(|path| of(path)).collect();
            assert!(
                names.windows(2).all(|pair| pair[0].base == pair[1].base),
                "{names:?}"
            );
            assert!(names.is_sorted_by_key(|name| name.rank), "{names:?}");
        }
    }

    #[test]
    fn other_names_are_their_own_base() {
        for path in [
            "run.log",
            "phase9.v1",
            "run-2.log",
            "out.txt",
            "d05-head-base.log",
            "v1.23456",
        ] {
            assert_eq!(of(path).rank, i64::MAX, "{path}");
            assert_eq!(of(path).base, path);
        }
    }
}

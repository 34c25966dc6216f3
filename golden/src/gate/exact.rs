//! Exact figures, such as peak bytes and counts: compared as integers, without statistics.

use std::collections::{BTreeMap, BTreeSet};

use tracefmt::finding::Code;

use crate::problem::Problem;
use crate::verdict::{Exact, Outcome};

/// Compares all figures of either side, by name.
pub(super) fn compare(
    golden: &BTreeMap<String, u64>,
    candidate: &BTreeMap<String, u64>,
) -> Vec<Exact> {
    let names: BTreeSet<&String> = golden.keys().chain(candidate.keys()).collect();
    names
        .into_iter()
        .map(|name| {
            let (baseline, measured) = (golden.get(name).copied(), candidate.get(name).copied());
            let verdict = match (baseline, measured) {
                (Some(base), Some(now)) if now == base => Outcome::Pass,
                (Some(base), Some(now)) if now > base => Outcome::Regression,
                _ => Outcome::Inconclusive,
            };
            Exact {
                name: name.clone(),
                baseline,
                candidate: measured,
                verdict,
            }
        })
        .collect()
}

/// What is less than before, or on one side only, wants a decision by a person.
pub(super) fn problems(exact: &[Exact]) -> Vec<Problem> {
    exact
        .iter()
        .filter(|figure| figure.verdict == Outcome::Inconclusive)
        .map(|figure| {
            let text = |value: Option<u64>| value.map_or("none".to_owned(), |v| v.to_string());
            let (base, now) = (text(figure.baseline), text(figure.candidate));
            let what = format!("{}: {base} in the golden, now {now}", figure.name);
            Problem::blocking(Code::PerfExact, what)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Outcome::{Inconclusive, Pass, Regression};
    use super::*;

    #[test]
    fn one_byte_more_is_a_regression() {
        let golden = BTreeMap::from([("gone", 1), ("less", 5), ("more", 5), ("same", 5)]);
        let now = BTreeMap::from([("less", 4), ("more", 6), ("new", 1), ("same", 5)]);
        let owned =
            |map: BTreeMap<&str, u64>| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        let compared = compare(&owned(golden), &owned(now));
        let verdicts: Vec<_> = compared
            .iter()
            .map(|e| (e.name.as_str(), e.verdict))
            .collect();
        assert_eq!(
            verdicts,
            [
                ("gone", Inconclusive),
                ("less", Inconclusive),
                ("more", Regression),
                ("new", Inconclusive),
                ("same", Pass)
            ]
        );
        assert_eq!(problems(&compared).len(), 3);
    }
}

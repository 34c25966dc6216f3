//! Counts of whole milliseconds: the summary of a million durations without keeping them.
//!
//! Old logs print whole milliseconds, so a table of counts holds all there is to know, and the
//! quantiles come out exactly as [`Summary::of`] defines them on the list of values. What does
//! not fit into the table is kept as a list beside it.

use golden::stats::Summary;

/// Longest duration that the table holds, in milliseconds.
const TABLE_MS_MAX: usize = 1 << 17;

/// Durations of one phase at one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    counts: Vec<u32>,
    list: Vec<f64>,
}

impl Tally {
    /// Adds a duration of whole milliseconds.
    pub fn add(&mut self, ms: u32) {
        let at = ms as usize;
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        } else if at < TABLE_MS_MAX {
            self.counts.resize((at + 1).next_power_of_two(), 0);
            self.add(ms);
        } else {
            self.list.push(f64::from(ms));
        }
    }

    /// Adds a duration with a fraction.
    pub fn add_exact(&mut self, ms: f64) {
        self.list.push(ms);
    }

    /// Adds all durations of another tally.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.list.extend(&other.list);
    }

    /// Summary of all durations; none if there is none.
    pub fn summary(&self) -> Option<Summary> {
        if !self.list.is_empty() {
            return Summary::of(&mut self.expanded());
        }
        let table: Vec<(f64, u64)> = (0_u32..)
            .zip(&self.counts)
            .filter(|(_, count)| **count > 0)
            .map(|(ms, count)| (f64::from(ms), u64::from(*count)))
            .collect();
        let n: u64 = table.iter().map(|(_, count)| count).sum();
        let median = quantile(&table, n, 0.5)?;
        let mut distances: Vec<(f64, u64)> = table
            .iter()
            .map(|(ms, count)| ((ms - median).abs(), *count))
            .collect();
        distances.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(Summary {
            n: usize::try_from(n).unwrap_or(usize::MAX),
            non_finite: 0,
            median,
            p10: quantile(&table, n, 0.1)?,
            p90: quantile(&table, n, 0.9)?,
            mad: quantile(&distances, n, 0.5)?,
        })
    }

    fn expanded(&self) -> Vec<f64> {
        let mut all = self.list.clone();
        for (ms, count) in (0_u32..).zip(&self.counts) {
            all.extend((0..*count).map(|_| f64::from(ms)));
        }
        all
    }
}

/// Quantile of `n` values given as a sorted table: type 7, as in `golden::stats`.
fn quantile(table: &[(f64, u64)], n: u64, q: f64) -> Option<f64> {
    let rank = n.checked_sub(1)? as f64 * q;
    let weight = rank.fract();
    let (mut seen, mut low) = (0_u64, None);
    for (value, count) in table {
        seen += count;
        if low.is_none() && seen as f64 > rank.floor() {
            low = Some(*value);
        }
        if seen as f64 > rank.floor() + 1.0 || (weight <= 0.0 && low.is_some()) {
            return low.map(|low| {
                if weight > 0.0 {
                    weight.mul_add(value - low, low)
                } else {
                    low
                }
            });
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn empty_has_no_summary() {
        assert_eq!(Tally::default().summary(), None);
    }

    #[test]
    fn long_and_fractional_durations_count_too() {
        let mut tally = Tally::default();
        tally.add(3);
        tally.add(1 << 20);
        tally.add_exact(4.5);
        let summary = tally.summary().unwrap();
        assert_eq!((summary.n, summary.median), (3, 4.5));
    }

    proptest! {
        /// The table gives what the list of the same values gives.
        #[test]
        fn agrees_with_the_list(
            values in prop::collection::vec(0_u32..300, 1..60),
            cut in 0_usize..60,
        ) {
            let (mut one, mut two) = (Tally::default(), Tally::default());
            for (at, ms) in values.iter().enumerate() {
                if at < cut { one.add(*ms) } else { two.add(*ms) }
            }
            one.merge(&two);
            let mut list: Vec<f64> = values.iter().map(|ms| f64::from(*ms)).collect();
            let (found, wanted) = (one.summary().unwrap(), Summary::of(&mut list).unwrap());
            prop_assert_eq!(found.n, wanted.n);
            for (a, b) in [
                (found.median, wanted.median),
                (found.p10, wanted.p10),
                (found.p90, wanted.p90),
                (found.mad, wanted.mad),
            ] {
                prop_assert!((a - b).abs() < 1e-9, "{:?} {:?}", found, wanted);
            }
        }
    }
}

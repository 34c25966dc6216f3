//! Packing of spans into rows: each goes to the first row that is free when it starts.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::Span;

/// A time with a total order.
#[derive(Clone, Copy, PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Rows in which no two spans overlap; their number is the largest number of spans open at
/// once. `O(n log n)`.
pub fn pack(mut spans: Vec<Span>) -> Vec<Vec<Span>> {
    spans.sort_by(|a, b| {
        let start = a.start_ms.total_cmp(&b.start_ms);
        start.then(a.end_ms.total_cmp(&b.end_ms))
    });
    let mut rows: Vec<Vec<Span>> = Vec::new();
    let mut free: BTreeSet<usize> = BTreeSet::new();
    let mut busy: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
    for span in spans {
        while let Some(Reverse((end, row))) = busy.peek().copied()
            && end.0 <= span.start_ms
        {
            busy.pop();
            free.insert(row);
        }
        let row = free.pop_first().unwrap_or(rows.len());
        if row == rows.len() {
            rows.push(Vec::new());
        }
        busy.push(Reverse((Time(span.end_ms), row)));
        if let Some(row) = rows.get_mut(row) {
            row.push(span);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::Stage;
    use super::*;
    use proptest::prelude::*;

    fn span(start_ms: f64, end_ms: f64) -> Span {
        Span {
            stage: Stage::Queue,
            start_ms,
            end_ms,
            job: String::new(),
            job_index: 0,
            partition: None,
            line: 0,
            open: false,
        }
    }

    #[test]
    fn spans_that_touch_share_a_row() {
        let rows = pack(vec![span(2.0, 4.0), span(0.0, 2.0), span(1.0, 3.0)]);
        let starts: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| row.iter().map(|s| s.start_ms).collect())
            .collect();
        assert_eq!(starts, [vec![0.0, 2.0], vec![1.0]]);
    }

    proptest! {
        #[test]
        fn rows_never_overlap_and_are_as_few_as_possible(
            input in prop::collection::vec((0_u32..100, 1_u32..30), 0..60)
        ) {
            let spans: Vec<Span> = input
                .iter()
                .map(|(at, len)| span(f64::from(*at), f64::from(at + len)))
                .collect();
            let deepest = (0..130).map(|t| {
                input.iter().filter(|(at, len)| *at <= t && t < at + len).count()
            }).max().unwrap_or(0);
            let rows = pack(spans);
            prop_assert_eq!(rows.len(), deepest);
            prop_assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), input.len());
            for row in rows {
                for pair in row.windows(2) {
                    prop_assert!(pair[0].end_ms <= pair[1].start_ms);
                }
            }
        }
    }
}

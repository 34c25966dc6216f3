//! Thousands of spans in a row of pixels: how much of each column a set of spans covers, and
//! which kind fills most of it.

use super::axis::TimeAxis;

/// Sorted, disjoint intervals that cover the same time.
pub(super) fn union(mut spans: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    spans.retain(|[from, to]| from.is_finite() && to.is_finite() && to > from);
    spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let mut out: Vec<[f64; 2]> = Vec::with_capacity(spans.len());
    for [from, to] in spans {
        match out.last_mut() {
            Some(last) if from <= last[1] => last[1] = last[1].max(to),
            _ => out.push([from, to]),
        }
    }
    out
}

/// For each whole pixel column of the axis, the pixels that the intervals cover, summed over
/// all intervals: 1 is one interval over the whole column.
pub(super) fn cover(axis: &TimeAxis, spans: &[[f64; 2]]) -> Vec<f64> {
    let mut out = vec![0.0; columns(axis)];
    for [from, to] in spans {
        let (from, to) = (axis.x(*from) - axis.left, axis.x(*to) - axis.left);
        let first = index(from);
        let last = index(to).min(out.len().saturating_sub(1));
        for column in first..=last {
            let left = column as f64;
            let part = to.min(left + 1.0) - from.max(left);
            if let Some(slot) = out.get_mut(column) {
                *slot += part.max(0.0);
            }
        }
    }
    out
}

/// Number of whole columns.
pub(super) fn columns(axis: &TimeAxis) -> usize {
    index(axis.width().ceil()).max(1)
}

/// For each column the position of the layer that covers most of it; `None` when nothing does.
pub(super) fn dominant(layers: &[Vec<f64>], columns: usize) -> Vec<Option<usize>> {
    let pick = |column: usize| {
        let parts = layers.iter().enumerate();
        let parts = parts.filter_map(|(n, layer)| Some((n, *layer.get(column)?)));
        let best = parts.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        best.filter(|(_, part)| *part > 0.02).map(|(n, _)| n)
    };
    (0..columns).map(pick).collect()
}

/// Runs of equal neighbours: value, first column, column after the last.
pub(super) fn runs<T: PartialEq + Copy>(values: &[T]) -> Vec<(T, usize, usize)> {
    let mut out: Vec<(T, usize, usize)> = Vec::new();
    for (column, value) in values.iter().enumerate() {
        match out.last_mut() {
            Some(last) if last.0 == *value => last.2 = column + 1,
            _ => out.push((*value, column, column + 1)),
        }
    }
    out
}

/// How many are open in each column: the least, the mean and the most.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Levels {
    /// The most at any moment of the column.
    pub(super) most: Vec<f64>,
    /// The mean over the column.
    pub(super) mean: Vec<f64>,
    /// The most at any moment at all.
    pub(super) peak: f64,
}

/// How many of the spans are open over time.
pub(super) fn levels(axis: &TimeAxis, spans: &[[f64; 2]]) -> Levels {
    let mut steps: Vec<(f64, f64)> = Vec::with_capacity(spans.len() * 2);
    for [from, to] in spans.iter().filter(|[from, to]| to > from) {
        steps.push((*from, 1.0));
        steps.push((*to, -1.0));
    }
    // Ends before starts, so that spans that touch do not count as two.
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mean = cover(axis, spans);
    let mut most = vec![0.0; mean.len()];
    let (mut open, mut peak, mut from) = (0.0, 0.0_f64, 0);
    for (ms, step) in steps {
        let column = index(axis.x(ms) - axis.left).min(most.len().saturating_sub(1));
        raise(&mut most, from, column, open);
        open += step;
        peak = peak.max(open);
        from = column;
    }
    Levels { most, mean, peak }
}

/// Raises the columns that a stretch of time touches to at least a level.
pub(super) fn raise_between(
    axis: &TimeAxis,
    most: &mut [f64],
    (from_ms, to_ms): (f64, f64),
    level: f64,
) {
    let column = |ms: f64| index(axis.x(ms) - axis.left).min(most.len().saturating_sub(1));
    let (from, to) = (column(from_ms), column(to_ms));
    raise(most, from, to, level);
}

fn raise(most: &mut [f64], from: usize, to: usize, open: f64) {
    for column in from..=to {
        if let Some(slot) = most.get_mut(column) {
            *slot = slot.max(open);
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a pixel column, clamped to 0..=1e6"
)]
fn index(pixels: f64) -> usize {
    pixels.clamp(0.0, 1e6) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn axis() -> TimeAxis {
        TimeAxis::new((0.0, 100.0), 0.0, 100.0)
    }

    #[test]
    fn cover_gives_partial_columns_their_share() {
        let cover = cover(&axis(), &[[1.5, 3.25], [3.0, 4.0]]);
        assert_eq!(cover[..5], [0.0, 0.5, 1.0, 1.25, 0.0]);
    }

    #[test]
    fn the_larger_share_wins_and_the_first_layer_wins_a_tie() {
        let layers = [vec![0.5, 0.2, 0.0], vec![0.5, 0.6, 0.0]];
        assert_eq!(dominant(&layers, 3), [Some(0), Some(1), None]);
        assert_eq!(runs(&[1, 1, 2]), [(1, 0, 2), (2, 2, 3)]);
    }

    #[test]
    fn spans_that_touch_are_never_two_at_once() {
        let levels = levels(&axis(), &[[0.0, 10.0], [10.0, 20.0], [12.0, 14.0]]);
        assert!((levels.peak - 2.0).abs() < 1e-9);
        assert!((levels.most[5] - 1.0).abs() < 1e-9);
        assert!((levels.most[13] - 2.0).abs() < 1e-9);
        assert!(levels.most[25].abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn cover_sums_to_the_time_covered(
            spans in prop::collection::vec((0.0..90.0_f64, 0.0..10.0_f64), 0..40)
        ) {
            let spans: Vec<[f64; 2]> = spans.iter().map(|(at, len)| [*at, at + len]).collect();
            let all: f64 = spans.iter().map(|[from, to]| to - from).sum();
            let sum: f64 = cover(&axis(), &spans).iter().sum();
            prop_assert!((all - sum).abs() < 1e-6);
            let merged = union(spans.clone());
            let merged: f64 = merged.iter().map(|[from, to]| to - from).sum();
            prop_assert!(merged <= all + 1e-9);
            let columns = cover(&axis(), &union(spans));
            prop_assert!(columns.iter().all(|part| *part <= 1.0 + 1e-9));
        }
    }
}

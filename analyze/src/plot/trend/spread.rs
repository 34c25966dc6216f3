//! The times before and after the last change of each phase, as distributions.

use golden::history::{Cause, PhaseChange, Trend};
use golden::stats::quantile;

use super::{History, cause_of, fitted, kind, percent};
use crate::plot::palette::Role;
use crate::plot::ratio::{self, Span};
use crate::plot::scene::{Anchor, Ink, Scene};

/// Height of a phase: two rows.
const ROW: f64 = 50.0;
/// More points than this are shown as their quartiles alone.
const DOTS_MAX: usize = 300;
/// Widest column of names.
const NAMES_MAX: f64 = 220.0;

/// One phase with both sides, as ratios to the middle of the old level.
struct Pair<'t> {
    trend: &'t Trend,
    found: &'t PhaseChange,
    before: Vec<f64>,
    after: Vec<f64>,
}

/// Draws all phases that have a change of level.
pub(super) fn draw(scene: &mut Scene, history: &History<'_>) {
    let pairs: Vec<Pair<'_>> = history.trends.iter().filter_map(pair).collect();
    scene.summary = format!("{} phases before and after their last change", pairs.len());
    if pairs.is_empty() {
        let at = (12.0, scene.height + 16.0);
        scene.text(
            at,
            Anchor::Start,
            "no confirmed change of level",
            Ink::note(),
        );
        scene.height += 32.0;
        return;
    }
    let names = (scene.width * 0.3).min(NAMES_MAX);
    let (left, right) = (names + 16.0, scene.width - 60.0);
    let values = pairs
        .iter()
        .flat_map(|pair| pair.before.iter().chain(&pair.after));
    let span = Span::of(values.copied(), (left, right));
    let x = |ratio: f64| span.x(ratio);
    let top = scene.height;
    let bottom = top + ROW * pairs.len() as f64;
    let ink = Ink::note();
    ratio::grid(scene, &span, (top, bottom));
    for (row, pair) in pairs.iter().enumerate() {
        let top = top + ROW * row as f64;
        let name = fitted(&pair.trend.phase, Ink::name(), names);
        scene.text((12.0, top + 16.0), Anchor::Start, &name, Ink::name());
        let shift = percent(pair.found.change.shift.exp());
        let cause = format!("{shift} {}", cause_of(&pair.found.cause));
        scene.text(
            (12.0, top + 33.0),
            Anchor::Start,
            &fitted(&cause, ink, names),
            ink,
        );
        let after = kind(pair.found).0;
        for (side, y, role) in [
            (&pair.before, top + 15.0, Role::Drain),
            (&pair.after, top + 35.0, after),
        ] {
            strip(scene, side, (&x, y), role);
            let count = format!("n {}", side.len());
            scene.text((right + 8.0, y), Anchor::Start, &count, ink);
        }
    }
    let words =
        "time over the middle of the old level; above: before, below: after; bar: quartiles";
    scene.text(
        (12.0, bottom + 29.0),
        Anchor::Start,
        &fitted(words, ink, scene.width - 24.0),
        ink,
    );
    scene.height = bottom + 44.0;
}

/// The last confirmed change of level; a change of shape has no before that compares.
fn pair(trend: &Trend) -> Option<Pair<'_>> {
    let real = |found: &&PhaseChange| found.change.confirmed && found.cause != Cause::Key;
    let found = trend.changes.iter().rev().find(real)?;
    let level = |at: &dyn Fn(usize, usize) -> bool| {
        trend
            .levels
            .iter()
            .find(|level| at(level.range.start, level.range.end))
    };
    let before = level(&|_, end| end == found.change.at)?;
    let after = level(&|start, _| start == found.change.at)?;
    // What may be a new level already belongs to neither side.
    let open = trend.changes.iter().find(|found| !found.change.confirmed);
    let end = open.map_or(trend.ratios.len(), |found| found.change.at);
    let values = |range: std::ops::Range<usize>| -> Vec<f64> {
        let ratios = trend
            .ratios
            .get(range.start..range.end.min(end))
            .unwrap_or_default();
        ratios
            .iter()
            .map(|ratio| ratio.value / before.ratio.value)
            .collect()
    };
    Some(Pair {
        trend,
        found,
        before: values(before.range.clone()),
        after: values(after.range.clone()),
    })
}

fn strip(scene: &mut Scene, values: &[f64], (x, y): (&dyn Fn(f64) -> f64, f64), role: Role) {
    let mut sorted = values.to_vec();
    let mut at = |q: f64| quantile(&mut sorted, q).unwrap_or(1.0);
    let (low, middle, high) = (at(0.25), at(0.5), at(0.75));
    if values.len() <= DOTS_MAX {
        for value in values {
            scene.dot((x(*value), y), 2.5, role, 0.35);
        }
    } else {
        let (least, most) = (at(0.01), at(0.99));
        scene.line(vec![(x(least), y), (x(most), y)], role, 2);
    }
    scene.rect(
        [x(low), y - 6.0, x(high).max(x(low) + 1.0), y + 6.0],
        role,
        0.45,
    );
    let middle = x(middle);
    scene.line(vec![(middle, y - 8.0), (middle, y + 8.0)], Role::Ink, 2);
}

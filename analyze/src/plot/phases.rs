//! Distribution of each phase: one row a phase on a logarithmic axis, every duration a dot (a
//! sample of them when there are many), the middle 80 % a bar, the median a mark.

use std::collections::BTreeMap;

use super::axis::duration;
use super::palette::Role;
use super::scene::{Anchor, Ink, Scene};
use super::waterfall::empty;
use super::{font, legend};
use crate::model::{Analysis, PhaseRow};
use crate::phase::durations;
use tracefmt::run::Run;

/// Dots of one phase at most.
const DOTS_MAX: usize = 160;
const ROW: f64 = 26.0;
/// The axis begins here at the least: clocks of the log tick in milliseconds.
const FLOOR_MS: f64 = 0.5;

/// A phase and in how many others it lies.
type Nested<'a> = (&'a PhaseRow, usize);

/// Durations by phase.
type Samples = BTreeMap<String, Vec<f64>>;

/// Logarithmic axis.
struct LogAxis {
    low: f64,
    high: f64,
    left: f64,
    right: f64,
}

impl LogAxis {
    fn x(&self, ms: f64) -> f64 {
        let (low, high) = (self.low.log10(), self.high.log10());
        let share = (ms.max(self.low).log10() - low) / (high - low);
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }
}

/// Draws all phases of the run that the analysis has a row for.
pub(super) fn draw(scene: &mut Scene, run: &Run, analysis: &Analysis) {
    let totals = analysis.phases.iter();
    let mut rows: Vec<&PhaseRow> = totals
        .filter(|row| row.gpu.is_none() && row.worker.is_none() && row.n > 0)
        .collect();
    rows.sort_by(|a, b| {
        b.median_ms
            .total_cmp(&a.median_ms)
            .then(a.phase.cmp(&b.phase))
    });
    let rows = nested(&rows);
    if rows.is_empty() {
        empty(scene, "The log has no timing lines.");
        return;
    }
    let samples = samples(run);
    scene.summary = summary(&rows);
    let entries = [
        (Role::Kernel, "median"),
        (Role::Hold, "10th to 90th percentile"),
        (Role::Soft, "one partition"),
    ];
    legend::draw(scene, &entries);
    let axis = axis(scene, &rows, &samples);
    scene.height += 2.0;
    for row in &rows {
        let values = samples
            .get(row.0.phase.as_str())
            .map_or(&[][..], Vec::as_slice);
        draw_row(scene, &axis, *row, values);
    }
    draw_axis(scene, &axis);
}

/// Phases with how deep they are nested, each part below its whole.
fn nested<'a>(rows: &[&'a PhaseRow]) -> Vec<Nested<'a>> {
    let known = |name: &str| rows.iter().any(|row| row.phase == name);
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        if !row.nested_in.as_deref().is_some_and(known) {
            add_parts(rows, row, 0, &mut out);
        }
    }
    out
}

fn add_parts<'a>(
    rows: &[&'a PhaseRow],
    whole: &'a PhaseRow,
    depth: usize,
    out: &mut Vec<Nested<'a>>,
) {
    out.push((whole, depth));
    let parts = rows
        .iter()
        .filter(|row| row.nested_in.as_ref() == Some(&whole.phase));
    for part in parts.filter(|_| depth < rows.len()) {
        add_parts(rows, part, depth + 1, out);
    }
}

fn summary(rows: &[Nested<'_>]) -> String {
    let parts = rows.iter().take(6);
    let parts: Vec<String> = parts
        .map(|(row, _)| format!("{} {}", row.phase, duration(row.median_ms)))
        .collect();
    format!("Median durations: {}.", parts.join(", "))
}

/// Durations of the run by phase, sorted.
fn samples(run: &Run) -> Samples {
    let mut out = durations(run);
    for values in out.values_mut() {
        values.retain(|ms| ms.is_finite());
        values.sort_by(f64::total_cmp);
    }
    out
}

fn name((row, depth): Nested<'_>) -> String {
    match depth {
        0 => row.phase.clone(),
        _ => format!("{} {}", "·".repeat(depth.min(4)), row.phase),
    }
}

fn axis(scene: &Scene, rows: &[Nested<'_>], samples: &Samples) -> LogAxis {
    let ends = samples
        .values()
        .flat_map(|v| v.first().into_iter().chain(v.last()));
    let sums = rows
        .iter()
        .flat_map(|(row, _)| [row.p10_ms, row.p90_ms, row.median_ms]);
    let all = ends.copied().chain(sums).filter(|ms| ms.is_finite());
    let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(low, high), ms| {
        (low.min(ms), high.max(ms))
    });
    let low = low.clamp(FLOOR_MS, 1e12);
    let high = high.max(low * 10.0).min(1e13);
    let size = Ink::name().size;
    let widest = rows.iter().map(|row| font::width(&name(*row), size, false));
    let left = (widest.fold(0.0, f64::max) + 22.0).min(scene.width * 0.38);
    let value = font::width("99.9 min", Ink::note().size, false);
    LogAxis {
        low: low * 0.85,
        high: high * 1.15,
        left,
        right: scene.width - value - 22.0,
    }
}

fn draw_row(scene: &mut Scene, axis: &LogAxis, nested: Nested<'_>, values: &[f64]) {
    let row = nested.0;
    let top = scene.height;
    let (bottom, middle) = (top + ROW, top + ROW / 2.0);
    scene.rect(
        [axis.left, top + 2.0, axis.right, bottom - 2.0],
        Role::Track,
        1.0,
    );
    for (ms, _) in ticks(axis) {
        let x = axis.x(ms);
        scene.line(vec![(x, top + 2.0), (x, bottom - 2.0)], Role::Grid, 1);
    }
    let (low, high) = (axis.x(row.p10_ms), axis.x(row.p90_ms));
    scene.rect(
        [low, middle - 6.0, high.max(low + 2.0), middle + 6.0],
        Role::Hold,
        0.75,
    );
    let every = values.len().div_ceil(DOTS_MAX).max(1);
    for (n, ms) in values.iter().step_by(every).enumerate() {
        // A fixed zigzag keeps equal durations apart.
        let lift = [0.0, 3.0, -3.0, 5.5, -5.5]
            .get(n % 5)
            .copied()
            .unwrap_or(0.0);
        scene.dot((axis.x(*ms), middle + lift), 1.4, Role::Soft, 1.0);
    }
    let median = axis.x(row.median_ms);
    scene.rect(
        [median - 1.5, middle - 9.0, median + 1.5, middle + 9.0],
        Role::Kernel,
        1.0,
    );
    let ink = Ink::name();
    let label = font::fit(&name(nested), ink.size, false, axis.left - 12.0);
    scene.text((axis.left - 8.0, middle), Anchor::End, &label, ink);
    let value = duration(row.median_ms);
    scene.text(
        (axis.right + 8.0, middle),
        Anchor::Start,
        &value,
        Ink::note(),
    );
    let part_of = row.nested_in.as_ref().map(|of| format!(", part of {of}"));
    let text = format!(
        "{}{}\nn {}, median {}, p10 {}, p90 {}, MAD {}",
        row.phase,
        part_of.unwrap_or_default(),
        row.n,
        duration(row.median_ms),
        duration(row.p10_ms),
        duration(row.p90_ms),
        duration(row.mad_ms),
    );
    scene.zone([0.0, top, scene.width, bottom], text);
    scene.height = bottom;
}

/// Round values of the axis and whether they begin a decade.
fn ticks(axis: &LogAxis) -> Vec<(f64, bool)> {
    let first = axis.low.log10().floor();
    let powers = (0..16).map(|n| 10_f64.powf(first + f64::from(n)));
    let all = powers.flat_map(|p| [(p, true), (2.0 * p, false), (5.0 * p, false)]);
    all.filter(|(ms, _)| (axis.low..=axis.high).contains(ms))
        .collect()
}

fn draw_axis(scene: &mut Scene, axis: &LogAxis) {
    let ink = Ink::note();
    let bottom = scene.height;
    let mut free_from = 2.0;
    let roomy = axis.right - axis.left > 560.0;
    for (ms, decade) in ticks(axis) {
        let x = axis.x(ms);
        let label = round_duration(ms);
        let half = font::width(&label, ink.size, false) / 2.0;
        let fits = x - half >= free_from && x + half <= scene.width - 2.0;
        if fits && (decade || roomy) {
            scene.text((x, bottom + 10.0), Anchor::Middle, &label, ink);
            free_from = x + half + 10.0;
        }
    }
    let middle = f64::midpoint(axis.left, axis.right);
    let name = "duration, logarithmic";
    scene.text((middle, bottom + 27.0), Anchor::Middle, name, ink);
    scene.height = bottom + 38.0;
}

/// A round duration without needless decimals.
fn round_duration(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{} ms", (ms * 10.0).round() / 10.0)
    } else {
        format!("{} s", (ms / 100.0).round() / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_durations_have_no_tail() {
        assert_eq!(round_duration(0.5), "0.5 ms");
        assert_eq!(round_duration(200.0), "200 ms");
        assert_eq!(round_duration(5000.0), "5 s");
    }

    #[test]
    fn the_axis_grows_with_the_logarithm() {
        let axis = LogAxis {
            low: 1.0,
            high: 100.0,
            left: 0.0,
            right: 200.0,
        };
        assert!((axis.x(10.0) - 100.0).abs() < 1e-9);
        assert!(
            axis.x(-3.0).abs() < 1e-9,
            "negative durations of stepped clocks"
        );
        assert!((axis.x(1e9) - 200.0).abs() < 1e-9);
    }
}

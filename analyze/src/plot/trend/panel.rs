//! One phase in a rectangle: grid, changes, levels, points.

use golden::history::{LevelRatio, PhaseChange, Point, Ratio, Trend};

use super::place::{Axis, index};
use super::{cause_of, change_words, fitted, kind, percent};
use crate::plot::axis::duration;
use crate::plot::font;
use crate::plot::palette::Role;
use crate::plot::scene::{Anchor, Ink, Scene};

/// How large a panel is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Its height in pixels, title and axis included.
    pub(super) height: f64,
    /// Radius of a point.
    dot: f64,
    /// Whether changes say what they came with.
    words: bool,
}

impl Size {
    pub(super) const SMALL: Self = Self {
        height: 178.0,
        dot: 2.0,
        words: false,
    };
    pub(super) const LARGE: Self = Self {
        height: 360.0,
        dot: 2.5,
        words: true,
    };
}

/// Room for the words of the value axis.
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
/// Title and words of the changes above the frame.
const TOP: f64 = 42.0;
/// Ticks below it.
const BOTTOM: f64 = 28.0;
/// Smallest reach of the value axis around 1.
const REACH_MIN: f64 = 0.03;
/// More points than this for each pixel are drawn as a column from the least to the most.
const CROWDED: f64 = 3.0;

/// A phase and where it is drawn.
#[derive(Debug)]
pub(super) struct Panel<'p> {
    trend: &'p Trend,
    points: &'p [Point],
    axis: &'p Axis,
    size: Size,
    /// By point, what its ratio and its level are multiplied with.
    scales: Vec<f64>,
    /// Lowest and highest ratio shown.
    range: (f64, f64),
}

impl<'p> Panel<'p> {
    pub(super) fn new(trend: &'p Trend, points: &'p [Point], axis: &'p Axis, size: Size) -> Self {
        let scales = scales(trend);
        Self {
            trend,
            points,
            axis,
            size,
            range: range(trend, &scales),
            scales,
        }
    }

    pub(super) fn draw(&self, scene: &mut Scene, bounds: [f64; 4]) {
        let [left, top, right, bottom] = bounds;
        let frame = [left + LEFT, top + TOP, right - RIGHT, bottom - BOTTOM];
        self.title(scene, bounds);
        scene.rect(frame, Role::Track, 1.0);
        self.values(scene, frame);
        self.ticks(scene, frame);
        self.changes(scene, frame);
        self.dots(scene, frame);
        self.levels(scene, frame);
    }

    fn title(&self, scene: &mut Scene, [left, top, right, _]: [f64; 4]) {
        let base = self.trend.base_ms.first().map_or(0.0, |(_, ms)| *ms);
        let many = match self.trend.base_ms.len() {
            _ if !self.scales.is_empty() => ", other work each",
            0 | 1 => "",
            _ => " at first",
        };
        let note = format!("0 % = {}{many}", duration(base));
        let ink = Ink::note();
        let room = right - left - LEFT - RIGHT;
        let beside = font::width(&note, ink.size, false) + 12.0;
        let name = Ink {
            bold: true,
            ..Ink::name()
        };
        let text = if self.size.words {
            String::new()
        } else {
            fitted(&self.trend.phase, name, (room - beside).max(40.0))
        };
        let y = top + 14.0;
        scene.text((left + LEFT, y), Anchor::Start, &text, name);
        if font::width(&text, name.size, true) + beside <= room {
            scene.text((right - RIGHT, y), Anchor::End, &note, ink);
        }
    }

    /// A ratio of the point at an index, or of a level that begins there, as it is shown.
    fn shown(&self, at: usize, ratio: Ratio) -> Ratio {
        scaled(&self.scales, at, ratio)
    }

    fn x(&self, frame: [f64; 4], at: usize) -> f64 {
        let point = self.trend.points.get(at).copied().unwrap_or(0);
        // Points keep off the edges of the frame.
        let (left, right) = (frame[0] + 5.0, frame[2] - 5.0);
        left + self.axis.share(point) * (right - left)
    }

    /// Pixel of a ratio, moved to the nearest edge when it lies outside.
    fn y(&self, frame: [f64; 4], ratio: f64) -> f64 {
        let (low, high) = self.range;
        let share = (ratio - low) / (high - low);
        frame[3] - share.clamp(0.0, 1.0) * (frame[3] - frame[1])
    }

    fn values(&self, scene: &mut Scene, frame: [f64; 4]) {
        let ink = Ink::note();
        for value in self.steps(frame[3] - frame[1]) {
            let y = self.y(frame, 1.0 + value);
            scene.line(vec![(frame[0], y), (frame[2], y)], Role::Grid, 1);
            let words = fitted(&change_words(value), ink, LEFT - 10.0);
            scene.text((frame[0] - 6.0, y), Anchor::End, &words, ink);
        }
    }

    /// Round changes within the range.
    fn steps(&self, height: f64) -> Vec<f64> {
        let (low, high) = (self.range.0 - 1.0, self.range.1 - 1.0);
        let most = (height / 26.0).max(1.0);
        let mut step = 0.01;
        let mut factors = [2.0, 2.5, 2.0].into_iter().cycle();
        while (high - low) / step > most && step < 1e30 {
            step *= factors.next().unwrap_or(2.0);
        }
        let first = (low / step).ceil();
        (0..60)
            .map(|n| (first + f64::from(n)) * step)
            .take_while(|value| *value <= high)
            .collect()
    }

    fn ticks(&self, scene: &mut Scene, frame: [f64; 4]) {
        let ink = Ink::note();
        let (left, right) = (frame[0] + 5.0, frame[2] - 5.0);
        let mut free_from = frame[0] - LEFT + 4.0;
        for (share, words) in self.axis.ticks(right - left) {
            let x = left + share * (right - left);
            let half = font::width(&words, ink.size, false) / 2.0;
            let middle = x.min(frame[2] + RIGHT - half - 3.0);
            scene.line(vec![(x, frame[3]), (x, frame[3] + 4.0)], Role::Soft, 1);
            if middle - half >= free_from {
                scene.text((middle, frame[3] + 13.0), Anchor::Middle, &words, ink);
                free_from = middle + half + 8.0;
            }
        }
    }

    fn changes(&self, scene: &mut Scene, frame: [f64; 4]) {
        for found in &self.trend.changes {
            let change = &found.change;
            let (role, words) = kind(found);
            let (from, to) = (
                self.boundary(frame, change.low),
                self.boundary(frame, change.high),
            );
            let (from, to) = if to - from < 3.0 {
                let middle = f64::midpoint(from, to);
                (middle - 1.5, middle + 1.5)
            } else {
                (from, to)
            };
            scene.rect([from, frame[1], to, frame[3]], role, 0.30);
            let at = self.boundary(frame, change.at);
            scene.line(vec![(at, frame[1]), (at, frame[3])], role, 1);
            scene.zone(
                [from - 2.0, frame[1], to + 2.0, frame[3]],
                self.hover(found, words),
            );
        }
        self.change_words(scene, frame);
    }

    /// The words of the changes, the largest first where there is no room for all.
    fn change_words(&self, scene: &mut Scene, frame: [f64; 4]) {
        let ink = Ink {
            role: Role::Ink,
            ..Ink::note()
        };
        let mut order: Vec<&PhaseChange> = self.trend.changes.iter().collect();
        order.sort_by(|a, b| b.change.shift.abs().total_cmp(&a.change.shift.abs()));
        let mut taken: Vec<(f64, f64)> = Vec::new();
        for found in order {
            let text = self.words(found);
            let half = font::width(&text, ink.size, false) / 2.0 + 3.0;
            let at = self.boundary(frame, found.change.at);
            let (least, most) = (frame[0] - 40.0 + half, frame[2] + RIGHT - half - 1.0);
            let middle = at.max(least).min(most);
            let (from, to) = (middle - half, middle + half);
            if from >= frame[0] - 41.0 && taken.iter().all(|(a, b)| to < *a || from > *b) {
                scene.text((middle, frame[1] - 9.0), Anchor::Middle, &text, ink);
                taken.push((from, to));
            }
        }
    }

    /// Where a level begins: between its first point and the one before.
    fn boundary(&self, frame: [f64; 4], at: usize) -> f64 {
        let before = self.x(frame, at.saturating_sub(1));
        f64::midpoint(before, self.x(frame, at))
    }

    fn words(&self, found: &PhaseChange) -> String {
        let cause = cause_of(&found.cause);
        let shape = found.cause == golden::history::Cause::Key;
        let shift = percent(found.change.shift.exp());
        match (shape, self.size.words) {
            (true, _) => cause,
            (false, true) => format!("{shift} {cause}"),
            (false, false) => shift,
        }
    }

    fn hover(&self, found: &PhaseChange, words: &str) -> String {
        let at = |index: usize| {
            let point = self
                .trend
                .points
                .get(index)
                .and_then(|at| self.points.get(*at));
            point.map_or_else(String::new, |point| {
                format!("{} {}", point.commit, point.time)
            })
        };
        let change = &found.change;
        let shift = percent(change.shift.exp());
        let (phase, cause) = (&self.trend.phase, cause_of(&found.cause));
        format!(
            "{phase}: {shift} at {}\nbetween {} and {}\n{words}: {cause}",
            at(change.at).trim(),
            at(change.low).trim(),
            at(change.high).trim(),
        )
    }

    fn dots(&self, scene: &mut Scene, frame: [f64; 4]) {
        let ratios = &self.trend.ratios;
        if ratios.len() as f64 > CROWDED * (frame[2] - frame[0]) {
            self.columns(scene, frame);
            return;
        }
        for (at, ratio) in ratios.iter().enumerate() {
            let ratio = self.shown(at, *ratio);
            let (x, y) = (self.x(frame, at), self.y(frame, ratio.value));
            let (low, high) = (self.y(frame, ratio.low), self.y(frame, ratio.high));
            if low - high > 2.0 {
                scene.line(vec![(x, low), (x, high)], Role::Hold, 1);
            }
            scene.dot((x, y), self.size.dot, Role::Hold, 1.0);
        }
    }

    /// Points too many to be told apart: each pixel from its least to its most.
    fn columns(&self, scene: &mut Scene, frame: [f64; 4]) {
        let mut columns: Vec<Option<(f64, f64)>> = vec![None; index(frame[2] - frame[0]) + 1];
        for (at, ratio) in self.trend.ratios.iter().enumerate() {
            let ratio = self.shown(at, *ratio).value;
            let slot = columns.get_mut(index(self.x(frame, at) - frame[0]));
            if let Some(slot) = slot {
                let (low, high) = slot.get_or_insert((ratio, ratio));
                *low = low.min(ratio);
                *high = high.max(ratio);
            }
        }
        for (column, range) in columns.into_iter().enumerate() {
            let Some((low, high)) = range else { continue };
            let x = frame[0] + column as f64;
            let (bottom, top) = (self.y(frame, low), self.y(frame, high));
            scene.rect([x, top - 1.0, x + 1.0, bottom + 1.0], Role::Hold, 0.9);
        }
    }

    fn levels(&self, scene: &mut Scene, frame: [f64; 4]) {
        for level in &self.trend.levels {
            let from = self.boundary(frame, level.range.start);
            let last = level.range.end.saturating_sub(1);
            let to = if level.range.end < self.trend.points.len() {
                self.boundary(frame, level.range.end)
            } else {
                self.x(frame, last) + 3.0
            };
            let from = if level.range.start == 0 {
                from - 3.0
            } else {
                from
            };
            let ratio = self.shown(level.range.start, level.ratio);
            let (low, high) = (self.y(frame, ratio.low), self.y(frame, ratio.high));
            scene.rect([from, high, to, low], Role::Kernel, 0.25);
            let y = self.y(frame, ratio.value);
            scene.line(vec![(from, y), (to, y)], Role::Kernel, 2);
            let shift = percent(ratio.value);
            let (a, b) = (percent(ratio.low), percent(ratio.high));
            let n = level.range.len();
            let text = format!("{}: {shift} ({a} to {b}), {n} points", self.trend.phase);
            scene.zone([from, y - 5.0, to, y + 5.0], text);
        }
    }
}

/// Fewest points of a kind of work, on average, for which ratios that begin anew say something.
const POINTS_OF_WORK_MIN: usize = 3;

/// What ratios are multiplied with. Where nearly every point is of other work, as in a table of
/// published figures, each would stand at 0 %: there all are ratios to the first of all, and the
/// changes of shape between them say what that is worth.
fn scales(trend: &Trend) -> Vec<f64> {
    let (works, count) = (trend.base_ms.len(), trend.ratios.len());
    let first = trend.base_ms.first().map_or(1.0, |(_, ms)| *ms);
    if works < 2 || count >= POINTS_OF_WORK_MIN * works || first <= 0.0 {
        return Vec::new();
    }
    let base_of = |at: usize| {
        let mut bases = trend.base_ms.iter().rev();
        bases
            .find(|(start, _)| *start <= at)
            .map_or(first, |(_, ms)| *ms)
    };
    (0..count).map(|at| base_of(at) / first).collect()
}

fn scaled(scales: &[f64], at: usize, ratio: Ratio) -> Ratio {
    let by = scales.get(at).copied().unwrap_or(1.0);
    Ratio {
        value: ratio.value * by,
        low: ratio.low * by,
        high: ratio.high * by,
    }
}

/// Lowest and highest ratio shown: the levels and all but the wildest points.
fn range(trend: &Trend, scales: &[f64]) -> (f64, f64) {
    let shown = |(at, ratio): (usize, &Ratio)| scaled(scales, at, *ratio).value;
    let mut ratios: Vec<f64> = trend.ratios.iter().enumerate().map(shown).collect();
    ratios.sort_by(f64::total_cmp);
    let count = ratios.len();
    let skip = count / 50;
    let shown = ratios
        .get(skip..count.saturating_sub(skip))
        .unwrap_or_default();
    let level = |level: &LevelRatio| scaled(scales, level.range.start, level.ratio).value;
    let levels = trend.levels.iter().map(level);
    let all = shown
        .iter()
        .copied()
        .chain(levels)
        .filter(|ratio| ratio.is_finite());
    let (low, high) = all.fold((1.0_f64, 1.0_f64), |(low, high), ratio| {
        (low.min(ratio), high.max(ratio))
    });
    let pad = ((high - low) * 0.10).max(0.005);
    (
        (low - pad).min(1.0 - REACH_MIN),
        (high + pad).max(1.0 + REACH_MIN),
    )
}

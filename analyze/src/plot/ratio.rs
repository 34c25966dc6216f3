//! An axis of ratios: where 1 is "as before", and ticks are round changes in per cent.

use golden::stats::quantile;

use super::font;
use super::palette::Role;
use super::scene::{Anchor, Ink, Scene};

/// From ratios to pixels; what lies outside is moved to the nearest edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    low: f64,
    high: f64,
    left: f64,
    right: f64,
}

impl Span {
    /// An axis that has nearly all of the values on it, between two pixels.
    pub(super) fn of(values: impl Iterator<Item = f64>, (left, right): (f64, f64)) -> Self {
        let mut all: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let low = quantile(&mut all, 0.005).unwrap_or(1.0).min(0.98);
        let high = quantile(&mut all, 0.995).unwrap_or(1.0).max(1.02);
        let pad = (high - low) * 0.05;
        Self {
            low: low - pad,
            high: high + pad,
            left,
            right: right.max(left + 1.0),
        }
    }

    /// Pixel of a ratio.
    pub(super) fn x(&self, ratio: f64) -> f64 {
        let share = ((ratio - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.left + share * (self.right - self.left)
    }

    /// Round changes on the axis.
    fn ticks(&self) -> Vec<f64> {
        let (low, high, width) = (self.low, self.high, self.right - self.left);
        let mut step = 0.01;
        let mut factors = [2.0, 2.5, 2.0].into_iter().cycle();
        while (high - low) / step > (width / 60.0).max(1.0) && step < 1e30 {
            step *= factors.next().unwrap_or(2.0);
        }
        let first = ((low - 1.0) / step).ceil();
        (0..100)
            .map(|n| (first + f64::from(n)) * step)
            .take_while(|value| *value <= high - 1.0)
            .collect()
    }
}

/// Grid lines from top to bottom, and their words below.
pub(super) fn grid(scene: &mut Scene, span: &Span, (top, bottom): (f64, f64)) {
    let ink = Ink::note();
    let mut free_from = 0.0;
    for value in span.ticks() {
        let at = span.x(1.0 + value);
        scene.line(vec![(at, top), (at, bottom)], Role::Grid, 1);
        let words = change_words(value);
        let half = font::width(&words, ink.size, false) / 2.0;
        if at - half > free_from && at + half < scene.width - 2.0 {
            scene.text((at, bottom + 10.0), Anchor::Middle, &words, ink);
            free_from = at + half + 8.0;
        }
    }
}

/// A ratio as a signed change.
pub(super) fn percent(ratio: f64) -> String {
    if !ratio.is_finite() {
        return "any".to_owned();
    }
    let change = (ratio - 1.0) * 100.0;
    if change.abs() >= 99.5 {
        return format!("× {ratio:.2}");
    }
    let text = format!("{change:+.1} %");
    text.replace('-', "\u{2212}")
}

/// A round change as the axes say it.
pub(super) fn change_words(value: f64) -> String {
    if value.abs() < 1e-9 {
        "0 %".to_owned()
    } else if value > 98.0 {
        format!("× {:.0e}", value + 1.0)
    } else {
        format!("{:+.0} %", value * 100.0).replace('-', "\u{2212}")
    }
}

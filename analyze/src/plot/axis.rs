//! Axes: time to pixels, ticks at round values as dense as their labels allow.

use super::font;
use super::palette::Role;
use super::scene::{Anchor, Ink, Scene};

/// Steps between ticks of a time axis, milliseconds.
const TIME_STEPS: [f64; 27] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 1.2e5,
    3e5, 6e5, 1.2e6, 1.8e6, 3.6e6, 7.2e6, 2.16e7, 4.32e7, 8.64e7, 6.048e8,
];

/// Most ticks of an axis, whatever its numbers are.
const TICKS_MAX: u32 = 200;

/// A time axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeAxis {
    /// Milliseconds at the left edge.
    start_ms: f64,
    /// Milliseconds at the right edge; later than the start.
    pub(super) end_ms: f64,
    /// Left edge in pixels.
    pub(super) left: f64,
    /// Right edge in pixels.
    pub(super) right: f64,
}

impl TimeAxis {
    /// An axis over a stretch of time; an empty stretch is widened to a millisecond.
    pub(super) fn new((start_ms, end_ms): (f64, f64), left: f64, right: f64) -> Self {
        Self {
            start_ms,
            end_ms: end_ms.max(start_ms + 1.0),
            left,
            right: right.max(left + 1.0),
        }
    }

    /// Pixel of a moment, moved to the nearest edge when it lies outside.
    pub(super) fn x(&self, ms: f64) -> f64 {
        let share = (ms - self.start_ms) / (self.end_ms - self.start_ms);
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }

    /// Moment of a pixel.
    pub(super) fn ms(&self, x: f64) -> f64 {
        let share = (x - self.left) / (self.right - self.left);
        self.start_ms + share * (self.end_ms - self.start_ms)
    }

    /// Width in pixels.
    pub(super) const fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Whether moments are given in minutes rather than seconds.
    fn long(&self) -> bool {
        self.end_ms.abs() >= 120_000.0
    }

    /// Ticks: moment and label.
    fn ticks(&self) -> Vec<(f64, String)> {
        let per_ms = self.width() / (self.end_ms - self.start_ms);
        let roomy = |step: &&f64| {
            let widest = clock(self.end_ms, **step, self.long());
            **step * per_ms >= font::width(&widest, Ink::note().size, false) + 16.0
        };
        let step = TIME_STEPS.iter().find(roomy).copied();
        let step = step.unwrap_or(self.end_ms - self.start_ms);
        let first = (self.start_ms / step).ceil();
        let moments = (0..TICKS_MAX).map(|n| (first + f64::from(n)) * step);
        let inside = moments.take_while(|ms| *ms <= self.end_ms);
        inside
            .map(|ms| (ms, clock(ms, step, self.long())))
            .collect()
    }

    /// Grid lines, to be drawn before what lies on them.
    pub(super) fn grid(&self, scene: &mut Scene, top: f64, bottom: f64) {
        for (ms, _) in self.ticks() {
            let x = self.x(ms);
            scene.line(vec![(x, top), (x, bottom)], Role::Grid, 1);
        }
    }

    /// Labels of the ticks and the axis' name below all that is drawn.
    pub(super) fn labels(&self, scene: &mut Scene) {
        let bottom = scene.height;
        let ink = Ink::note();
        for (ms, label) in self.ticks() {
            let x = self.x(ms);
            let half = font::width(&label, ink.size, false) / 2.0;
            if x - half >= 2.0 && x + half <= scene.width - 2.0 {
                scene.text((x, bottom + 10.0), Anchor::Middle, &label, ink);
            }
        }
        let unit = unit(self.end_ms);
        let name = format!("time since the run's start ({unit})");
        let middle = f64::midpoint(self.left, self.right);
        let half = font::width(&name, ink.size, false) / 2.0;
        let middle = middle.min(scene.width - half - 4.0).max(half + 4.0);
        scene.text((middle, bottom + 27.0), Anchor::Middle, &name, ink);
        scene.height = bottom + 38.0;
    }
}

fn unit(end_ms: f64) -> &'static str {
    if end_ms < 120_000.0 {
        "seconds"
    } else if end_ms < 3_600_000.0 {
        "min:s"
    } else {
        "h:min:s"
    }
}

/// A moment as a clock reads it: seconds such as `12.5`, or when `long` minutes and hours such
/// as `4:05` and `1:02:03`; decimals as the step needs.
pub(super) fn clock(ms: f64, step_ms: f64, long: bool) -> String {
    let decimals = if step_ms >= 1000.0 {
        0
    } else if step_ms >= 100.0 {
        1
    } else if step_ms >= 10.0 {
        2
    } else {
        3
    };
    let seconds = ms / 1000.0;
    if !long {
        return format!("{seconds:.decimals$}");
    }
    let sign = if seconds < 0.0 { "-" } else { "" };
    let seconds = seconds.abs();
    let minutes = ((seconds + 1e-7) / 60.0).floor();
    let rest = (seconds - minutes * 60.0).max(0.0);
    let pad = if decimals == 0 { 2 } else { 3 + decimals };
    if minutes < 60.0 {
        return format!("{sign}{minutes}:{rest:0pad$.decimals$}");
    }
    let hours = (minutes / 60.0).floor();
    let minutes = minutes - hours * 60.0;
    format!("{sign}{hours}:{minutes:02}:{rest:0pad$.decimals$}")
}

/// Round values from zero up to at least `max`, at most `count` steps.
pub(super) fn counts(max: f64, count: f64) -> Vec<f64> {
    let raw = (max / count.max(1.0)).max(1.0);
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power);
    let step = step.into_iter().find(|s| *s >= raw - 1e-9);
    let step = step.unwrap_or(raw).max(1.0);
    let last = (max / step).ceil().clamp(1.0, 50.0);
    let mut out = Vec::new();
    let mut n = 0.0;
    while n <= last {
        out.push(n * step);
        n += 1.0;
    }
    out
}

/// A duration in at most four digits with its unit.
pub(crate) fn duration(ms: f64) -> String {
    let digits = |n: f64| -> usize {
        match n.abs() {
            n if n >= 100.0 => 0,
            n if n >= 10.0 => 1,
            _ => 2,
        }
    };
    match ms.abs() {
        n if !n.is_finite() => "?".to_owned(),
        n if n < 0.0005 => "0 ms".to_owned(),
        n if n < 1000.0 => format!("{:.*} ms", digits(ms), ms),
        n if n < 120_000.0 => format!("{:.*} s", digits(ms / 1000.0), ms / 1000.0),
        n if n < 7_200_000.0 => format!("{:.*} min", digits(ms / 60_000.0), ms / 60_000.0),
        _ => format!("{:.*} h", digits(ms / 3_600_000.0), ms / 3_600_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn clocks_read_like_clocks() {
        for (ms, step, expected) in [
            (0.0, 1000.0, "0:00"),
            (12_500.0, 500.0, "0:12.5"),
            (245_000.0, 5000.0, "4:05"),
            (245_500.0, 500.0, "4:05.5"),
            (3_723_000.0, 1000.0, "1:02:03"),
            (60_000.0, 60_000.0, "1:00"),
            (-245_000.0, 1000.0, "-4:05"),
        ] {
            assert_eq!(clock(ms, step, true), expected);
        }
        for (ms, step, expected) in [(12_500.0, 500.0, "12.5"), (9.0, 1.0, "0.009")] {
            assert_eq!(clock(ms, step, false), expected);
        }
    }

    #[test]
    fn durations_keep_three_digits() {
        for (ms, expected) in [
            (0.0, "0 ms"),
            (1.0, "1.00 ms"),
            (845.2, "845 ms"),
            (1588.0, "1.59 s"),
            (65_000.0, "65.0 s"),
            (600_000.0, "10.0 min"),
            (9e6, "2.50 h"),
            (f64::NAN, "?"),
        ] {
            assert_eq!(duration(ms), expected);
        }
    }

    #[test]
    fn counts_are_round_and_reach_the_maximum() {
        assert_eq!(counts(18.0, 4.0), [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert_eq!(counts(1.0, 4.0), [0.0, 1.0]);
        assert_eq!(counts(0.0, 4.0), [0.0, 1.0]);
    }

    proptest! {
        #[test]
        fn ticks_are_inside_and_their_labels_apart(
            start in 0.0..1e9_f64, span in 0.01..1e9_f64, width in 150.0..2000.0_f64
        ) {
            let axis = TimeAxis::new((start, start + span), 100.0, 100.0 + width);
            let ink = Ink::note();
            let ticks = axis.ticks();
            for pair in ticks.windows(2) {
                let reach = |n: &(f64, String)| font::width(&n.1, ink.size, false) / 2.0;
                let gap = axis.x(pair[1].0) - axis.x(pair[0].0);
                prop_assert!(gap > reach(&pair[0]) + reach(&pair[1]), "{pair:?}");
            }
            for (ms, _) in ticks {
                prop_assert!((start..=start + span.max(1.0)).contains(&ms));
            }
        }
    }
}

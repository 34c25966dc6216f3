//! Along the axis: commits in order, or dates.

use golden::history::{Point, seconds};
use jiff::civil::{Date, date};

use crate::plot::font;
use crate::plot::scene::Ink;

/// What stands along the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Commits, one beside the other.
    #[default]
    Commits,
    /// Dates, as far apart as they are; commits where a point has none that can be read.
    Dates,
}

/// The axis of all panels of a picture.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Place of every point, in steps or days.
    places: Vec<f64>,
    /// The smallest place.
    first: f64,
    /// The largest; more than the smallest.
    last: f64,
    /// For commits: the name at each step.
    names: Vec<String>,
}

/// Tick: its place and words.
pub(super) type Tick = (f64, String);

/// Months between ticks of a date axis.
const MONTHS: [i32; 7] = [1, 2, 3, 6, 12, 24, 60];

impl Axis {
    pub(super) fn new(points: &[Point], by: By) -> Self {
        let days: Option<Vec<f64>> = match by {
            By::Commits => None,
            By::Dates => points.iter().map(|point| day(&point.time)).collect(),
        };
        if let Some(places) = days.filter(|days| !days.is_empty()) {
            return Self::over(places, Vec::new());
        }
        let (mut places, mut names) = (Vec::new(), Vec::new());
        let mut before: Option<&Point> = None;
        for point in points {
            let same = |last: &Point| last.commit == point.commit && last.time == point.time;
            if !before.is_some_and(same) {
                names.push(name(point));
            }
            places.push(names.len().saturating_sub(1) as f64);
            before = Some(point);
        }
        Self::over(places, names)
    }

    fn over(places: Vec<f64>, names: Vec<String>) -> Self {
        let first = places.iter().copied().fold(f64::INFINITY, f64::min);
        let last = places.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let first = if first.is_finite() { first } else { 0.0 };
        Self {
            places,
            first,
            last: if last > first { last } else { first + 1.0 },
            names,
        }
    }

    /// Share of the axis, 0 to 1, of a point.
    pub(super) fn share(&self, point: usize) -> f64 {
        let place = self.places.get(point).copied().unwrap_or(self.first);
        (place - self.first) / (self.last - self.first)
    }

    /// Ticks that fit into `width` pixels: share of the axis and words.
    pub(super) fn ticks(&self, width: f64) -> Vec<Tick> {
        if self.names.is_empty() {
            self.months(width)
        } else {
            self.commits(width)
        }
    }

    fn commits(&self, width: f64) -> Vec<Tick> {
        let ink = Ink::note();
        let widths = self.names.iter().take(50);
        let widest = widths.map(|name| font::width(name, ink.size, false));
        let room = widest.fold(20.0, f64::max) + 14.0;
        let most = index(width / room).max(1);
        let step = self.names.len().div_ceil(most).max(1);
        let ticks = self.names.iter().enumerate().step_by(step);
        ticks
            .map(|(at, name)| (at as f64 / (self.last - self.first), name.clone()))
            .collect()
    }

    fn months(&self, width: f64) -> Vec<Tick> {
        let room = font::width("2024-05", Ink::note().size, false) + 14.0;
        let per_month = width / ((self.last - self.first) / 30.44);
        let step = MONTHS
            .into_iter()
            .find(|n| f64::from(*n) * per_month >= room);
        let step = step.unwrap_or(120);
        let mut ticks = Vec::new();
        let mut month = first_of_month(self.first);
        while let Some(first) = month.filter(|month| days_of(*month) <= self.last) {
            let at = days_of(first);
            let number = i32::from(first.year()) * 12 + i32::from(first.month()) - 1;
            if at >= self.first && number % step == 0 {
                let words = first.strftime("%Y-%m").to_string();
                ticks.push(((at - self.first) / (self.last - self.first), words));
            }
            month = first.checked_add(jiff::Span::new().months(1)).ok();
        }
        if ticks.is_empty() {
            let day = |days: f64| day_name(days).unwrap_or_default();
            ticks.push((0.0, day(self.first)));
        }
        ticks
    }
}

/// Commit, else the time, else nothing.
fn name(point: &Point) -> String {
    let text = if point.commit.is_empty() {
        &point.time
    } else {
        &point.commit
    };
    text.chars().take(10).collect()
}

fn epoch() -> Date {
    date(1970, 1, 1)
}

/// Days since 1970 of a date or an instant as text.
fn day(time: &str) -> Option<f64> {
    seconds(time).map(|seconds| seconds / 86_400.0)
}

fn days_of(day: Date) -> f64 {
    let span = day.since((jiff::Unit::Day, epoch()));
    span.map_or(0.0, |span| f64::from(span.get_days()))
}

fn first_of_month(days: f64) -> Option<Date> {
    let start = after_epoch(days)?;
    Date::new(start.year(), start.month(), 1).ok()
}

fn day_name(days: f64) -> Option<String> {
    Some(after_epoch(days)?.to_string())
}

fn after_epoch(days: f64) -> Option<Date> {
    let whole = i32::try_from(index(days.max(0.0))).ok()?;
    epoch()
        .checked_add(jiff::Span::new().try_days(whole).ok()?)
        .ok()
}

/// A share or count of pixels as a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what fits"
)]
pub(super) fn index(value: f64) -> usize {
    value.clamp(0.0, 1e9) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(commit: &str, time: &str) -> Point {
        Point {
            commit: commit.to_owned(),
            time: time.to_owned(),
            ..Point::default()
        }
    }

    #[test]
    fn days_are_counted_from_dates_and_instants() {
        assert_eq!(day("1970-01-11"), Some(10.0));
        assert_eq!(day("1970-01-02T12:00:00Z"), Some(1.5));
        assert_eq!(day("2024-05-18 some words"), day("2024-05-18"));
        assert_eq!((day("soon"), day("")), (None, None));
    }

    #[test]
    fn neighbours_of_one_commit_share_a_place() {
        let points = [("a", "1"), ("a", "1"), ("b", "1"), ("c", "2")];
        let points: Vec<Point> = points.iter().map(|(c, t)| point(c, t)).collect();
        let axis = Axis::new(&points, By::Commits);
        let shares: Vec<f64> = (0..4).map(|at| axis.share(at)).collect();
        assert_eq!(shares, [0.0, 0.0, 0.5, 1.0]);
        let ticks = axis.ticks(1000.0);
        assert_eq!(
            ticks.iter().map(|t| t.1.as_str()).collect::<Vec<_>>(),
            ["a", "b", "c"]
        );
        assert_eq!(axis.ticks(10.0).len(), 1);
    }

    #[test]
    fn dates_stand_as_far_apart_as_they_are() {
        let points = [
            ("a", "2024-05-18"),
            ("b", "2024-05-28"),
            ("c", "2024-08-26"),
        ];
        let points: Vec<Point> = points.iter().map(|(c, t)| point(c, t)).collect();
        let axis = Axis::new(&points, By::Dates);
        assert!((axis.share(1) - 0.1).abs() < 1e-9);
        let names: Vec<String> = axis.ticks(1000.0).into_iter().map(|t| t.1).collect();
        assert_eq!(names, ["2024-06", "2024-07", "2024-08"]);
        let odd = [points[0].clone(), point("b", "soon")];
        assert_eq!(
            Axis::new(&odd, By::Dates).ticks(500.0).len(),
            2,
            "falls back to commits"
        );
    }

    #[test]
    fn nothing_and_one_point_have_an_axis() {
        assert!(Axis::new(&[], By::Dates).share(0).abs() < 1e-9);
        let axis = Axis::new(&[point("a", "2024-05-18")], By::Dates);
        assert_eq!(axis.ticks(500.0).len(), 1);
    }
}

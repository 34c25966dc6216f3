//! Pictures of a history: each phase as a ratio over commits or dates, its levels with their
//! intervals, its changes with what they came with; and what the last change did to the times.
//!
//! Levels and changes are those of `golden::history`, so that a picture and a gate cannot
//! disagree; nothing is computed here but places.

mod panel;
mod place;
mod spread;

pub use place::By;

use golden::history::{Cause, PhaseChange, Point, Trend};

use self::panel::{Panel, Size};
use self::place::Axis;
use super::font;
use super::legend;
use super::palette::Role;
pub(super) use super::ratio::{change_words, percent};
use super::scene::{Anchor, Ink, Scene};
use super::{Style, scene_of};

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct History<'h> {
    /// The points, in order.
    pub points: &'h [Point],
    /// The phases to draw, in order.
    pub trends: &'h [Trend],
    /// What stands along the axis.
    pub by: By,
}

/// Narrowest panel of the page of all phases, in pixels.
const PANEL_MIN: f64 = 300.0;

/// Most panels beside each other.
const COLUMNS_MAX: usize = 4;

/// All phases as small panels on one page.
pub fn panels(history: &History<'_>, style: Style) -> Scene {
    let mut scene = scene_of(style, "Phases over their history");
    let axis = Axis::new(history.points, history.by);
    let columns = (1..=COLUMNS_MAX)
        .rev()
        .find(|n| scene.width / *n as f64 >= PANEL_MIN)
        .unwrap_or(1)
        .min(history.trends.len().max(1));
    let width = scene.width / columns as f64;
    let size = Size::SMALL;
    for row in history.trends.chunks(columns) {
        let top = scene.height;
        for (column, trend) in row.iter().enumerate() {
            let left = column as f64 * width;
            let bounds = [left, top, left + width, top + size.height];
            Panel::new(trend, history.points, &axis, size).draw(&mut scene, bounds);
        }
        scene.height = top + size.height;
    }
    finish(&mut scene, history);
    scene
}

/// One phase, large.
pub fn single(history: &History<'_>, trend: &Trend, style: Style) -> Scene {
    let mut scene = scene_of(style, &trend.phase);
    let axis = Axis::new(history.points, history.by);
    let size = Size::LARGE;
    let bounds = [0.0, scene.height, scene.width, scene.height + size.height];
    Panel::new(trend, history.points, &axis, size).draw(&mut scene, bounds);
    scene.height += size.height;
    let one = History {
        trends: std::slice::from_ref(trend),
        ..*history
    };
    finish(&mut scene, &one);
    scene
}

/// The times before and after the last change of each phase that has one.
pub fn before_and_after(history: &History<'_>, style: Style) -> Scene {
    let mut scene = scene_of(style, "Before and after the last change");
    spread::draw(&mut scene, history);
    scene
}

/// Legend, and the picture in a sentence.
fn finish(scene: &mut Scene, history: &History<'_>) {
    let (mut count, mut kinds) = (0, Vec::new());
    for found in history.trends.iter().flat_map(|trend| &trend.changes) {
        let kind = kind(found);
        count += usize::from(found.cause != Cause::Key);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.sort_by_key(|(role, _)| *role);
    let mut entries = vec![
        (Role::Hold, "a run, or runs of one commit"),
        (Role::Kernel, "level, 95 % interval"),
    ];
    entries.extend(kinds);
    if history.trends.is_empty() {
        let at = (12.0, scene.height + 16.0);
        scene.text(at, Anchor::Start, "no phase to draw", Ink::note());
        scene.height += 32.0;
    } else {
        legend::draw(scene, &entries);
    }
    let (phases, points) = (history.trends.len(), history.points.len());
    scene.summary = format!("{phases} phases over {points} points, {count} changes of level");
}

/// Colour and words of a change.
pub(super) fn kind(found: &PhaseChange) -> (Role, &'static str) {
    match &found.cause {
        Cause::Key => (Role::Queue, "change of shape, or of the machine by name"),
        _ if !found.change.confirmed => (Role::Unattributed, "not confirmed yet"),
        Cause::Machine => (Role::Starved, "the machine: no commit changed"),
        Cause::Commits(_) if found.change.shift > 0.0 => (Role::Bad, "slower with a commit"),
        Cause::Commits(_) => (Role::Barrier, "faster with a commit"),
    }
}

/// What a change came with, in a word or two.
pub fn cause_of(cause: &Cause) -> String {
    match cause {
        Cause::Key => "shape".to_owned(),
        Cause::Machine => "machine".to_owned(),
        Cause::Commits(commits) => match commits.as_slice() {
            [one] => short(one),
            [first, .., last] => format!("{} to {}", short(first), short(last)),
            [] => "machine".to_owned(),
        },
    }
}

/// The beginning of a commit.
fn short(commit: &str) -> String {
    commit.chars().take(10).collect()
}

/// A text cut to fit.
fn fitted(text: &str, ink: Ink, room: f64) -> String {
    font::fit(text, ink.size, ink.bold, room)
}

#[cfg(test)]
mod tests;

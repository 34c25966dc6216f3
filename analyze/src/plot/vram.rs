//! Device memory of a replayed schedule: one panel a card, stacked by buffer and worker over the
//! use by others, with the card's capacity, what the driver counts as used, and the requests
//! that fail. A changed rule is a panel of its own below, to the same scale.

use super::axis::{TimeAxis, counts};
use super::bytes::{size, ticks};
use super::palette::Role;
use super::scene::{Anchor, Ink, Scene};
use super::waterfall::empty;
use super::{font, legend, strip};
use crate::vram::{Failure, Lane, most_telling};

const PANEL: f64 = 200.0;

/// Colours of the kinds of buffer, the largest first.
const KINDS: [Role; 7] = [
    Role::Kernel,
    Role::Synthesis,
    Role::Starved,
    Role::Barrier,
    Role::NotPicked,
    Role::Queue,
    Role::Drain,
];

/// Draws the lanes.
pub(super) fn draw(scene: &mut Scene, lanes: &[Lane]) {
    if lanes.is_empty() {
        empty(scene, "No allocation of device memory is known.");
        return;
    }
    scene.summary = summary(lanes);
    legends(scene, lanes);
    let positions = || {
        let used = lanes.iter().flat_map(|lane| &lane.used).map(|(at, _)| *at);
        used.chain(
            lanes
                .iter()
                .flat_map(|lane| &lane.failures)
                .map(|failure| failure.at),
        )
    };
    let from = positions().fold(f64::INFINITY, f64::min).min(1e18);
    let to = positions().fold(from, f64::max);
    let span = lanes.iter().find_map(|lane| lane.span);
    let span = span.unwrap_or((from, to + (to - from) * 0.01));
    let axis = TimeAxis::new(span, 72.0, scene.width - 14.0);
    let most = scale(lanes);
    for lane in lanes {
        panel(scene, &axis, lane, most);
    }
    if lanes.iter().all(|lane| lane.timed) {
        axis.labels(scene);
    } else {
        step_labels(scene, &axis, to);
    }
}

fn summary(lanes: &[Lane]) -> String {
    let of = |lane: &Lane| {
        let failures = match lane.failures.len() {
            0 => "no request fails".to_owned(),
            1 => "1 request fails".to_owned(),
            n => format!("{n} requests fail"),
        };
        format!("{} at most {}, {failures}", lane.name, size(lane.peak()))
    };
    let parts: Vec<String> = lanes.iter().map(of).collect();
    format!("Device memory in use: {}.", parts.join("; "))
}

fn legends(scene: &mut Scene, lanes: &[Lane]) {
    let mut entries: Vec<(Role, &str)> = vec![(Role::Fill, "in use by others")];
    for lane in lanes {
        for (kind, name) in lane.kinds.iter().enumerate() {
            let entry = (role(kind), name.as_str());
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }
    entries.push((Role::Soft, "in use, idle pool pages included"));
    if lanes
        .iter()
        .any(|lane| lane.capacity as f64 <= scale(lanes))
    {
        entries.push((Role::Ink, "capacity"));
    }
    if lanes.iter().any(|lane| !lane.failures.is_empty()) {
        entries.push((Role::Bad, "a request that fails"));
    }
    legend::draw(scene, &entries);
}

fn role(kind: usize) -> Role {
    KINDS.get(kind).copied().unwrap_or(Role::Drain)
}

/// How strong a worker's share is drawn.
const fn alpha(worker: u32) -> f64 {
    match worker % 3 {
        0 => 1.0,
        1 => 0.62,
        _ => 0.38,
    }
}

/// A card is drawn whole unless it is so many times as large as what is asked of it.
const EMPTY_MAX: f64 = 4.0;

/// The highest value that the lanes show: their cards, or a little more than what is asked of them
/// where the cards are so large that nothing of it could be seen.
fn scale(lanes: &[Lane]) -> f64 {
    let cards = lanes.iter().map(|lane| lane.capacity as f64);
    let cards = cards.fold(0.0, f64::max);
    let asked = lanes.iter().map(|lane| {
        let wanted = lane.failures.iter().map(wanted);
        wanted.fold(lane.peak() as f64, f64::max)
    });
    let asked = asked.fold(0.0, f64::max);
    if asked > 0.0 && cards > EMPTY_MAX * asked {
        asked * 1.2
    } else {
        cards.max(asked)
    }
}

fn panel(scene: &mut Scene, axis: &TimeAxis, lane: &Lane, most: f64) {
    heading(scene, axis, lane);
    let (top, bottom) = (scene.height + 22.0, scene.height + PANEL - 12.0);
    scene.rect([axis.left, top, axis.right, bottom], Role::Track, 1.0);
    let ticks = ticks(most, 5.0);
    let high = ticks.last().map_or(1.0, |(high, _)| *high);
    let y = |bytes: f64| bottom - bytes / high * (bottom - top);
    for (tick, label) in &ticks {
        let at = y(*tick);
        scene.line(vec![(axis.left, at), (axis.right, at)], Role::Grid, 1);
        scene.text((axis.left - 6.0, at), Anchor::End, label, Ink::note());
    }
    let baseline = y(lane.baseline as f64);
    scene.rect([axis.left, baseline, axis.right, bottom], Role::Fill, 1.0);
    // Below the shares: a line would hide those that are a hair's breadth wide.
    used(scene, axis, lane, &y);
    bands(scene, axis, lane, &y);
    if lane.capacity as f64 <= high {
        let capacity = y(lane.capacity as f64);
        scene.line(
            vec![(axis.left, capacity), (axis.right, capacity)],
            Role::Ink,
            2,
        );
    }
    for failure in &lane.failures {
        fails(scene, axis, failure, &y);
    }
    // Above the marks, since others may stand where its words do.
    if let Some(failure) = most_telling(lane) {
        let at = (axis.x(failure.at), y(wanted(failure)));
        label(scene, axis, at, &words(failure));
    }
    scene.height = bottom + 14.0;
}

/// Bytes that would be in use had the request been granted.
fn wanted(failure: &Failure) -> f64 {
    failure.used.saturating_add(failure.bytes) as f64
}

fn words(failure: &Failure) -> String {
    format!(
        "{}: {} asked for, {} wanted in all{}",
        failure.name,
        size(failure.bytes),
        size(failure.used.saturating_add(failure.bytes)),
        if failure.seen { "" } else { ", unseen" }
    )
}

fn heading(scene: &mut Scene, axis: &TimeAxis, lane: &Lane) {
    let ink = Ink::name();
    let middle = scene.height + 9.0;
    let most = format!("at most {} of {}", size(lane.peak()), size(lane.capacity));
    let room = axis.width() - font::width(&most, Ink::note().size, false) - 12.0;
    let name = font::fit(&lane.name, ink.size, ink.bold, room.max(40.0));
    scene.text((axis.left, middle), Anchor::Start, &name, ink);
    scene.text((axis.right, middle), Anchor::End, &most, Ink::note());
}

/// A sum of sizes that a record may say anything of.
fn sum(bytes: &[u64]) -> u64 {
    bytes.iter().copied().fold(0, u64::saturating_add)
}

/// The shares at the fullest moment of each column, stacked.
fn bands(scene: &mut Scene, axis: &TimeAxis, lane: &Lane, y: &impl Fn(f64) -> f64) {
    let columns = strip::columns(axis);
    let mut shown: Vec<Vec<u64>> = vec![vec![0; lane.bands.len()]; columns];
    let mut held = vec![0_u64; lane.bands.len()];
    let ends = lane
        .levels
        .iter()
        .skip(1)
        .map(|level| level.at)
        .chain([axis.end_ms]);
    for (level, end) in lane.levels.iter().zip(ends) {
        if let Some(held) = held.get_mut(level.band) {
            *held = level.bytes;
        }
        let total = sum(&held);
        let mut raised = vec![0.0; columns];
        strip::raise_between(axis, &mut raised, (level.at, end), 1.0);
        for (column, touched) in shown.iter_mut().zip(raised) {
            if touched > 0.0 && sum(column) < total {
                column.clone_from(&held);
            }
        }
    }
    let mut below = vec![lane.baseline as f64; columns];
    for (band, of) in lane.bands.iter().enumerate() {
        let tops: Vec<f64> = shown
            .iter()
            .zip(&below)
            .map(|(column, below)| below + column.get(band).copied().unwrap_or(0) as f64)
            .collect();
        let edges: Vec<(f64, f64)> = below.iter().copied().zip(tops.iter().copied()).collect();
        for ((low, high), from, to) in strip::runs(&edges) {
            if high > low {
                let right = (axis.left + to as f64).min(axis.right);
                let bounds = [axis.left + from as f64, y(high), right, y(low)];
                // The paler worker must not show what lies below it.
                scene.rect(bounds, Role::Track, 1.0);
                scene.rect(bounds, role(of.kind), alpha(of.worker));
            }
        }
        below = tops;
    }
}

/// What the driver counts as used, as a line.
fn used(scene: &mut Scene, axis: &TimeAxis, lane: &Lane, y: &impl Fn(f64) -> f64) {
    let mut columns = vec![0.0; strip::columns(axis)];
    let ends = lane
        .used
        .iter()
        .skip(1)
        .map(|(at, _)| *at)
        .chain([axis.end_ms]);
    for ((at, bytes), end) in lane.used.iter().zip(ends) {
        strip::raise_between(axis, &mut columns, (*at, end), *bytes as f64);
    }
    let mut points = Vec::new();
    for (bytes, from, to) in strip::runs(&columns) {
        let at = y(bytes.max(lane.baseline as f64));
        points.push((axis.left + from as f64, at));
        points.push(((axis.left + to as f64).min(axis.right), at));
    }
    scene.line(points, Role::Soft, 1);
}

/// A failing request: from what is in use up to what is wanted.
fn fails(scene: &mut Scene, axis: &TimeAxis, failure: &Failure, y: &impl Fn(f64) -> f64) {
    let x = axis.x(failure.at);
    let (top, bottom) = (y(wanted(failure)), y(failure.used as f64));
    let strong = if failure.seen { 1.0 } else { 0.55 };
    scene.rect([x - 1.0, top, x + 1.0, bottom], Role::Bad, strong);
    scene.dot((x, top), 3.0, Role::Bad, strong);
    scene.zone([x - 3.0, top - 3.0, x + 3.0, bottom], words(failure));
}

/// Words beside a mark, on whichever side there is more room, on a ground of their own.
fn label(scene: &mut Scene, axis: &TimeAxis, (x, y): (f64, f64), words: &str) {
    let ink = Ink::on(Role::Bad);
    let (left, right) = (x - axis.left - 10.0, axis.right - x - 10.0);
    let words = font::fit(words, ink.size, ink.bold, left.max(right));
    let width = font::width(&words, ink.size, ink.bold);
    let (from, anchor, at) = if right >= left {
        (x + 6.0, Anchor::Start, x + 8.0)
    } else {
        (x - 10.0 - width, Anchor::End, x - 8.0)
    };
    let half = ink.size / 2.0 + 2.0;
    scene.rect(
        [from, y - half, from + width + 4.0, y + half],
        Role::Track,
        1.0,
    );
    scene.text((at, y), anchor, &words, ink);
}

/// Labels of an axis that counts steps.
fn step_labels(scene: &mut Scene, axis: &TimeAxis, last: f64) {
    let bottom = scene.height;
    let ink = Ink::note();
    for tick in counts(last.max(1.0), axis.width() / 90.0) {
        let label = format!("{tick}");
        let half = font::width(&label, ink.size, false) / 2.0;
        let x = axis.x(tick);
        if tick <= last && x + half <= scene.width - 2.0 {
            scene.text((x, bottom + 10.0), Anchor::Middle, &label, ink);
        }
    }
    let middle = f64::midpoint(axis.left, axis.right);
    scene.text(
        (middle, bottom + 27.0),
        Anchor::Middle,
        "step of the schedule",
        ink,
    );
    scene.height = bottom + 38.0;
}

//! How many partitions were in synthesis, how many waited in the queue, over time.

use super::axis::{TimeAxis, counts};
use super::palette::Role;
use super::scene::{Anchor, Ink, Scene};
use super::waterfall::{empty, steps};
use super::{font, legend, strip};
use crate::lanes::{Span, extent, queue, synthesis};
use crate::model::Analysis;
use tracefmt::run::Run;

const PANEL: f64 = 96.0;

/// Draws one panel for synthesis, one for the queue.
pub(super) fn draw(scene: &mut Scene, run: &Run, analysis: &Analysis) {
    let Some(span) = extent(run, analysis) else {
        empty(scene, "The log gives no times for this run.");
        return;
    };
    let entries = [
        (Role::Synthesis, "in synthesis"),
        (
            Role::Queue,
            "in the queue (light: the most at once, full: the mean)",
        ),
    ];
    legend::draw(scene, &entries);
    let axis = TimeAxis::new(span, 58.0, scene.width - 14.0);
    scene.height += 2.0;
    let mut parts = Vec::new();
    for (name, role, spans) in [
        ("synthesis", Role::Synthesis, synthesis(run, span.1)),
        ("queue", Role::Queue, queue(run, span.1)),
    ] {
        let peak = panel(scene, &axis, (name, role), &spans);
        parts.push(format!("{name} at most {peak} at once"));
    }
    scene.summary = format!("{}.", parts.join(", "));
    axis.labels(scene);
}

fn panel(scene: &mut Scene, axis: &TimeAxis, (name, role): (&str, Role), spans: &[Span]) -> f64 {
    let spans: Vec<[f64; 2]> = spans.iter().map(|s| [s.start_ms, s.end_ms]).collect();
    let levels = strip::levels(axis, &spans);
    let ink = Ink::name();
    scene.text((axis.left, scene.height + 9.0), Anchor::Start, name, ink);
    let most = format!("most at once: {}", levels.peak);
    let room = axis.width() - 18.0 - font::width(name, ink.size, false);
    let most = font::fit(&most, Ink::note().size, false, room);
    let right = (axis.right, scene.height + 9.0);
    scene.text(right, Anchor::End, &most, Ink::note());
    let top = scene.height + 22.0;
    let bottom = top + PANEL - 34.0;
    scene.rect([axis.left, top, axis.right, bottom], Role::Track, 1.0);
    axis.grid(scene, top, bottom);
    let ticks = counts(levels.peak, 3.0);
    let high = ticks.last().copied().unwrap_or(1.0);
    let y = |level: f64| bottom - level / high * (bottom - top);
    for (values, alpha) in [(&levels.most, 0.45), (&levels.mean, 1.0)] {
        scene.area(steps(axis, values, y, bottom), role, alpha);
    }
    for tick in ticks {
        let at = (axis.left - 6.0, y(tick));
        scene.text(at, Anchor::End, &format!("{tick}"), Ink::note());
    }
    scene.height = bottom + 14.0;
    levels.peak
}

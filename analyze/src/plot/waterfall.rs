//! The waterfall: rows of synthesis and queue, one row a worker, one a GPU with its idle time
//! coloured by cause. Rows of few spans show each with its partition; rows of many show how
//! much of each pixel they fill; many rows become one band of how many were open.

use super::axis::{TimeAxis, duration};
use super::palette::{Role, cause_words};
use super::scene::{Anchor, Ink, Scene};
use super::strip;
use super::{font, legend};
use crate::lanes::{Lane, Owner, Span, Stage, extent, lanes};
use crate::model::{Analysis, IdleCause};
use tracefmt::run::{Run, TroubleClass};

/// More rows than this of one kind become a band.
const ROWS_MAX: usize = 24;
/// More spans than this in a row are drawn as coverage.
const SPANS_MAX: usize = 400;
/// More hover texts than this would only make the file large.
const ZONES_MAX: usize = 1500;
/// Failures marked at most.
const MARKS_MAX: usize = 40;

/// A block of rows that share a name.
struct Block<'a> {
    name: String,
    note: String,
    rows: Vec<&'a Lane>,
}

/// Draws all rows of a run.
pub(super) fn draw(scene: &mut Scene, run: &Run, analysis: &Analysis) {
    let Some(span) = extent(run, analysis) else {
        empty(scene, "The log gives no times for this run.");
        return;
    };
    let all = lanes(run, analysis);
    scene.summary = summary(&all, span);
    let marks = failures(run);
    legend::draw(scene, &entries(&all, !marks.is_empty()));
    let blocks = blocks(&all);
    let gutter = gutter(scene, &blocks);
    let axis = TimeAxis::new(span, gutter, scene.width - 14.0);
    let top = scene.height + 4.0;
    scene.height = top;
    for block in &blocks {
        draw_block(scene, &axis, block);
    }
    for (ms, text) in marks {
        let x = axis.x(ms);
        scene.rect(
            [x - 0.75, top - 4.0, x + 0.75, scene.height],
            Role::Bad,
            0.9,
        );
        scene.zone([x - 3.0, top - 4.0, x + 3.0, scene.height], text);
    }
    axis.labels(scene);
    scene.zones.truncate(ZONES_MAX);
}

/// A picture that says why there is nothing to see.
pub(super) fn empty(scene: &mut Scene, words: &str) {
    let ink = Ink::note();
    let words = font::fit(words, ink.size, false, scene.width - 24.0);
    scene.text((12.0, scene.height + 16.0), Anchor::Start, &words, ink);
    scene.height += 34.0;
    scene.summary = words;
}

fn summary(lanes: &[Lane], (start, end): (f64, f64)) -> String {
    let count = |pick: fn(&Owner) -> bool| lanes.iter().filter(|l| pick(&l.owner)).count();
    format!(
        "Waterfall over {}: up to {} partitions in synthesis at once, {} worker rows, {} GPUs.",
        duration(end - start),
        count(|o| matches!(o, Owner::Synthesis(_))),
        count(|o| matches!(o, Owner::Worker(..))),
        count(|o| matches!(o, Owner::Gpu(_))),
    )
}

fn entries(lanes: &[Lane], failures: bool) -> Vec<(Role, &'static str)> {
    let has = |stage: Stage| {
        lanes
            .iter()
            .any(|l| l.spans.iter().any(|s| s.stage == stage))
    };
    let mut out = Vec::new();
    for (stage, words) in [
        (Stage::Synthesis, "synthesis"),
        (Stage::Queue, "queued"),
        (Stage::Call, "prove call"),
        (Stage::Hold, "GPU lock held"),
        (Stage::Kernel, "kernels run"),
    ] {
        if has(stage) {
            out.push((Role::of_stage(stage), words));
        }
    }
    for cause in IdleCause::ALL {
        if has(Stage::Idle(cause)) {
            out.push((Role::of_cause(cause), cause_words(cause)));
        }
    }
    if failures {
        out.push((Role::Bad, "failure"));
    }
    out
}

fn blocks(lanes: &[Lane]) -> Vec<Block<'_>> {
    let of = |pick: fn(&Owner) -> bool| -> Vec<&Lane> {
        lanes.iter().filter(|lane| pick(&lane.owner)).collect()
    };
    let mut out = Vec::new();
    for (name, rows) in [
        ("synthesis", of(|o| matches!(o, Owner::Synthesis(_)))),
        ("queue", of(|o| matches!(o, Owner::Queue(_)))),
    ] {
        if !rows.is_empty() {
            let note = format!("up to {}", rows.len());
            let name = name.to_owned();
            out.push(Block { name, note, rows });
        }
    }
    let single = lanes
        .iter()
        .filter(|l| matches!(l.owner, Owner::Worker(..) | Owner::Gpu(_)));
    for lane in single {
        out.push(Block {
            name: lane.owner.label(),
            note: String::new(),
            rows: vec![lane],
        });
    }
    out
}

fn gutter(scene: &Scene, blocks: &[Block<'_>]) -> f64 {
    let name = Ink::name().size;
    let widest = blocks
        .iter()
        .map(|block| font::width(&block.name, name, false));
    let widest = widest.fold(font::width("up to 999", Ink::note().size, false), f64::max);
    (widest + 22.0).min(scene.width * 0.35)
}

fn draw_block(scene: &mut Scene, axis: &TimeAxis, block: &Block<'_>) {
    let top = scene.height;
    let single = block.rows.len() == 1;
    let band = block.rows.len() > ROWS_MAX;
    let row = row_height(block);
    let height = if band {
        64.0
    } else {
        row * block.rows.len() as f64
    };
    let bottom = top + height;
    scene.rect([axis.left, top, axis.right, bottom], Role::Track, 1.0);
    axis.grid(scene, top, bottom);
    if band {
        draw_band(scene, axis, block, top, bottom);
    } else {
        for (n, lane) in block.rows.iter().enumerate() {
            let y = top + row * n as f64;
            let inset = if row >= 8.0 { 1.0 } else { 0.5 };
            draw_row(scene, axis, lane, (y + inset, y + row - inset));
        }
    }
    let right = axis.left - 8.0;
    let room = right - 4.0;
    let middle = f64::midpoint(top, bottom);
    let two = !single && height >= 30.0;
    let name = font::fit(&block.name, Ink::name().size, false, room);
    let y = if two { middle - 7.0 } else { middle };
    if height >= 11.0 {
        scene.text((right, y), Anchor::End, &name, Ink::name());
    }
    if two {
        let note = font::fit(&block.note, Ink::note().size, false, room);
        scene.text((right, middle + 8.0), Anchor::End, &note, Ink::note());
    }
    scene.height = bottom + 5.0;
}

fn row_height(block: &Block<'_>) -> f64 {
    match block.rows.first().map(|lane| lane.owner) {
        Some(Owner::Gpu(_)) => 26.0,
        Some(Owner::Worker(..)) => 20.0,
        _ if block.rows.len() == 1 => 15.0,
        _ => (150.0 / block.rows.len() as f64).clamp(6.0, 15.0),
    }
}

/// How many were open: the most in light colour, the mean in full colour.
fn draw_band(scene: &mut Scene, axis: &TimeAxis, block: &Block<'_>, top: f64, bottom: f64) {
    let spans = block.rows.iter().flat_map(|lane| &lane.spans);
    let spans: Vec<[f64; 2]> = spans.map(|s| [s.start_ms, s.end_ms]).collect();
    let stage = block.rows.first().and_then(|lane| lane.spans.first());
    let role = stage.map_or(Role::Synthesis, |span| Role::of_stage(span.stage));
    let levels = strip::levels(axis, &spans);
    let y = |level: f64| bottom - level / levels.peak.max(1.0) * (bottom - top - 2.0);
    for (values, alpha) in [(&levels.most, 0.45), (&levels.mean, 1.0)] {
        let outline = steps(axis, values, y, bottom);
        scene.area(outline, role, alpha);
    }
}

/// Outline of columns over a base line.
pub(super) fn steps(
    axis: &TimeAxis,
    values: &[f64],
    y: impl Fn(f64) -> f64,
    base: f64,
) -> Vec<(f64, f64)> {
    let rounded: Vec<f64> = values.iter().map(|value| y(*value).round()).collect();
    let mut points = vec![(axis.left, base)];
    for (level, from, to) in strip::runs(&rounded) {
        points.push((axis.left + from as f64, level));
        points.push(((axis.left + to as f64).min(axis.right), level));
    }
    points.push((axis.right, base));
    points
}

fn draw_row(scene: &mut Scene, axis: &TimeAxis, lane: &Lane, rows: (f64, f64)) {
    if matches!(lane.owner, Owner::Gpu(_)) {
        draw_gpu(scene, axis, lane, rows);
    } else if lane.spans.len() > SPANS_MAX {
        draw_cover(scene, axis, lane, rows);
    } else {
        for span in &lane.spans {
            draw_span(scene, axis, span, rows);
        }
    }
}

/// Insets of nested stages, so that a call shows around its tenure and that around its kernels.
const fn inset(stage: Stage, height: f64) -> f64 {
    match stage {
        Stage::Hold => height * 0.14,
        Stage::Kernel => height * 0.22,
        _ => 0.0,
    }
}

fn draw_span(scene: &mut Scene, axis: &TimeAxis, span: &Span, (top, bottom): (f64, f64)) {
    let (left, right) = (axis.x(span.start_ms), axis.x(span.end_ms));
    let inset = inset(span.stage, bottom - top);
    let bounds = [left, top + inset, right.max(left + 1.0), bottom - inset];
    let (role, ink) = match span.stage {
        Stage::Synthesis if span.job_index % 2 == 1 => (Role::SynthesisAlt, Role::OnSynthesis),
        Stage::Synthesis => (Role::Synthesis, Role::OnSynthesis),
        Stage::Kernel => (Role::Kernel, Role::OnKernel),
        stage => (Role::of_stage(stage), Role::Ink),
    };
    let alpha = if span.open { 0.55 } else { 1.0 };
    scene.rect(bounds, role, alpha);
    let ink = Ink::on(ink);
    let named = matches!(span.stage, Stage::Synthesis | Stage::Call) && !span.open;
    if let Some(partition) = span.partition
        && named
        && bottom - top >= 10.0
    {
        let text = partition.to_string();
        let room = right - left - 5.0;
        let fits = font::width(&text, ink.size, false) <= room;
        let free = span.stage == Stage::Synthesis;
        if fits && free {
            let at = (left + 3.0, f64::midpoint(top, bottom));
            scene.text(at, Anchor::Start, &text, ink);
        }
    }
    if span.stage != Stage::Kernel {
        scene.zone([left, top, right.max(left + 2.0), bottom], hover(span));
    }
}

/// A moment as the log gives it.
fn stamp(ms: f64) -> String {
    format!("{ms:.0} ms")
}

fn hover(span: &Span) -> String {
    let open = if span.open { ", no end in the log" } else { "" };
    let line = (span.line > 0).then(|| format!(", line {}", span.line));
    format!(
        "{}\n{}, {} from {}{open}{}",
        span.who(),
        span.stage.as_str(),
        duration(span.ms()),
        stamp(span.start_ms),
        line.unwrap_or_default(),
    )
}

/// Coverage in five steps, stage over stage.
fn draw_cover(scene: &mut Scene, axis: &TimeAxis, lane: &Lane, (top, bottom): (f64, f64)) {
    for stage in [
        Stage::Synthesis,
        Stage::Queue,
        Stage::Call,
        Stage::Hold,
        Stage::Kernel,
    ] {
        let spans = lane.spans.iter().filter(|span| span.stage == stage);
        let spans: Vec<[f64; 2]> = spans.map(|s| [s.start_ms, s.end_ms]).collect();
        if spans.is_empty() {
            continue;
        }
        let cover = strip::cover(axis, &strip::union(spans));
        let steps: Vec<f64> = cover
            .iter()
            .map(|part| (part * 5.0).ceil().min(5.0))
            .collect();
        let inset = inset(stage, bottom - top);
        for (level, from, to) in strip::runs(&steps) {
            let (left, right) = (axis.left + from as f64, axis.left + to as f64);
            let bounds = [left, top + inset, right.min(axis.right), bottom - inset];
            if level > 0.0 {
                scene.rect(bounds, Role::of_stage(stage), level / 5.0);
            }
        }
    }
}

/// Kernels and idle causes: each column shows what filled most of it.
fn draw_gpu(scene: &mut Scene, axis: &TimeAxis, lane: &Lane, (top, bottom): (f64, f64)) {
    let mut stages = vec![Stage::Kernel];
    stages.extend(IdleCause::ALL.map(Stage::Idle));
    let layer = |stage: &Stage| {
        let spans = lane.spans.iter().filter(|span| span.stage == *stage);
        let spans: Vec<[f64; 2]> = spans.map(|s| [s.start_ms, s.end_ms]).collect();
        strip::cover(axis, &strip::union(spans))
    };
    let layers: Vec<Vec<f64>> = stages.iter().map(layer).collect();
    for (which, from, to) in strip::runs(&strip::dominant(&layers, strip::columns(axis))) {
        let Some(stage) = which.and_then(|n| stages.get(n)) else {
            continue;
        };
        let (left, right) = (axis.left + from as f64, axis.left + to as f64);
        let bounds = [left, top, right.min(axis.right), bottom];
        scene.rect(bounds, Role::of_stage(*stage), 1.0);
    }
    let long = lane
        .spans
        .iter()
        .filter(|s| matches!(s.stage, Stage::Idle(_)));
    for span in long.filter(|span| axis.x(span.end_ms) - axis.x(span.start_ms) >= 2.0) {
        let Stage::Idle(cause) = span.stage else {
            continue;
        };
        let from = stamp(span.start_ms);
        let text = format!(
            "idle {} from {from}: {}",
            duration(span.ms()),
            cause_words(cause)
        );
        scene.zone(
            [axis.x(span.start_ms), top, axis.x(span.end_ms), bottom],
            text,
        );
    }
}

/// When something failed, with its text; several within a second count once.
fn failures(run: &Run) -> Vec<(f64, String)> {
    let mut out: Vec<(f64, String)> = Vec::new();
    for trouble in &run.troubles {
        let bad = matches!(
            trouble.kind,
            TroubleClass::Panic
                | TroubleClass::Cuda
                | TroubleClass::Abort
                | TroubleClass::Failure
                | TroubleClass::BadProof
        );
        let Some(us) = trouble.us.filter(|_| bad) else {
            continue;
        };
        let ms = crate::lanes::ms(us);
        if out.iter().all(|(seen, _)| (seen - ms).abs() > 1000.0) && out.len() < MARKS_MAX {
            out.push((ms, format!("line {}: {}", trouble.line.line, trouble.text)));
        }
    }
    out
}

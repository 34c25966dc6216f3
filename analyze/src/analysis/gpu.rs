//! How one GPU spent a run, as the result shows it.

use rayon::prelude::*;
use tracefmt::finding::Confidence;
use tracefmt::run::Run;

use crate::idle::{Gap, Usage};
use crate::interval::{Cover, Hold, Reconstruction};
use crate::model::{GpuTime, IdleCause, IdleGap};

/// The row of a GPU.
pub(super) fn row(run: &Run, all: &Reconstruction, usage: &Usage, gpu: u32) -> GpuTime {
    let span_us = usage.span.us();
    let covers = [&usage.interval, &usage.hold, &usage.kernel];
    let [interval, hold, kernel] = covers.map(Cover::us);
    let share = |us: i64| us as f64 / span_us as f64;
    GpuTime {
        run: run.index,
        gpu,
        span_start_ms: ms(usage.span.start),
        span_ms: ms(span_us),
        busy_interval_ms: ms(interval),
        busy_hold_ms: ms(hold),
        busy_kernel_ms: ms(kernel),
        utilisation_interval: share(interval),
        utilisation_hold: share(hold),
        utilisation_kernel: share(kernel),
        idle: listed(run, all, gpu, usage.by_kernel.gaps(), GAPS_AT_ONCE),
        idle_left_out: usage.by_kernel.left_out(),
        idle_by_cause_ms: usage.by_kernel.by_cause_ms(),
        idle_hold_by_cause_ms: usage.by_hold.by_cause_ms(),
        idle_no_job_ms: ms(usage.by_kernel.no_job_us()),
        holds_without_call: all.uncalled_of(gpu).count() as u64,
    }
}

/// Microseconds to milliseconds.
pub(super) fn ms(us: i64) -> f64 {
    us as f64 / 1000.0
}

/// Gaps that are listed in one piece.
const GAPS_AT_ONCE: usize = 4096;

/// The gaps with what is known of them, listed in pieces of so many.
fn listed(run: &Run, all: &Reconstruction, gpu: u32, gaps: &[Gap], at_once: usize) -> Vec<IdleGap> {
    let holds = all.of_gpu(gpu);
    let confidence = |hold: &Hold| hold.confidence.max(Confidence::Inferred);
    let known = holds.par_iter().map(confidence).min();
    let lost = all.uncalled_of(gpu).map(|_| Confidence::Inferred).next();
    let confidence = known.into_iter().chain(lost).min();
    let confidence = confidence.unwrap_or(Confidence::Certain);
    // Each piece is listed in one pass over the holds from its first gap on, several side by side.
    let piece = |gaps: &[Gap]| -> Vec<IdleGap> {
        let first = gaps.first().map_or(i64::MIN, |gap| gap.span.start);
        let mut behind = holds.partition_point(|hold| hold.acquired <= first);
        let row = |gap: &Gap| {
            let rest = holds.get(behind..).unwrap_or_default();
            let passed = |hold: &&Hold| hold.acquired <= gap.span.start;
            behind += rest.iter().take_while(passed).count();
            IdleGap {
                start_ms: ms(gap.span.start),
                end_ms: ms(gap.span.end),
                ms: ms(gap.span.us()),
                cause: gap.cause,
                confidence,
                lines: lines(run, holds, behind, gap),
            }
        };
        gaps.iter().map(row).collect()
    };
    let pieces: Vec<Vec<IdleGap>> = gaps.par_chunks(at_once).map(piece).collect();
    pieces.into_iter().flatten().collect()
}

/// Lines around a gap: the last one of the call before, and what the next call waited for.
/// `behind` is the first hold that starts behind the gap's start.
fn lines(run: &Run, holds: &[Hold], behind: usize, gap: &Gap) -> Vec<u64> {
    let mut lines = Vec::with_capacity(3);
    let mut put = |line: u32| {
        if line != 0 {
            lines.push(u64::from(line));
        }
    };
    let before = behind.checked_sub(1).and_then(|at| holds.get(at));
    if let Some(before) = before {
        put(before.line.line);
    }
    let inside = before.is_some_and(|hold| hold.released > gap.span.start);
    let next = holds.get(behind).filter(|_| !inside);
    let task = next.and_then(|next| {
        let call = run.calls.get(next.call as usize)?;
        run.tasks.get(call.task as usize)
    });
    if let Some(task) = task {
        let starved = matches!(gap.cause, IdleCause::SynthesisStarved | IdleCause::Fill);
        let made = task.synth_end.filter(|_| starved);
        let queued = task
            .queued
            .filter(|_| gap.cause == IdleCause::QueuedNotPicked);
        let start = task.gpu_start.or(task.pickup);
        for at in [made, queued, start].into_iter().flatten() {
            put(at.line.line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use tracefmt::run::LineRef;

    use super::*;
    use crate::interval::Span;

    fn hold(number: u32) -> Hold {
        let acquired = 10 * i64::from(number);
        Hold {
            call: number,
            gpu: 0,
            started: None.into(),
            over: None.into(),
            ready: acquired,
            request: acquired,
            acquired,
            released: acquired + 4,
            prepared: acquired,
            kernels: 0..0,
            barrier: Span { start: 0, end: 0 },
            open: false,
            failed: false,
            confidence: Confidence::Certain,
            line: LineRef::new(0, 100 + number),
        }
    }

    #[test]
    fn gaps_in_pieces_have_the_lines_that_they_have_in_one() {
        let all = Reconstruction {
            holds: (0..40).map(hold).collect(),
            ..Reconstruction::default()
        };
        // Before all holds, behind one, two behind one, none behind the next ones, behind the last.
        let starts = [-5, 4, 14, 16, 44, 46, 48, 130, 134, 255, 394, 399];
        let gaps = starts.map(|start| Gap {
            span: Span {
                start,
                end: start + 1,
            },
            cause: IdleCause::MutexWait,
        });
        let list = |at_once| {
            let rows = listed(&Run::default(), &all, 0, &gaps, at_once);
            rows.into_iter().map(|gap| gap.lines).collect::<Vec<_>>()
        };
        let whole = list(gaps.len());
        let behind = [0, 100, 101, 101, 104, 104, 104, 113, 113, 125, 139, 139];
        let last = |lines: &Vec<u64>| lines.first().copied().unwrap_or(0);
        assert!(whole.iter().map(last).eq(behind), "{whole:?}");
        for at_once in 1..gaps.len() {
            assert_eq!(list(at_once), whole, "{at_once}");
        }
    }
}

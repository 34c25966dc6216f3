//! What exploration found, in words: the verdict, and the orders that show it, op by op.

use replay::explore::Bound;
use replay::report::{Explored, Outcome, Report, Verdict};
use tracefmt::ops::{Op, Schedule, Step};

use crate::output::put;

/// How many ops of an order are printed; `--format json` has all of their numbers.
const OPS_MAX: usize = 40;

/// The verdict over all orders, and an order of each kind where they differ.
pub(super) fn render(schedule: &Schedule, report: &Report, found: &Explored) -> String {
    let mut text = String::new();
    let all = match found.bound {
        None => "all there are",
        Some(Bound::States) => "not all: the bound on states was reached, --states-max",
        Some(Bound::Memory) => "not all: the bound on memory was reached, --memory-max",
    };
    put(
        &mut text,
        format_args!("\nexplored {} states ({all})\n", found.states),
    );
    let every = if found.complete {
        "every order"
    } else {
        "every order seen so far"
    };
    let unseen = report.verdict == Verdict::FailsUnseen;
    let verdict = match found.outcomes.as_slice() {
        [Outcome::Fails] if unseen => format!("in {every} allocations fail unseen (inferred)"),
        [Outcome::Passes] => format!("{every} passes"),
        [Outcome::Fails] => format!("{every} fails"),
        [Outcome::Stuck] => format!("{every} gets stuck"),
        [Outcome::Misuses] => format!("{every} uses or frees what is freed"),
        [] => "no order came to an end yet".to_owned(),
        _ => "it depends on the order".to_owned(),
    };
    put(&mut text, format_args!("  {verdict}\n"));
    for (what, order) in [
        ("the shortest order that fails", &report.failing_order),
        ("the shortest order that gets stuck", &report.stuck_order),
        (
            "the shortest order that uses or frees what is freed",
            &report.misuse_order,
        ),
    ] {
        if let Some(order) = order {
            put(&mut text, format_args!("\n{what}, {}\n", ops(order.len())));
            text.push_str(&end_of(schedule, order));
        }
    }
    if let Some(order) = &report.passing_order {
        let count = ops(order.len());
        put(&mut text, format_args!("\nan order that passes, {count}\n"));
        text.push_str(&turns(schedule, order));
    }
    text
}

fn ops(count: usize) -> String {
    match count {
        1 => "1 op".to_owned(),
        n => format!("{n} ops"),
    }
}

/// The last ops of an order, one a line: what matters is where it ends.
fn end_of(schedule: &Schedule, order: &[usize]) -> String {
    let mut text = String::new();
    let left_out = order.len().saturating_sub(OPS_MAX);
    if left_out > 0 {
        put(
            &mut text,
            format_args!("  ({} before; --format json numbers all)\n", ops(left_out)),
        );
    }
    for at in order.iter().skip(left_out) {
        put(&mut text, format_args!("  {}\n", line(schedule, *at)));
    }
    text
}

/// A whole order as the turns that the workers take: from which op of each to which.
fn turns(schedule: &Schedule, order: &[usize]) -> String {
    let worker = |at: usize| schedule.steps.get(at).and_then(|step| step.worker);
    let mut turns: Vec<(usize, usize, usize)> = Vec::new();
    for at in order.iter().copied() {
        match turns.last_mut() {
            Some((_, last, count)) if worker(*last) == worker(at) => {
                *last = at;
                *count += 1;
            }
            _ => turns.push((at, at, 1)),
        }
    }
    let mut text = String::new();
    for (first, last, count) in turns.iter().take(OPS_MAX) {
        let to = if count > &1 {
            format!(
                ", {} to step {last}: {}",
                ops(*count),
                op_at(schedule, *last)
            )
        } else {
            String::new()
        };
        put(
            &mut text,
            format_args!("  {}{to}\n", line(schedule, *first)),
        );
    }
    if let Some(more) = turns.len().checked_sub(OPS_MAX).filter(|more| *more > 0) {
        put(
            &mut text,
            format_args!("  and {more} more turns; --format json numbers all steps\n"),
        );
    }
    text
}

fn line(schedule: &Schedule, at: usize) -> String {
    let worker = schedule.steps.get(at).and_then(|step| step.worker);
    format!(
        "step {at:<5} worker {:<2} {}",
        worker.unwrap_or(0),
        op_at(schedule, at)
    )
}

/// A step of a schedule in words: the op, what it is about, how much.
pub(super) fn op_at(schedule: &Schedule, at: usize) -> String {
    schedule.steps.get(at).map(words).unwrap_or_default()
}

fn words(step: &Step) -> String {
    let mut text = step.op.name().to_owned();
    match (step.buf(), step.op.id(), &step.op) {
        (Some(buf), ..) => put(&mut text, format_args!(" {buf}")),
        (None, Some(id), _) => put(&mut text, format_args!(" id {id}")),
        (
            None,
            None,
            Op::Lock { name } | Op::Unlock { name } | Op::Barrier { name, .. } | Op::Label { name },
        ) => put(&mut text, format_args!(" {name}")),
        _ => {}
    }
    if let Op::Malloc { bytes, .. } | Op::MallocAsync { bytes, .. } = step.op {
        put(&mut text, format_args!(", {}", super::text::mib(bytes)));
    }
    if let Some(partition) = step.partition() {
        put(&mut text, format_args!(" (partition {partition})"));
    }
    text
}

//! A walk through links, starts of calls and marks in file order.
//!
//! A long log is walked by two threads: the second begins some way before the middle, and where it
//! comes to the middle in the same state as the first does, what it found behind it holds. Where
//! not, the first goes on to the end alone.

use std::thread;

use super::beam::Beam;
use super::live::Live;
use super::rules::Form;
use super::span::Span;
use super::{Link, LinkKind};
use crate::run::both::joined;
use crate::run::mark::Owners;
use crate::run::{Call, MarkKind, Run};

/// From `GPU_START` to the entry of the call.
const ENTRY_US: i64 = 2_000;

/// When a log is walked in two parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// With so many marks.
    from: usize,
    /// The second walk begins so many marks before the middle.
    ahead: usize,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            from: 1 << 18,
            ahead: 1 << 14,
        }
    }
}

/// Finds the owners of all marks.
pub(super) fn all(
    run: &Run,
    links: &[Link],
    starts: &[u32],
    form: Form,
    parts: Parts,
) -> Vec<Owners> {
    let walk = Walk::new((run, links, starts), form);
    let middle = run.marks.len() / 2;
    let begin = middle.saturating_sub(parts.ahead);
    match (run.marks.line(begin), run.marks.line(middle)) {
        (Some(begin), Some(middle)) if run.marks.len() >= parts.from && walk.is_sorted() => {
            in_two(walk, begin, middle)
        }
        _ => vec![walk.finish()],
    }
}

fn in_two(mut first: Walk<'_>, begin: u32, middle: u32) -> Vec<Owners> {
    let mut second = first.clone();
    let (at_middle, found) = thread::scope(|scope| {
        let later = scope.spawn(move || {
            second.skip(begin);
            // What it finds before the middle is not kept, and need not begin at the first mark.
            second.owners = Owners::from(second.at.mark, 0);
            second.until(middle);
            let state = (second.at, second.beam.clone());
            let (from, count) = (second.at.mark, second.run.marks.len());
            second.owners = Owners::from(from, count.saturating_sub(from));
            (state, second.finish())
        });
        first.until(middle);
        joined(later)
    });
    if at_middle.0 == first.at && at_middle.1.agrees(&first.beam) {
        return vec![first.owners, found];
    }
    vec![first.finish()]
}

/// How far a walk has come: the next of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct At {
    link: usize,
    start: usize,
    mark: usize,
}

/// One of the three kinds of things that come in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Link,
    Start,
    Mark,
}

#[derive(Clone, Debug)]
struct Walk<'a> {
    run: &'a Run,
    /// In file order, as the starts are.
    links: &'a [Link],
    starts: &'a [u32],
    /// The marks in file order; empty if they are so in the run.
    order: Vec<u32>,
    at: At,
    beam: Beam,
    owners: Owners,
}

impl<'a> Walk<'a> {
    fn new((run, links, starts): (&'a Run, &'a [Link], &'a [u32]), form: Form) -> Self {
        let mut order: Vec<u32> = Vec::new();
        if !run.marks.is_sorted() {
            order = (0..u32::try_from(run.marks.len()).unwrap_or(u32::MAX)).collect();
            order.sort_by_key(|mark| run.marks.line(*mark as usize));
        }
        Self {
            run,
            links,
            starts,
            order,
            at: At::default(),
            beam: Beam::new(form),
            owners: Owners::from(0, run.marks.len()),
        }
    }

    fn is_sorted(&self) -> bool {
        self.order.is_empty()
    }

    fn index_of(&self, at: usize) -> usize {
        self.order.get(at).map_or(at, |mark| *mark as usize)
    }

    fn line_of_mark(&self) -> Option<u32> {
        self.run.marks.line(self.index_of(self.at.mark))
    }

    fn call(&self, start: u32) -> Option<&'a Call> {
        self.run.calls.get(start as usize)
    }

    /// Begins at a line.
    fn skip(&mut self, line: u32) {
        let before = |call: &u32| self.call(*call).is_some_and(|c| c.start.line.line < line);
        let start = self.starts.partition_point(before);
        let link = self.links.partition_point(|link| link.line < line);
        let (mut low, mut high) = (0, self.run.marks.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.run.marks.line(middle).is_some_and(|at| at < line) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mark = low;
        self.at = At { link, start, mark };
    }

    /// Takes all that is left.
    fn finish(mut self) -> Owners {
        self.until(u32::MAX);
        self.beam.finish(&mut self.owners);
        self.owners
    }

    /// Takes what comes before a line, and further until all lines so far are given away.
    fn until(&mut self, stop: u32) {
        loop {
            let start = self.starts.get(self.at.start).copied();
            let link = self.links.get(self.at.link).copied();
            let others = [
                link.map(|link| (link.line, Next::Link)),
                start
                    .and_then(|start| self.call(start))
                    .map(|call| (call.start.line.line, Next::Start)),
            ];
            let mark = self.line_of_mark().map(|line| (line, Next::Mark));
            let others = others.into_iter().flatten().min();
            let Some((line, next)) = others.into_iter().chain(mark).min() else {
                return;
            };
            if line >= stop && self.beam.is_settled() {
                return;
            }
            match next {
                Next::Link => {
                    if let Some(link) = link {
                        self.follow(link);
                    }
                    self.at.link += 1;
                }
                Next::Start => {
                    if let Some(start) = start {
                        self.begin(start);
                    }
                    self.at.start += 1;
                }
                Next::Mark => {
                    // All lines up to the next thing of another kind, or one behind the stop.
                    let until = others.map_or(u32::MAX, |(line, _)| line);
                    let until = if line < stop { until.min(stop) } else { 0 };
                    loop {
                        self.give(self.index_of(self.at.mark));
                        self.at.mark += 1;
                        if self.line_of_mark().is_none_or(|line| line >= until) {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// A timing line that has no owner yet.
    fn give(&mut self, index: usize) {
        if let Some(line) = self.run.marks.get(index)
            && line.call().is_none()
            && line.kind() <= MarkKind::AsyncDealloc
        {
            self.beam.mark(&mut self.owners, index, &line);
        }
    }

    fn begin(&mut self, index: u32) {
        let Some(call) = self.call(index) else {
            return;
        };
        let us = call.start.us;
        let start = Span::new(us, us + 999 + ENTRY_US);
        let place = (call.worker.unwrap_or(u32::MAX), call.gpu.unwrap_or(0));
        self.beam.begin(&Live::new(index, place, start));
    }

    fn follow(&mut self, link: Link) {
        match link.what {
            LinkKind::Started(ms) => self.beam.started(link.call, ms),
            LinkKind::Left => self.beam.left(&mut self.owners, link.call),
            LinkKind::Ended => {
                let task = self.call(link.call).map(|call| call.task as usize);
                let task = task.and_then(|task| self.run.tasks.get(task));
                let Some((task, end)) = task.and_then(|task| Some((task, task.gpu_end?))) else {
                    return;
                };
                let gpu_ms = task.gpu_ms.and_then(|ms| i64::try_from(ms).ok());
                let at = Span::new(end.us, end.us + 999);
                self.beam.end(&mut self.owners, link.call, at, gpu_ms);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::run::{MarkStore, Source, read};

    /// Two workers on one GPU, with waits and lengths that change from call to call.
    fn log(calls: u64) -> String {
        let mut log = String::new();
        for at in 0..calls {
            let (now, worker) = (30_000 + at * 1_460, at % 2);
            let (ntt, prep) = (690 + at * 7 % 23, 1_100 + at * 13 % 41);
            let before = at.saturating_sub(1);
            write!(
                log,
                "TIMELINE,{now},GPU_START,job-{},worker={worker},partition={}\n\
                 CUZK_TIMING: split_vectors_ms=3 setup_to_split_ms=5\n\
                 CUZK_TIMING: prep_msm_ms={prep}\n\
                 CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms={ntt}\n\
                 CUZK_TIMING: b_g2_msm_ms=300 num_circuits=1\n\
                 CUZK_TIMING: gpu_tid=0 batch_add_ms=640\n\
                 CUZK_TIMING: gpu_tid=0 tail_msm_ms=85 gpu_total_ms={}\n\
                 CUZK_TIMING: epilogue_ms=1 pre_destructor_ms=1500\n",
                at / 10,
                at % 10,
                ntt + 640 + 85,
            )
            .unwrap();
            if at > 0 {
                writeln!(
                    log,
                    "TIMELINE,{},GPU_END,job-{},worker={},partition={},gpu_ms=1501",
                    now + 40,
                    before / 10,
                    1 - worker,
                    before % 10,
                )
                .unwrap();
            }
        }
        log
    }

    /// Run, links and starts of a log, without the owners.
    fn parts(log: &str) -> (Run, Vec<Link>, Vec<u32>) {
        let source = Source::Bytes("log".to_owned(), log.as_bytes().to_vec());
        let mut run = read(&[source]).unwrap().0.runs.remove(0);
        let mut bare = MarkStore::default();
        for mark in &run.marks {
            let window = (mark.after_us(), mark.before_us());
            bare.push(&run.marks.what(&mark), mark.line(), window);
        }
        run.marks = bare;
        let task = |call: &Call| run.tasks[call.task as usize].gpu_end;
        let mut links: Vec<Link> = (0_u32..)
            .zip(&run.calls)
            .filter_map(|(call, at)| Some((call, task(at)?.line.line)))
            .map(|(call, line)| Link {
                line,
                call,
                what: LinkKind::Ended,
            })
            .collect();
        links.sort_by_key(|link| link.line);
        let starts = (0..u32::try_from(run.calls.len()).unwrap()).collect();
        (run, links, starts)
    }

    fn owners(all: Vec<Owners>, run: &Run) -> Vec<(Option<u32>, crate::finding::Confidence)> {
        let mut marks = run.marks.clone();
        for owners in all {
            marks.own(owners);
        }
        marks
            .iter()
            .map(|mark| (mark.call(), mark.confidence()))
            .collect()
    }

    #[test]
    fn two_walks_find_what_one_finds() {
        let (run, links, starts) = parts(&log(1000));
        let form = Form::of(|kind| run.marks.iter().any(|mark| mark.kind() == kind));
        let walk = |from, ahead| all(&run, &links, &starts, form, Parts { from, ahead });
        let one = walk(usize::MAX, 0);
        let two = walk(1, 3000);
        assert_eq!((one.len(), two.len()), (1, 2));
        assert_eq!(owners(one, &run), owners(two, &run));
    }

    #[test]
    fn a_second_walk_that_begins_too_late_is_not_believed() {
        // The first call never ends: a walk that begins behind its start does not know of it.
        let begin = "TIMELINE,1000,GPU_START,stuck,worker=7,partition=0\n\
                     CUZK_TIMING: split_vectors_ms=3 setup_to_split_ms=5\n";
        let (run, links, starts) = parts(&format!("{begin}{}", log(600)));
        let form = Form::of(|kind| run.marks.iter().any(|mark| mark.kind() == kind));
        let walk = |from, ahead| all(&run, &links, &starts, form, Parts { from, ahead });
        let (one, two) = (walk(usize::MAX, 0), walk(1, 300));
        assert_eq!((one.len(), two.len()), (1, 1));
        assert_eq!(owners(one, &run), owners(two, &run));
    }

    /// Ends an age before and after their beginnings, on four workers at once, each call with lines
    /// that could be the others': no sum of such distances is beyond all numbers.
    #[test]
    fn calls_that_end_ages_off_are_read() {
        let mut log = String::new();
        let far = u64::MAX / 1000;
        for round in 0..40_u64 {
            let (start, end) = if round % 2 == 0 { (far, 1) } else { (1, far) };
            for worker in 0..4 {
                let at = format!("j{round},worker={worker},partition={worker}");
                writeln!(log, "TIMELINE,{start},GPU_START,{at}").unwrap();
            }
            for ms in 0..4_u64 {
                write!(
                    log,
                    "CUZK_TIMING: split_vectors_ms={ms} setup_to_split_ms={ms}\n\
                     CUZK_TIMING: prep_msm_ms={ms}\n\
                     CUZK_TIMING: b_g2_msm_ms={ms} num_circuits=1\n"
                )
                .unwrap();
            }
            for worker in 0..4 {
                let at = format!("j{round},worker={worker},partition={worker},gpu_ms={far}");
                writeln!(log, "TIMELINE,{end},GPU_END,{at}").unwrap();
            }
        }
        let source = Source::Bytes("log".to_owned(), log.into_bytes());
        let run = read(&[source]).unwrap().0.runs.remove(0);
        assert_eq!(run.calls.len(), 160);
    }
}

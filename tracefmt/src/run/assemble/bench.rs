//! The output of the benchmark client, from its header to the next.

use crate::record::BenchLine;
use crate::run::{Bench, BenchProof, LineRef};

/// Collects it.
#[derive(Debug, Default)]
pub(super) struct Benches {
    all: Vec<(Bench, Option<usize>)>,
}

impl Benches {
    /// Takes one line; `run` is the run that the input is in.
    pub(super) fn line(&mut self, at: LineRef, line: &BenchLine, run: Option<usize>) {
        let fresh = Bench {
            line: at,
            ..Bench::default()
        };
        if matches!(line, BenchLine::Header) && self.all.last().is_none_or(|(b, _)| b.has_body()) {
            self.all.push((fresh, run));
            return;
        }
        if self.all.is_empty() {
            self.all.push((fresh, run));
        }
        let Some((bench, _)) = self.all.last_mut() else {
            return;
        };
        match line {
            BenchLine::Count(count) => bench.count = Some(*count),
            BenchLine::Concurrency(count) => bench.concurrency = Some(*count),
            BenchLine::Proof {
                index,
                status,
                wall_s,
                prove_ms,
                ..
            } => bench.proofs.push(BenchProof {
                index: *index,
                status: status.clone(),
                wall_s: *wall_s,
                prove_ms: *prove_ms,
                line: at,
            }),
            BenchLine::Completed(count) => bench.completed = Some(*count),
            BenchLine::Failed(count) => bench.failed = Some(*count),
            BenchLine::TotalTime(seconds) => bench.total_s = Some(*seconds),
            BenchLine::Throughput(rate) => bench.throughput = Some(*rate),
            BenchLine::Header | BenchLine::Other => {}
        }
    }

    /// Everything collected; a run that came to nothing is forgotten.
    pub(super) fn finish(mut self, runs: usize) -> Vec<(Bench, Option<usize>)> {
        for (_, run) in &mut self.all {
            *run = run.filter(|run| *run < runs);
        }
        self.all
    }
}

impl Bench {
    /// Whether anything but the header was seen, apart from the summary's header.
    fn has_body(&self) -> bool {
        self.completed.is_some() || self.failed.is_some() || self.throughput.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(index: u64) -> BenchLine {
        BenchLine::Proof {
            index,
            of: 2,
            completed: true,
            status: "COMPLETED".into(),
            wall_s: 2.5,
            prove_ms: 7,
            queue_ms: 0,
        }
    }

    #[test]
    fn a_summary_belongs_to_its_bench_and_a_new_header_begins_another() {
        let lines = [
            BenchLine::Header,
            BenchLine::Count(2),
            BenchLine::Concurrency(1),
            proof(1),
            proof(2),
            BenchLine::Header,
            BenchLine::TotalTime(5.0),
            BenchLine::Completed(2),
            BenchLine::Failed(0),
            BenchLine::Throughput(24.0),
            BenchLine::Header,
            BenchLine::Count(1),
        ];
        let mut benches = Benches::default();
        for (line, record) in (1_u32..).zip(&lines) {
            benches.line(LineRef::new(0, line), record, Some(0));
        }
        let all = benches.finish(1);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].0.proofs.len(), 2);
        assert_eq!(all[0].0.completed, Some(2));
        assert_eq!((all[0].0.line.line, all[1].0.line.line), (1, 11));
        assert_eq!(all[1].0.count, Some(1));
    }

    #[test]
    fn a_bench_without_a_run_is_kept() {
        let mut benches = Benches::default();
        benches.line(LineRef::default(), &BenchLine::Failed(3), Some(4));
        assert_eq!(benches.finish(1)[0].1, None);
    }
}

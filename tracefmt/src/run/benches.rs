//! Which run a benchmark client spoke of, when it wrote into a file of its own.

use super::{Bench, JobOutcome, Run};

/// Gives each run its benchmark: the one printed in the same input, else the run whose jobs came
/// out as the benchmark says, the earliest such that has none yet.
pub(super) fn give(runs: &mut [Run], benches: Vec<(Bench, Option<usize>)>) {
    let mut homeless = Vec::new();
    for (bench, run) in benches {
        match run.and_then(|run| runs.get_mut(run)) {
            Some(run) if run.bench.is_none() => run.bench = Some(bench),
            _ => homeless.push(bench),
        }
    }
    for bench in homeless {
        let free = runs.iter_mut().filter(|run| run.bench.is_none());
        let best = free.min_by_key(|run| distance(run, &bench));
        if let Some(run) = best {
            run.bench = Some(bench);
        }
    }
}

/// How far the counts of a run and of a benchmark lie apart.
fn distance(run: &Run, bench: &Bench) -> u64 {
    let count = |outcome| {
        let jobs = run.jobs.iter().filter(|job| job.outcome == outcome);
        u64::try_from(jobs.count()).unwrap_or(u64::MAX)
    };
    let completed = count(JobOutcome::Completed);
    let jobs = u64::try_from(run.jobs.len()).unwrap_or(u64::MAX);
    let said = |number: Option<u64>, found: u64| number.map_or(0, |said| said.abs_diff(found));
    said(bench.completed, completed)
        .saturating_add(said(bench.failed, count(JobOutcome::Failed)))
        .saturating_add(said(bench.count, jobs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Job;

    fn run(outcomes: &[JobOutcome]) -> Run {
        let jobs = outcomes.iter().map(|outcome| Job {
            outcome: *outcome,
            ..Job::default()
        });
        Run {
            jobs: jobs.collect(),
            ..Run::default()
        }
    }

    #[test]
    fn the_run_whose_jobs_came_out_so_gets_it() {
        use JobOutcome::{Completed, Open};
        let mut runs = [run(&[Open, Open, Open]), run(&[Completed; 3])];
        let bench = Bench {
            count: Some(3),
            completed: Some(3),
            failed: Some(0),
            ..Bench::default()
        };
        give(&mut runs, vec![(bench.clone(), None)]);
        assert!(runs[0].bench.is_none());
        assert_eq!(runs[1].bench, Some(bench));
    }

    #[test]
    fn the_same_input_decides_first_and_nobody_gets_two() {
        let mut runs = [run(&[]), run(&[])];
        let bench = |count| Bench {
            count: Some(count),
            ..Bench::default()
        };
        let said = vec![(bench(1), Some(1)), (bench(2), Some(1)), (bench(3), None)];
        give(&mut runs, said);
        assert_eq!(runs[1].bench, Some(bench(1)));
        assert_eq!(runs[0].bench, Some(bench(2)));
    }

    /// A client that is no client of ours may count anything.
    #[test]
    fn counts_beyond_all_numbers_are_far_apart() {
        let mut runs = [run(&[])];
        let bench = Bench {
            count: Some(u64::MAX),
            completed: Some(u64::MAX),
            failed: Some(u64::MAX),
            ..Bench::default()
        };
        give(&mut runs, vec![(bench.clone(), None)]);
        assert_eq!(runs[0].bench, Some(bench));
    }
}

//! One trace to one [`Analysis`]: times, idle causes, phases, critical path, findings.

mod gpu;
mod regions;

use tracefmt::run::{Run, Trace};

use crate::idle::{Demand, Listing, usage};
use crate::interval::reconstruct;
use crate::model::{Analysis, StepsLeftOut};
use crate::{find, path, phase};

/// What to list; sums never depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Idle gaps shorter than this, in milliseconds, are summed but not listed.
    pub gap_floor_ms: f64,
    /// At most this many gaps a GPU are listed, the longest ones.
    pub gaps_max: usize,
    /// At most this many steps of a run's critical path are listed, the last ones.
    pub steps_max: usize,
    /// Whether to list the regions: a run of a million partitions has a million of them.
    pub regions: bool,
    /// Idle time is a finding when one cause takes this share of a GPU's span.
    pub idle_share_min: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            gap_floor_ms: 1.0,
            gaps_max: 100_000,
            steps_max: 100_000,
            regions: true,
            idle_share_min: 0.05,
        }
    }
}

impl Options {
    /// Which gaps are listed.
    pub fn listing(&self) -> Listing {
        Listing {
            floor_ms: self.gap_floor_ms,
            most: self.gaps_max,
        }
    }
}

/// Analyzes all runs of a trace.
///
/// An empty trace gives an empty analysis; nothing in a trace makes it fail.
pub fn analyze(trace: &Trace, options: &Options) -> Analysis {
    let mut analysis = Analysis::default();
    let (phases, ()) = rayon::join(
        || phase::rows(trace),
        || {
            for run in &trace.runs {
                add_run(trace, run, options, &mut analysis);
            }
        },
    );
    analysis.phases = phases;
    for (index, finding) in analysis.findings.iter_mut().enumerate() {
        finding.id = format!("f{index}");
    }
    analysis
}

fn add_run(trace: &Trace, run: &Run, options: &Options, analysis: &mut Analysis) {
    let all = reconstruct(run);
    let Some(span) = all.span else { return };
    let sight = find::Sight {
        trace,
        run,
        all: &all,
    };
    let rows = || {
        let demand = Demand::of(run, span);
        let row = |gpu: &u32| {
            let usage = usage(&all, &demand, *gpu, options.listing())?;
            Some(gpu::row(run, &all, &usage, *gpu))
        };
        all.gpus.iter().filter_map(row).collect::<Vec<_>>()
    };
    let path = || path::critical_path(run, &all, options.steps_max);
    let found = || [find::contention(&sight), find::out_of_order(&sight)];
    let (rows, (path, found)) = rayon::join(rows, || rayon::join(path, found));
    for row in rows {
        analysis.findings.extend(find::idle(&sight, &row, options));
        analysis.gpus.push(row);
    }
    analysis.findings.extend(found.into_iter().flatten());
    analysis.critical_path.extend(path.steps);
    if path.left_out > 0 {
        analysis.critical_path_left_out.push(StepsLeftOut {
            run: run.index,
            steps: path.left_out,
        });
    }
    if options.regions {
        regions::add(run, &all, &mut analysis.regions);
    }
}

#[cfg(test)]
mod tests;

//! Judging a schedule while it is read, in memory for what is live.
//!
//! A healthy schedule of ten million ops need not be kept to be called healthy. [`Quiet`] runs each
//! op through the model as it comes and watches for everything that a check could find; it is
//! either sure that there is nothing, and then gives the report that [`crate::report::replay`]
//! would give, or it says so at the first op that it is not sure of, and the schedule has to be
//! judged as a whole. It is coarser than the checks and never silent where they are not: what it
//! gives up on are failed calls, two workers that need one lock, nested locks, memory held beyond
//! an unlock or the end, work and frees on different streams, and whatever else takes hindsight.
//!
//! Where the op is a request that fails, the part of the schedule that shows it is picked out of a
//! second reading ([`Short`]) and judged ([`Quiet::judge`]): root and verdict are those of the
//! whole; what comes long after the first failure is left out, and counted.

mod short;
mod watch;

use tracefmt::ops::{GpuSpec, Header, Op, Step};

use crate::report::{Report, Request, SCHEMA, Truth, Verdict, replay};
use crate::run::{Options, Peak, Record, record};
use crate::vram::{Machine, Outcome, Profile, RC_OUT_OF_MEMORY};
pub use short::Short;
use watch::Watch;

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// Nothing is wrong so far.
    Clear,
    /// A request failed, and all before it was clear.
    Failed,
    /// It takes the whole schedule to judge it.
    Unsure,
}

/// A replay that keeps nothing but what is live.
#[derive(Debug)]
pub struct Quiet {
    header: Header,
    profile: Profile,
    machine: Machine,
    watch: Watch,
    peaks: Vec<Peak>,
    truth: Truth,
    steps: usize,
    /// The answer to the request that failed.
    failed: Option<Outcome>,
}

impl Quiet {
    /// Nothing has run yet.
    pub fn new(header: Header, profile: Profile) -> Self {
        let peak = |gpu: &GpuSpec| Peak {
            bytes: gpu.baseline,
            at: 0,
        };
        Self {
            machine: Machine::new(profile, &header),
            watch: Watch::default(),
            peaks: header.gpus.iter().map(peak).collect(),
            truth: Truth::default(),
            steps: 0,
            failed: None,
            header,
            profile,
        }
    }

    /// Runs the next op. After anything but [`Said::Clear`] no other may follow.
    pub fn step(&mut self, step: &Step) -> Said {
        if let Op::HostUnmap { addr, bytes } = step.op
            && self
                .machine
                .host()
                .overlapping(addr, bytes)
                .next()
                .is_some()
        {
            return Said::Unsure;
        }
        let outcome = self.machine.apply(step);
        let recorded = step.rc.unwrap_or(outcome.rc);
        let asks = matches!(step.op, Op::Malloc { .. } | Op::MallocAsync { .. });
        if asks && outcome.rc == RC_OUT_OF_MEMORY && recorded == outcome.rc {
            self.failed = Some(outcome);
            return Said::Failed;
        }
        if outcome.rc != 0 || recorded != 0 || !self.watch.is_clear(self.steps, step, outcome.free)
        {
            return Said::Unsure;
        }
        self.truth.count(step, outcome.rc, &outcome);
        let gpu = record::gpu_of(step);
        if let (Some(peak), Some(spec)) = (self.peaks.get_mut(gpu), self.header.gpus.get(gpu)) {
            let used = spec.capacity.saturating_sub(outcome.free);
            if used > peak.bytes {
                *peak = Peak {
                    bytes: used,
                    at: self.steps,
                };
            }
        }
        self.steps += 1;
        Said::Clear
    }

    /// What picks the part that shows the failure out of a second reading; none if no request
    /// failed.
    pub fn short(&self) -> Option<Short> {
        self.failed?;
        let (before, live) = self.watch.roots();
        Some(Short::new(self.header.clone(), before, self.steps, live))
    }

    /// Judges the part that shows the failure of a schedule of so many `steps`; none if the
    /// request does not fail in it as it did in the whole, which then has to be judged.
    pub fn judge(self, short: Short, steps: u64, path: &str) -> Option<Report> {
        let part = short.finish()?;
        let left_out = part.left_out;
        let record = Record::of(&part.schedule, &Options::recorded(self.profile));
        let (_, first, _) = record.failed_allocations(&part.schedule).next()?;
        if first.at != part.failing || Some(first.outcome) != self.failed {
            return None;
        }
        let request = Request {
            driver: Some(self.profile),
            min_vram: false,
            ..Request::events(path)
        };
        let mut report = replay(&part.schedule, &request).ok()?;
        if report.verdict != Verdict::Fails {
            return None;
        }
        for finding in &mut report.findings {
            if let Some(what_if) = &mut finding.what_if
                && what_if.passes
            {
                // What a change does to the ops that were left out was not tried.
                what_if.passes = left_out == 0;
                what_if.unrecorded = left_out;
            }
        }
        let peak = self.fullest().0;
        if peak.bytes >= report.peak_bytes {
            (report.peak_bytes, report.peak_step) = (peak.bytes, peak.at as u64);
        } else {
            let at = usize::try_from(report.peak_step).ok();
            let at = at.and_then(|at| part.origin.get(at));
            report.peak_step = at.map_or(0, |at| *at as u64);
        }
        report.steps = steps;
        report.ran = (self.steps + 1) as u64;
        report.truth = self.truth;
        report.left_out = left_out;
        report.first_failure = Some(self.steps as u64);
        Some(report)
    }

    /// The card whose peak is closest to its capacity.
    fn fullest(&self) -> (Peak, Option<&GpuSpec>) {
        let cards = self.peaks.iter().zip(&self.header.gpus);
        let room = |(peak, spec): &(&Peak, &GpuSpec)| spec.capacity.saturating_sub(peak.bytes);
        let fullest = cards.min_by_key(room);
        fullest.map_or((Peak::default(), None), |(peak, spec)| (*peak, Some(spec)))
    }

    /// The report, when every op has run; none when the end has to be judged as a whole.
    pub fn finish(self) -> Option<Report> {
        if !self.watch.is_clear_at_the_end() {
            return None;
        }
        let (peak, card) = self.fullest();
        Some(Report {
            schema: SCHEMA.to_owned(),
            run: None,
            source: "events".to_owned(),
            profile: None,
            driver: self.profile.name.to_owned(),
            capacity: card.map_or(0, |spec| spec.capacity),
            baseline: card.map_or(0, |spec| spec.baseline),
            peak_bytes: peak.bytes,
            peak_step: peak.at as u64,
            min_vram_bytes: None,
            min_vram_unrecorded: None,
            binding: None,
            steps: self.steps as u64,
            ran: self.steps as u64,
            unread_lines: 0,
            undecided: 0,
            verdict: Verdict::Passes,
            failed_allocations: 0,
            unseen_failures: 0,
            fell_back: 0,
            unrecorded: 0,
            first_failure: None,
            left_out: 0,
            truth: self.truth,
            explored: None,
            passing_order: None,
            failing_order: None,
            stuck_order: None,
            misuse_order: None,
            what_if: Vec::new(),
            findings: Vec::new(),
            runs: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Request, replay};
    use crate::testing::schedule;
    use crate::vram::H200_580;

    fn quiet(lines: &str) -> Option<Report> {
        let schedule = schedule(lines);
        let mut quiet = Quiet::new(schedule.header.clone(), H200_580);
        schedule
            .steps
            .iter()
            .all(|step| quiet.step(step) == Said::Clear)
            .then(|| quiet.finish())
            .flatten()
    }

    const WELL: &str = "0 lock name=gpu
                        0 malloc id=1 bytes=4G buf=d_a partition=0 rc=0
                        0 mallocAsync id=2 bytes=1G stream=1 partition=0
                        0 launch stream=1 reads=[1] writes=[2] partition=0
                        0 freeAsync id=2 stream=1 partition=0
                        0 streamSync stream=1 partition=0
                        0 free id=1 partition=0
                        0 unlock name=gpu
                        1 lock name=gpu
                        1 malloc id=1 bytes=8G partition=1
                        1 free id=1 partition=1
                        1 unlock name=gpu";

    #[test]
    fn a_healthy_schedule_has_the_report_of_the_whole() {
        let report = quiet(WELL).expect("nothing is wrong");
        let request = Request {
            min_vram: false,
            ..Request::events("a")
        };
        let whole = replay(&schedule(WELL), &request);
        assert_eq!(Ok(report), whole);
    }

    /// The report of the part of a schedule that shows its first failure.
    fn judged(lines: &str) -> Option<Report> {
        let schedule = schedule(lines);
        let mut quiet = Quiet::new(schedule.header.clone(), H200_580);
        let mut said = schedule.steps.iter().map(|step| quiet.step(step));
        let said = said.find(|said| *said != Said::Clear);
        assert_eq!(said, Some(Said::Failed), "{lines}");
        let mut short = quiet.short()?;
        for (at, step) in schedule.steps.iter().enumerate() {
            let line = schedule.line_of(at).unwrap_or(0);
            short.offer(at, line, step.clone());
        }
        quiet.judge(short, schedule.steps.len() as u64, "a")
    }

    /// What was freed before has no part in it, and what follows long after is left out; what is
    /// found is what the whole shows.
    #[test]
    fn the_part_that_fails_shows_what_the_whole_shows() {
        let well = "0 lock name=gpu
                    0 malloc id=1 bytes=4G partition=0
                    0 launch stream=1 writes=[1] partition=0
                    0 free id=1 partition=0
                    0 unlock name=gpu\n";
        let late = "1 lock name=gpu
                    1 malloc id=2 bytes=8G buf=d_bc partition=1
                    1 launch stream=1 writes=[2] partition=1
                    1 unlock name=gpu
                    0 lock name=gpu
                    0 malloc id=3 bytes=2G buf=d_a partition=2
                    0 malloc id=4 bytes=8G buf=d_bc partition=2
                    0 free id=3 partition=2
                    0 unlock name=gpu
                    1 free id=2 partition=1\n";
        let large = "0 malloc id=2 bytes=99G on_error=ignore buf=d_x partition=3\n";
        let held = "0 malloc id=2 bytes=9G buf=d_a partition=3
                    1 malloc id=3 bytes=9G buf=d_a partition=4\n";
        for (failing, after) in [(late, 0), (large, 2), (large, 9000), (held, 2)] {
            let lines = well.repeat(40) + failing + &well.repeat(after);
            let whole = schedule(&lines);
            let request = Request {
                min_vram: false,
                ..Request::events("a")
            };
            let whole = replay(&whole, &request).expect("a known driver");
            let part = judged(&lines).expect("it fails in the part too");
            assert_eq!(part.verdict, whole.verdict);
            assert_eq!(
                (part.steps, part.peak_bytes),
                (whole.steps, whole.peak_bytes)
            );
            assert_eq!(part.peak_step, whole.peak_step);
            assert_eq!(part.left_out > 0, after > 1000);
            let mut known = whole.findings;
            for finding in &mut known {
                if let Some(what_if) = &mut finding.what_if {
                    what_if.unrecorded = part.left_out;
                    what_if.passes &= part.left_out == 0;
                }
            }
            assert_eq!(part.findings, known);
        }
    }

    #[test]
    fn whatever_takes_hindsight_is_not_judged_here() {
        for (what, lines) in [
            ("a leak", "0 malloc id=1 bytes=1 partition=0"),
            ("a failure", "0 malloc id=1 bytes=99G on_error=ignore"),
            ("a recorded failure", "0 ctxSync rc=13"),
            (
                "a name used twice",
                "0 malloc id=1 bytes=1\n0 malloc id=1 bytes=1\n0 free id=1",
            ),
            (
                "memory given back while it is registered",
                "0 hostRegister addr=4096 bytes=10\n0 hostUnmap addr=4096 bytes=10",
            ),
            ("an unknown name", "0 launch stream=1 reads=[7]"),
            (
                "a second free",
                "0 malloc id=1 bytes=1\n0 free id=1\n0 free id=1",
            ),
            (
                "a lock in a lock",
                "0 lock name=a\n0 lock name=b\n0 unlock name=b\n0 unlock name=a",
            ),
            (
                "a lock that is held",
                "0 lock name=a\n1 lock name=a\n0 unlock name=a\n1 unlock name=a",
            ),
            ("a lock kept", "0 lock name=a"),
            ("an unlock without a lock", "0 unlock name=a"),
            (
                "memory past the unlock",
                "0 lock name=a
                0 malloc id=1 bytes=1 partition=0\n0 unlock name=a\n0 free id=1",
            ),
            (
                "another stream",
                "0 mallocAsync id=1 bytes=1 stream=1
                0 launch stream=1 reads=[1]\n0 freeAsync id=1 stream=2",
            ),
            (
                "a free that needs a sync",
                "0 malloc id=1 bytes=1\n0 freeAsync id=1 stream=legacy",
            ),
            (
                "memory held without a lock",
                "0 malloc id=1 bytes=1 partition=0
                1 malloc id=2 bytes=1 partition=1\n1 free id=2 partition=1\n0 free id=1 partition=0
                0 lock name=a\n0 unlock name=a",
            ),
            (
                "one partition, two workers",
                "0 ctxSync partition=0\n1 ctxSync partition=0",
            ),
            ("a need that is not met", "0 memGetInfo need=99999999999999"),
            ("a barrier", "0 barrier name=a n=1"),
            ("a panic", "0 panic"),
        ] {
            assert_eq!(quiet(lines), None, "{what}");
        }
    }
}

//! The result of a replay, `cuzk.replay/1`: peak, smallest card, agreement with what was
//! recorded, findings. Fields may be added, never changed; sizes are bytes, steps count from 0.

mod model;

use tracefmt::finding::{Finding, Severity};
use tracefmt::ops::{OnError, Schedule};

use crate::check::{self, Scene, Source, recovered};
use crate::life::{Buffer, Cuts};
use crate::minimum::{Minimum, minimum};
use crate::run::{Peak, Ran};
use crate::vram::{Profile, UnknownProfile};

pub use model::{Binding, Changed, Explored, Live, Outcome, Report, SCHEMA, Truth, Verdict};

/// What is asked of a replay.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The input as the user named it.
    pub path: &'a str,
    /// Where the schedule comes from.
    pub source: Source,
    /// The lifecycle profile that rebuilt it.
    pub lifecycle: Option<&'a str>,
    /// Another driver than the header's.
    pub driver: Option<Profile>,
    /// Whether to look for the smallest card.
    pub min_vram: bool,
}

impl<'a> Request<'a> {
    /// A plain replay of a recorded schedule.
    pub fn events(path: &'a str) -> Self {
        Self {
            path,
            source: Source::Events,
            lifecycle: None,
            driver: None,
            min_vram: true,
        }
    }
}

/// Replays a schedule: runs it, checks it, and compares it with what was recorded.
///
/// # Errors
/// [`UnknownProfile`] when the header names a driver without a profile and none is given.
pub fn replay(schedule: &Schedule, request: &Request<'_>) -> Result<Report, UnknownProfile> {
    let profile = match request.driver {
        Some(profile) => profile,
        None => Profile::named(&schedule.header.driver)?,
    };
    let scene = Scene::new(schedule, request.source, profile, request.path);
    let (gpu, peak) = fullest(&scene);
    let spec = schedule.header.gpus.get(gpu);
    let smallest = if request.min_vram {
        minimum(schedule, profile)
    } else {
        None
    };
    let findings = check::all(&scene);
    let Failures {
        failed,
        unseen,
        fell_back,
    } = failures(&scene);
    let unrecorded = Cuts::of(schedule).passed(&scene.record).count() as u64;
    Ok(Report {
        schema: SCHEMA.to_owned(),
        run: None,
        source: match request.source {
            Source::Events => "events",
            Source::Profile => "profile",
        }
        .to_owned(),
        profile: request.lifecycle.map(str::to_owned),
        driver: profile.name.to_owned(),
        capacity: spec.map_or(0, |gpu| gpu.capacity),
        baseline: spec.map_or(0, |gpu| gpu.baseline),
        peak_bytes: peak.bytes,
        peak_step: peak.at as u64,
        min_vram_bytes: smallest.as_ref().map(|minimum| minimum.bytes),
        min_vram_unrecorded: smallest
            .as_ref()
            .and_then(|minimum| minimum.unrecorded)
            .map(|step| step as u64),
        binding: smallest.and_then(|minimum| binding(&scene, &minimum)),
        steps: schedule.steps.len() as u64,
        ran: scene.record.ran.len() as u64,
        unread_lines: schedule.errors_total,
        undecided: undecided(&findings),
        verdict: verdict(&findings, failed, unrecorded),
        failed_allocations: failed,
        unseen_failures: unseen,
        fell_back,
        unrecorded,
        first_failure: None,
        left_out: 0,
        truth: truth(schedule, &scene.record.ran),
        explored: None,
        passing_order: None,
        failing_order: None,
        stuck_order: None,
        misuse_order: None,
        what_if: Vec::new(),
        findings,
        runs: Vec::new(),
    })
}

/// Parts of the locks of which nobody knows whether a circle is in them.
fn undecided(findings: &[Finding]) -> u64 {
    let parts = findings.iter();
    parts.filter(|finding| check::is_undecided(finding)).count() as u64
}

/// Errors decide; failures without one are failures that nobody saw.
fn verdict(findings: &[Finding], failed: u64, unrecorded: u64) -> Verdict {
    let error = |finding: &Finding| finding.severity == Severity::Error;
    if findings.iter().any(error) {
        Verdict::Fails
    } else if failed > 0 {
        Verdict::FailsUnseen
    } else if unrecorded > 0 {
        Verdict::Unrecorded
    } else {
        Verdict::Passes
    }
}

/// How many allocations failed, how many of them unseen, and how many others a smaller plan made
/// good.
#[derive(Default)]
struct Failures {
    failed: u64,
    unseen: u64,
    fell_back: u64,
}

fn failures(scene: &Scene<'_>) -> Failures {
    let mut found = Failures::default();
    for (_, ran, step) in scene.record.failed_allocations(scene.schedule) {
        if recovered(step) {
            found.fell_back += 1;
            continue;
        }
        let swallowed = *step.on_error() == OnError::Ignore;
        found.failed += 1;
        found.unseen += u64::from(swallowed || scene.severity(ran.at) < Severity::Error);
    }
    found
}

/// The card whose peak is closest to its capacity.
fn fullest(scene: &Scene<'_>) -> (usize, Peak) {
    let cards = scene.record.peaks.iter().zip(&scene.schedule.header.gpus);
    let fullest = cards
        .enumerate()
        .min_by_key(|(_, (peak, gpu))| gpu.capacity.saturating_sub(peak.bytes));
    fullest.map_or((0, Peak::default()), |(index, (peak, _))| (index, *peak))
}

fn binding(scene: &Scene<'_>, minimum: &Minimum) -> Option<Binding> {
    let found = minimum.binding.as_ref()?;
    let mut buffers: Vec<&Buffer> = found.live.iter().collect();
    buffers.sort_by_key(|buffer| (std::cmp::Reverse(buffer.bytes), buffer.made));
    let live = buffers.into_iter().map(|buffer| {
        let made = scene.schedule.steps.get(buffer.at);
        let name = made.and_then(|step| step.buf().map(str::to_owned));
        Live {
            buf: name.unwrap_or_else(|| format!("id {}", buffer.id)),
            worker: buffer.worker,
            bytes: buffer.bytes,
        }
    });
    Some(Binding {
        step: found.at as u64,
        live: live.collect(),
    })
}

/// Compares the steps that ran with what was recorded of them.
fn truth(schedule: &Schedule, ran: &[Ran]) -> Truth {
    let mut truth = Truth::default();
    for one in ran {
        if let Some(step) = schedule.steps.get(one.at) {
            truth.count(step, one.predicted, &one.outcome);
        }
    }
    truth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{schedule, with_header};

    fn report(lines: &str) -> Report {
        replay(&schedule(lines), &Request::events("a.jsonl")).expect("a known driver")
    }

    #[test]
    fn a_report_says_peak_minimum_and_what_binds() {
        let report = report(
            "0 malloc id=1 bytes=4G buf=d_a
             0 malloc id=2 bytes=8G worker_note=x
             0 free id=2
             0 free id=1",
        );
        assert_eq!((report.peak_bytes, report.peak_step), (12 << 30, 1));
        assert_eq!(report.min_vram_bytes, Some((12 << 30) + (2 << 20)));
        let binding = report.binding.expect("a binding step");
        let live = Live {
            buf: "d_a".to_owned(),
            worker: 0,
            bytes: 4 << 30,
        };
        assert_eq!((binding.step, binding.live), (1, vec![live]));
        assert_eq!(
            (report.steps, report.ran, report.failed_allocations),
            (4, 4, 0)
        );
        assert_eq!(report.truth, Truth::default());
        assert!(report.findings.is_empty() && report.profile.is_none());
    }

    #[test]
    fn agreement_is_counted_where_something_was_recorded() {
        let report = report(
            "0 malloc id=1 bytes=2M rc=0 free=17177772032
             0 malloc id=2 bytes=2M rc=0 free=5
             0 malloc id=3 bytes=2M rc=2 on_error=ignore
             0 malloc id=4 bytes=2M",
        );
        let truth = Truth {
            checked: 3,
            rc_agree: 2,
            agree: 1,
        };
        assert_eq!(report.truth, truth);
    }

    #[test]
    fn the_json_has_the_documented_names_and_reads_back() {
        let report = report("0 malloc id=1 bytes=99G");
        let json = serde_json::to_value(&report).expect("JSON");
        for key in [
            "schema",
            "source",
            "profile",
            "driver",
            "capacity",
            "baseline",
            "peak_bytes",
            "peak_step",
            "min_vram_bytes",
            "binding",
            "steps",
            "truth",
            "explored",
            "findings",
        ] {
            assert!(json.get(key).is_some(), "{key}");
        }
        assert_eq!(json["schema"], "cuzk.replay/1");
        assert_eq!(json["source"], "events");
        let back: Report = serde_json::from_value(json).expect("own output");
        assert_eq!(back, report);
    }

    #[test]
    fn the_fullest_card_is_the_one_reported() {
        let header = r#"{"schema":"cuzk.ops/1","gpus":[{"capacity":8589934592},
            {"capacity":4294967296,"baseline":7}]}"#
            .replace('\n', "");
        let two = with_header(
            &header,
            "0 malloc id=1 bytes=4G\n0 malloc id=2 bytes=3G gpu=1",
        );
        let report = replay(&two, &Request::events("a")).expect("a known driver");
        assert_eq!((report.capacity, report.baseline), (4 << 30, 7));
        assert_eq!(report.peak_bytes, (3 << 30) + 7);
    }

    #[test]
    fn an_unknown_driver_is_refused_unless_another_is_given() {
        let mut schedule = schedule("0 ctxSync");
        schedule.header.driver = "rtx".to_owned();
        let mut request = Request::events("a");
        assert!(replay(&schedule, &request).is_err());
        request.driver = Some(crate::vram::STRICT);
        assert_eq!(replay(&schedule, &request).expect("given").driver, "strict");
    }

    /// The registration that worker 0 left behind keeps worker 1 from pinning, twice.
    #[test]
    fn a_host_error_that_stays_is_no_pass_under_a_change() {
        let lines = "0 hostRegister addr=4096 bytes=4096
                     0 malloc id=1 bytes=1G
                     0 free id=1
                     0 hostUnmap addr=4096 bytes=4096
                     1 hostRegister addr=4096 bytes=4096 on_error=ignore
                     1 hostRegister addr=4096 bytes=4096 on_error=ignore";
        let schedule = schedule(lines);
        let report = replay(&schedule, &Request::events("a")).expect("a known driver");
        assert_eq!(report.verdict, Verdict::Fails);
        let change = crate::change::Change::Vram(64 << 30);
        let changed = Changed::run(&[change], &schedule, crate::vram::H200_580);
        assert_eq!((changed.passes, changed.host_errors), (false, 1));
        assert_eq!(changed.failed_allocations, 0);
    }

    /// A record may say that anything succeeded: what is live then is beyond all numbers.
    #[test]
    fn sizes_whose_sum_no_number_holds_are_reported() {
        let max = u64::MAX;
        let made = |id| format!("0 malloc id={id} bytes={max} rc=0 buf=d_a partition=0");
        let freed = |id| format!("0 freeAsync id={id} stream=1 partition=0");
        let asked = format!("1 malloc id=9 bytes={max} partition=1");
        let lines = (0..8).map(made).chain((0..3).map(freed)).chain([asked]);
        let found = report(&lines.collect::<Vec<_>>().join("\n"));
        assert_eq!(found.verdict, Verdict::Fails);
        assert!(!found.findings.is_empty());
    }
}

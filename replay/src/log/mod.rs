//! From a run of a log to its replay, whatever the log records.
//!
//! A run with memory events is replayed as recorded; an older one as its lifecycle profile
//! rebuilds it. Evidence of a rebuilt schedule names lines of the log, but not their text: the
//! ops are ours, the lines are the log's.

use tracefmt::ops::Schedule;
use tracefmt::run::{LineRef, Run};

use crate::check::Source;
use crate::events;
use crate::lifecycle::{self, Given};
use crate::report::{Report, Request, replay};
use crate::vram::{Profile, UnknownProfile};

/// The schedule of a run, and how it was come by.
#[derive(Debug, Clone)]
pub struct OfRun {
    /// The schedule.
    pub schedule: Schedule,
    /// The line of each step.
    pub refs: Vec<LineRef>,
    /// Recorded or rebuilt.
    pub source: Source,
    /// The lifecycle profile, if rebuilt.
    pub profile: Option<&'static str>,
    /// What was assumed beyond the log, in words.
    pub assumed: Vec<String>,
}

/// The schedule of a run: recorded where the run recorded one, else rebuilt; none when neither
/// can be had.
pub fn schedule_of(run: &Run, given: &Given) -> Option<OfRun> {
    let recorded = if given.version.is_none() {
        events::recorded(run)
    } else {
        None
    };
    if let Some(recorded) = recorded {
        let mut schedule = recorded.schedule;
        for gpu in &mut schedule.header.gpus {
            gpu.capacity = given.vram.unwrap_or(gpu.capacity);
            gpu.baseline = given.baseline.unwrap_or(gpu.baseline);
        }
        return Some(OfRun {
            schedule,
            refs: recorded.refs,
            source: Source::Events,
            profile: None,
            assumed: Vec::new(),
        });
    }
    let rebuilt = lifecycle::rebuild(run, given)?;
    Some(OfRun {
        schedule: rebuilt.schedule,
        refs: rebuilt.refs,
        source: Source::Profile,
        profile: Some(rebuilt.profile),
        assumed: rebuilt.assumed,
    })
}

/// Replays a run of the log at `path`; none when no schedule can be had.
///
/// # Errors
/// [`UnknownProfile`] when a recorded schedule names a driver without a profile.
pub fn replay_run(
    run: &Run,
    given: &Given,
    path: &str,
    driver: Option<Profile>,
) -> Result<Option<Report>, UnknownProfile> {
    let Some(of_run) = schedule_of(run, given) else {
        return Ok(None);
    };
    replay_of(run, &of_run, path, driver, true).map(Some)
}

/// Replays a run whose schedule is at hand; `min_vram` also looks for the smallest card.
///
/// # Errors
/// As [`replay_run`].
pub fn replay_of(
    run: &Run,
    of_run: &OfRun,
    path: &str,
    driver: Option<Profile>,
    min_vram: bool,
) -> Result<Report, UnknownProfile> {
    let request = Request {
        path,
        source: of_run.source,
        lifecycle: of_run.profile,
        driver,
        min_vram,
    };
    let mut report = replay(&of_run.schedule, &request)?;
    report.run = Some(run.index);
    for finding in &mut report.findings {
        finding.run = Some(run.index);
        for evidence in &mut finding.evidence {
            // The text of an op is not a text of the log.
            evidence.text.clear();
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use tracefmt::finding::{Code, Confidence, Finding, OomCause};
    use tracefmt::run::{Source as Input, read};

    use super::*;

    fn run(text: &str) -> Run {
        let source = Input::Bytes("a.log".to_owned(), text.as_bytes().to_vec());
        read(&[source]).expect("reads").0.runs.remove(0)
    }

    const OWN: &str = "\
TIMELINE,1,MEM_INFO,j,gpu=0,worker=0,partition=0,t_us=1,free=1073741824,total=2147483648
TIMELINE,1,VRAM_ALLOC,j,gpu=0,worker=0,partition=0,t_us=2,id=1,buf=b,bytes=9,api=cudaMalloc,rc=0
";

    /// A card's free memory is no whole number of MiB.
    #[test]
    fn what_others_use_is_taken_to_the_byte() {
        let text = "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r,epoch_unix_us=1,build=b,\
                    device=d,vram_total=150109880320,vram_free=149549088768\n\
                    TIMELINE,1,VRAM_ALLOC,,gpu=0,worker=0,t_us=1,id=1,buf=d_srs,\
                    bytes=603979776,api=cudaMalloc,rc=0\n\
                    TIMELINE,1,MEM_INFO,,gpu=0,worker=0,t_us=2,free=148945108992,\
                    total=150109880320\n";
        let report = replay_run(&run(text), &Given::default(), "a.log", None);
        let report = report.expect("a known driver").expect("a schedule");
        assert_eq!(report.baseline, 560_791_552);
        assert_eq!((report.truth.checked, report.truth.agree), (2, 2));
    }

    #[test]
    fn a_recorded_run_is_replayed_as_recorded() {
        let report = replay_run(&run(OWN), &Given::default(), "a.log", None);
        let report = report.expect("a known driver").expect("a schedule");
        assert_eq!((report.source.as_str(), report.profile), ("events", None));
        assert_eq!((report.capacity, report.baseline), (2 << 30, 1 << 30));
        let leak = &report.findings[0];
        assert_eq!((leak.run, leak.evidence[0].line), (Some(0), 2));
        assert_eq!(leak.evidence[0].text, "");
    }

    #[test]
    fn what_is_given_wins_over_the_log() {
        let given = Given {
            vram: Some(8 << 30),
            baseline: Some(5),
            version: None,
        };
        let of_run = schedule_of(&run(OWN), &given).expect("a schedule");
        let gpu = &of_run.schedule.header.gpus[0];
        assert_eq!((gpu.capacity, gpu.baseline), (8 << 30, 5));
    }

    #[test]
    fn a_run_that_says_nothing_of_memory_is_not_replayed() {
        let run = run("TIMELINE,1,SYNTH_START,j,partition=0\n");
        let report = replay_run(&run, &Given::default(), "a.log", None);
        assert_eq!(report, Ok(None));
    }

    /// One partition alone on the card of the published runs: both buffers fit, and err=2 says
    /// that they did not.
    const ALONE: &str = "\
TIMELINE,1000,SYNTH_START,j,partition=0
TIMELINE,2000,SYNTH_END,j,partition=0,synth_ms=900
TIMELINE,2001,CHAN_SEND,j,partition=0
TIMELINE,2002,GPU_PICKUP,j,worker=0,partition=0
TIMELINE,2003,GPU_START,j,worker=0,partition=0
CUZK_TIMING: split_vectors_ms=9 setup_to_split_ms=9
CUZK_TIMING: prestage_setup=fallback err=2
thread 'tokio-runtime-worker' panicked at supraseal-c2/src/lib.rs:151:9:
cudaMalloc(&d_ptr, n * sizeof(T))@sppark-0.1.14/sppark/util/gpu_t.cuh:331 failed: \"out of memory\"
TIMELINE,3000,SYNTH_START,j,partition=1
";

    #[test]
    fn an_old_failure_with_room_on_the_card_is_not_explained() {
        let given = Given {
            version: Some("phase9-v1".to_owned()),
            ..Given::default()
        };
        let report = replay_run(&run(ALONE), &given, "a.log", None);
        let report = report.expect("a known driver").expect("a schedule");
        let ooms: Vec<&Finding> = report
            .findings
            .iter()
            .filter(|finding| finding.code == Code::VramOom)
            .collect();
        assert!(!ooms.is_empty(), "{:#?}", report.findings);
        for oom in ooms {
            let known = (oom.cause, oom.confidence);
            let unknown = (Some(OomCause::Unexplained), Confidence::Ambiguous);
            assert_eq!(known, unknown, "{oom:#?}");
            assert!(oom.title.contains("were free"), "{}", oom.title);
        }
    }

    #[test]
    fn an_old_log_is_rebuilt() {
        let Some(folder) = std::env::var_os("CUZK_INPUTS") else {
            println!("skipped: CUZK_INPUTS is not set");
            return;
        };
        let path = std::path::Path::new(&folder).join("runs/d02-phase9v1-late_free.log");
        let run = read(&[Input::Path(path)]).expect("reads").0.runs.remove(0);
        let report = replay_run(&run, &Given::default(), "d02.log", None);
        let report = report.expect("a known driver").expect("a schedule");
        assert_eq!(report.source, "profile");
        assert_eq!(report.profile.as_deref(), Some("phase9-v1"));
        let root = report
            .findings
            .iter()
            .find(|finding| finding.root)
            .expect("a root");
        assert_eq!(root.evidence[0].line, 86);
    }
}

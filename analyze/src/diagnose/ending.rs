//! What the end of one run says, without the rest of the diagnosis: whether the log goes on until
//! its jobs have ended. For tools that judge a run by something else, and must not call a piece
//! of it healthy.

use tracefmt::finding::{Evidence, Finding};
use tracefmt::run::{Run, Trace};

use super::device;
use super::find::truncated;
use super::scene::Scene;

/// The finding `run.truncated` of a run whose log ends before its jobs do, or in the middle of a
/// line: an error where a sign of death says so, a warning where the daemon may still be running.
/// Lines are named, not quoted.
pub fn ending(trace: &Trace, run: &Run) -> Option<Finding> {
    let calls = device::failures(run);
    let scene = Scene::new(trace, run, &calls);
    let draft = truncated::find(&scene).into_iter().next()?;
    let path = |input: u32| {
        let input = trace.inputs.get(input as usize);
        input.map_or_else(String::new, |input| input.path.clone())
    };
    let mut finding = draft.finding;
    finding.evidence = draft
        .lines
        .iter()
        .map(|at| Evidence {
            path: path(at.input()),
            line: u64::from(at.line),
            text: String::new(),
        })
        .collect();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use tracefmt::finding::Severity;
    use tracefmt::run::{Source, read};

    use super::*;

    fn of(text: &str) -> Option<(Severity, u64)> {
        let source = Source::Bytes("a.log".to_owned(), text.as_bytes().to_vec());
        let trace = read(&[source]).expect("reads").0;
        let run = trace.runs.first().expect("a run");
        let finding = ending(&trace, run)?;
        Some((finding.severity, finding.evidence.first()?.line))
    }

    #[test]
    fn a_log_that_ends_before_its_jobs_says_so() {
        let open = "TIMELINE,1,SYNTH_START,j,partition=0\n";
        let cut = format!("{open}TIMELINE,5,SYNTH_EN");
        assert_eq!(of(open), Some((Severity::Warning, 1)));
        assert_eq!(
            of(&cut).map(|(severity, _)| severity),
            Some(Severity::Error)
        );
    }
}

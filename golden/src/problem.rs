//! What stands between measurements and a verdict: a problem with its place, and whether it
//! forbids a pass.

use tracefmt::finding::{Code, Confidence, Finding, Severity};

/// Something wrong with the measurements themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind.
    pub code: Code,
    /// The phase, where it is about one.
    pub phase: Option<String>,
    /// The run, where it is about one.
    pub run: Option<String>,
    /// What was found, in a line.
    pub what: String,
    /// Whether no pass may be given while it stands.
    pub blocks: bool,
}

impl Problem {
    /// A problem that forbids a pass.
    #[must_use]
    pub fn blocking(code: Code, what: String) -> Self {
        Self {
            code,
            phase: None,
            run: None,
            what,
            blocks: true,
        }
    }

    /// Something worth saying that changes nothing.
    #[must_use]
    pub fn note(code: Code, what: String) -> Self {
        Self {
            blocks: false,
            ..Self::blocking(code, what)
        }
    }

    /// The same, about one phase.
    #[must_use]
    pub fn of_phase(mut self, phase: &str) -> Self {
        self.phase = Some(phase.to_owned());
        self
    }

    /// The same, about one run.
    #[must_use]
    pub fn of_run(mut self, run: &str) -> Self {
        self.run = Some(run.to_owned());
        self
    }

    /// As a finding of the verdict: a warning if it forbids a pass, else an information.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let severity = if self.blocks {
            Severity::Warning
        } else {
            Severity::Info
        };
        let mut title = String::new();
        for (name, value) in [("run", &self.run), ("phase", &self.phase)] {
            if let Some(value) = value {
                title.push_str(name);
                title.push(' ');
                title.push_str(value);
                title.push_str(": ");
            }
        }
        title.push_str(&self.what);
        let mut finding = Finding::new(self.code, severity, Confidence::Certain, title);
        self.code.meaning().clone_into(&mut finding.explanation);
        if self.blocks {
            finding.fix = Some(advice(self.code).to_owned());
        }
        finding
    }
}

/// What to do about a problem that forbids a pass.
fn advice(code: Code) -> &'static str {
    match code {
        Code::GateNoBaseline => "record runs of the accepted code and accept them",
        Code::GateNotComparable => "compare on the machine and the input of the golden",
        Code::GatePhaseSet => "if the phases changed on purpose, record and accept a new golden",
        Code::GateUnverified => "verify the proofs of the benchmark, or allow unverified times",
        Code::GateCopiedRun => "give every run once",
        Code::GateInjected => "measure without --inject",
        Code::GateInconclusive => {
            "look at the slow ones, by partition and by time, in the runs themselves"
        }
        Code::GateBelowClock => {
            "measure with a finer clock, or leave the short phases out on purpose (--ungate-short)"
        }
        Code::PerfImprovement => "see that the work is still done; if it is, accept the new times",
        Code::PerfMachineShift => {
            "measure the baseline again now, in turn with the candidate, or name a control phase"
        }
        _ => "measure again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_its_place() {
        let problem = Problem::blocking(Code::GateBadTimes, "2 of 20 times are zero".to_owned())
            .of_phase("batch_add")
            .of_run("c3");
        let finding = problem.finding();
        assert_eq!(
            finding.title,
            "run c3: phase batch_add: 2 of 20 times are zero"
        );
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.fix.is_some());
        let note = Problem::note(Code::PerfThrottle, "x".to_owned()).finding();
        assert_eq!((note.severity, note.fix), (Severity::Info, None));
    }
}

//! Finding codes: one list, from which the names, the parser and the documentation's table come.
//! A code is never reused for another meaning.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident => $name:literal,)+) => {
        /// What kind of thing was found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in all outputs.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// What the code means, in a sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),+),)+
                }
            }
        }
    };
}

codes! {
    #[doc = "An allocation fails; the finding's `cause` says the true reason."]
    VramOom => "vram.oom",
    #[doc = "A buffer outlives its last use, or the lock under which it was used."]
    VramLateFree => "vram.late_free",
    #[doc = "Never freed."]
    VramLeak => "vram.leak",
    #[doc = "Not freed on an error path."]
    VramLeakOnError => "vram.leak_on_error",
    #[doc = "Its owner died holding it."]
    VramLeakOnPanic => "vram.leak_on_panic",
    #[doc = "Freed twice."]
    VramDoubleFree => "vram.double_free",
    #[doc = "Used after it was freed."]
    VramUseAfterFree => "vram.use_after_free",
    #[doc = "Reused while work that reads it is still in flight."]
    VramEarlyReuse => "vram.early_reuse",
    #[doc = "A failed allocation that the schedule carried on past."]
    VramSwallowedOom => "vram.swallowed_oom",
    #[doc = "A success misread as a failure because of an older error."]
    VramStaleError => "vram.stale_error",
    #[doc = "A live buffer whose owner holds no lock while another worker allocates."]
    VramUnowned => "vram.unowned",
    #[doc = "Freed on a stream that nothing synchronises."]
    VramFreeNeverRetired => "vram.free_never_retired",
    #[doc = "More memory is recorded as given than the card has."]
    VramBeyondCard => "vram.beyond_card",
    #[doc = "A host range registered while it, or a part of it, is registered (712)."]
    HostDoubleRegister => "host.double_register",
    #[doc = "A host range unregistered that is not registered (713)."]
    HostUnregisterUnknown => "host.unregister_unknown",
    #[doc = "A registration that outlived the mapping it was made for."]
    HostStaleRegistration => "host.stale_registration",
    #[doc = "The kernel killed a process because the host ran out of memory."]
    HostOomKilled => "host.oom_killed",
    #[doc = "More host memory is asked for than its budget holds."]
    HostOverBudget => "host.over_budget",
    #[doc = "Two workers hold one device at once."]
    LockTwoHolders => "lock.two_holders",
    #[doc = "Locks taken in an order that can deadlock."]
    LockOrder => "lock.order",
    #[doc = "Acquired without a release, or released without an acquire."]
    LockUnbalanced => "lock.unbalanced",
    #[doc = "A CUDA call failed for a reason other than memory."]
    CudaError => "cuda.error",
    #[doc = "An error after which every later CUDA call of the process fails."]
    CudaStickyError => "cuda.sticky_error",
    #[doc = "A partition that was queued or picked up but never started."]
    SchedNeverStarted => "sched.never_started",
    #[doc = "A partition that was started and never ended."]
    SchedNeverEnded => "sched.never_ended",
    #[doc = "A partition that was synthesized and queued but never picked up."]
    SchedNeverPicked => "sched.never_picked",
    #[doc = "A partition or job that failed with its own reason."]
    SchedFailed => "sched.failed",
    #[doc = "The same partition of the same job, twice."]
    SchedDuplicate => "sched.duplicate",
    #[doc = "A proof was checked and does not hold."]
    ProofInvalid => "proof.invalid",
    #[doc = "A thread panicked for a reason that no other code names."]
    RunPanic => "run.panic",
    #[doc = "The process died by its own hand: abort, uncaught exception, fatal error."]
    RunAborted => "run.aborted",
    #[doc = "Lines of level ERROR that no other finding explains."]
    RunErrorLine => "run.error_line",
    #[doc = "The benchmark client and the daemon's log disagree about what happened."]
    RunBenchMismatch => "run.bench_mismatch",
    #[doc = "The log was cut, the process was killed, or the archive of the log is cut or damaged."]
    RunTruncated => "run.truncated",
    #[doc = "Failures that follow from an earlier one."]
    RunCascade => "run.cascade",
    #[doc = "Lines that another writer tore, repaired or lost."]
    RunTornLines => "run.torn_lines",
    #[doc = "The same lines stand in the log more than once."]
    RunDoubledLines => "run.doubled_lines",
    #[doc = "TIMELINE lines whose fields cannot be read: they count in no figure."]
    RunUnreadEvents => "run.unread_events",
    #[doc = "Times or durations that no clock gives: figures with them mean nothing."]
    RunTimeUnbelievable => "run.time_unbelievable",
    #[doc = "No proof of the run was ever verified."]
    RunNoVerification => "run.no_verification",
    #[doc = "A phase that is slower than in the baseline."]
    PerfPhaseRegression => "perf.phase_regression",
    #[doc = "The GPU sat idle beyond the floor."]
    PerfIdle => "perf.idle",
    #[doc = "A CPU phase that concurrency inflates."]
    PerfContention => "perf.contention",
    #[doc = "Partitions that later ones of their job went before."]
    PerfOutOfOrder => "perf.out_of_order",
    #[doc = "All phases moved together: the machine, or a change that touches all code."]
    PerfMachineShift => "perf.machine_shift",
    #[doc = "Slower than the pinned anchor by more than the budget, accept by accept."]
    PerfDrift => "perf.drift",
    #[doc = "A phase that is faster than in the baseline."]
    PerfImprovement => "perf.improvement",
    #[doc = "An exact figure, such as peak bytes or a count, that differs from the baseline."]
    PerfExact => "perf.exact",
    #[doc = "Times that change in the course of a run, as a throttling device's do."]
    PerfThrottle => "perf.throttle",
    #[doc = "There is no accepted golden for this configuration."]
    GateNoBaseline => "gate.no_baseline",
    #[doc = "The configurations differ, so their times say nothing about each other."]
    GateNotComparable => "gate.not_comparable",
    #[doc = "No usable run, phase or time was left to judge."]
    GateNothingMeasured => "gate.nothing_measured",
    #[doc = "A phase that only one side has."]
    GatePhaseSet => "gate.phase_set",
    #[doc = "Times that are not positive finite numbers, or lines that cannot be read."]
    GateBadTimes => "gate.bad_times",
    #[doc = "Times without any spread: a clock that does not tick."]
    GateConstantTimes => "gate.constant_times",
    #[doc = "A run that is a copy of another run."]
    GateCopiedRun => "gate.copied_run",
    #[doc = "Times of partitions whose proof was not verified."]
    GateUnverified => "gate.unverified",
    #[doc = "A run that was cut off or failed, left out."]
    GateIncompleteRun => "gate.incomplete_run",
    #[doc = "Another number of samples or partitions than in the baseline."]
    GateSampleCount => "gate.sample_count",
    #[doc = "A run with injected faults: no measure of speed."]
    GateInjected => "gate.injected",
    #[doc = "A phase too short for the clock of its log: a slow-down could hide in a tick."]
    GateBelowClock => "gate.below_clock",
    #[doc = "Phases that were left out of the verdict on request."]
    GateUngated => "gate.ungated",
    #[doc = "Too little evidence for a verdict."]
    GateInconclusive => "gate.inconclusive",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A name that is no finding code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a finding code such as vram.oom, found {found:?}")]
pub struct UnknownCode {
    /// What stood there.
    pub found: String,
}

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(name: &str) -> Result<Self, UnknownCode> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == name)
            .ok_or_else(|| UnknownCode {
                found: name.to_owned(),
            })
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse_back() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert_eq!(code.as_str().parse::<Code>().as_ref(), Ok(code));
            assert!(code.meaning().ends_with('.'), "{code} wants a sentence");
        }
    }

    #[test]
    fn the_documentation_has_a_row_for_every_code() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/findings.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        assert_eq!(rows.len(), Code::ALL.len());
        for (row, code) in rows.iter().zip(Code::ALL) {
            assert_eq!(row.get(1), Some(&format!("`{code}`").as_str()));
            assert_eq!(row.get(3), Some(&code.meaning()), "{code}");
            assert_eq!(row.len(), 7, "{code}");
            assert!(row[1..6].iter().all(|cell| !cell.is_empty()), "{code}");
        }
    }

    #[test]
    fn an_unknown_name_says_what_was_found() {
        let error = "vram.ooom".parse::<Code>().unwrap_err();
        assert!(error.to_string().contains("vram.ooom"));
    }
}

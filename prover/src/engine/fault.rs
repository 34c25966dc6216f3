//! Faults by plan: what is to go wrong, where and when, from one seed.
//!
//! A fault changes a plan, an answer of the device or a result; nothing else in the engine knows of
//! it, so what follows is what would follow in earnest. Written `KIND[:WHEN]`, for example
//! `alloc-fail:7`, `panic:worker:1/200`, `slow:msm_h:1.5`.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::spoiled::{LATE, free_early, free_late, repeat_free};
use crate::plan::{Phase, Plan};

/// A thread's trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A synthesis worker.
    Synthesis,
    /// A device worker, in the middle of its plan.
    Worker,
    /// A finisher.
    Finisher,
}

impl Place {
    const ALL: [Self; 3] = [Self::Synthesis, Self::Worker, Self::Finisher];

    const fn name(self) -> &'static str {
        match self {
            Self::Synthesis => "synthesis",
            Self::Worker => "worker",
            Self::Finisher => "finisher",
        }
    }
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// `d_bc` is freed when the worker next has the lock, not before its unlock.
    LateFree,
    /// A launch fails, and its partition's buffers are not freed.
    LeakOnError,
    /// An allocation fails though there is memory, and so do all that follow of its partition.
    AllocFail,
    /// One allocation fails though there is memory.
    AllocOnce,
    /// A launch fails.
    LaunchFail,
    /// `d_bc` is freed twice.
    DoubleFree,
    /// The scratch memory of the sums is freed before the last of them.
    EarlyFree,
    /// The circuit is not satisfied.
    SynthFail,
    /// A proof comes out wrong.
    BadProof,
    /// A thread panics.
    Panic(Place),
    /// A phase takes so many times as long.
    Slow(String, f64),
}

/// When it goes wrong, counted in occasions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// Each time.
    Always,
    /// The n-th time, from 1.
    Nth(u64),
    /// One time in so many, as the seed has it.
    OneIn(u64),
    /// Once, early; the seed says when.
    Seeded,
}

/// One fault that is to be injected.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    kind: Kind,
    when: When,
}

/// A text that names no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a fault (late-free, leak-on-error, alloc-fail, alloc-once, launch-fail, double-free, \
     early-free, synth-fail, bad-proof, panic:synthesis, panic:worker, panic:finisher; with :N for \
     the N-th time or :1/N for one in N; slow:PHASE:FACTOR with a FACTOR from 1 to 1000 and a \
     PHASE of synth, {}, verify), found {found:?}",
    Phase::ALL.map(Phase::name).join(", ")
)]
pub struct BadFault {
    /// What was given.
    pub found: String,
}

impl FromStr for Fault {
    type Err = BadFault;

    fn from_str(text: &str) -> Result<Self, BadFault> {
        let bad = || BadFault {
            found: text.to_owned(),
        };
        let mut words = text.split(':');
        let name = words.next().unwrap_or_default();
        if name == "slow" {
            let (phase, factor) = words.next().zip(words.next()).ok_or_else(bad)?;
            let factor: f64 = factor.parse().map_err(|_number| bad())?;
            let known = Phase::ALL.iter().any(|known| known.name() == phase);
            let sane = (1.0..=1000.0).contains(&factor) && words.next().is_none();
            if !(sane && (known || ["synth", "verify"].contains(&phase))) {
                return Err(bad());
            }
            return Ok(Self {
                kind: Kind::Slow(phase.to_owned(), factor),
                when: When::Always,
            });
        }
        let (kind, usual) = match name {
            "late-free" => (Kind::LateFree, When::Always),
            "leak-on-error" => (Kind::LeakOnError, When::Seeded),
            "alloc-fail" => (Kind::AllocFail, When::Seeded),
            "alloc-once" => (Kind::AllocOnce, When::Seeded),
            "launch-fail" => (Kind::LaunchFail, When::Seeded),
            "double-free" => (Kind::DoubleFree, When::Seeded),
            "early-free" => (Kind::EarlyFree, When::Seeded),
            "synth-fail" => (Kind::SynthFail, When::Seeded),
            "bad-proof" => (Kind::BadProof, When::Seeded),
            "panic" => {
                let place = words.next().unwrap_or_default();
                let place = Place::ALL.into_iter().find(|known| known.name() == place);
                (Kind::Panic(place.ok_or_else(bad)?), When::Seeded)
            }
            _ => return Err(bad()),
        };
        let when = match words.next() {
            None => usual,
            Some(count) => When::parse(count).ok_or_else(bad)?,
        };
        if words.next().is_some() {
            return Err(bad());
        }
        Ok(Self { kind, when })
    }
}

impl When {
    fn parse(text: &str) -> Option<Self> {
        let (number, when): (&str, fn(u64) -> Self) = match text.strip_prefix("1/") {
            Some(rest) => (rest, Self::OneIn),
            None => (text, Self::Nth),
        };
        number.parse().ok().filter(|n| *n > 0).map(when)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.kind {
            Kind::LateFree => "late-free",
            Kind::LeakOnError => "leak-on-error",
            Kind::AllocFail => "alloc-fail",
            Kind::AllocOnce => "alloc-once",
            Kind::LaunchFail => "launch-fail",
            Kind::DoubleFree => "double-free",
            Kind::EarlyFree => "early-free",
            Kind::SynthFail => "synth-fail",
            Kind::BadProof => "bad-proof",
            Kind::Panic(place) => return write!(out, "panic:{}{}", place.name(), self.when),
            Kind::Slow(phase, factor) => return write!(out, "slow:{phase}:{factor}"),
        };
        write!(out, "{name}{}", self.when)
    }
}

impl fmt::Display for When {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always | Self::Seeded => Ok(()),
            Self::Nth(n) => write!(out, ":{n}"),
            Self::OneIn(n) => write!(out, ":1/{n}"),
        }
    }
}

/// All that is to go wrong in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Injection {
    /// The faults.
    pub faults: Vec<Fault>,
    /// Decides what the faults leave open; the same seed gives the same occasions.
    pub seed: u64,
}

/// What became of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultCount {
    /// The fault as it was written.
    pub fault: String,
    /// How often it could have struck.
    pub occasions: u64,
    /// How often it did.
    pub struck: u64,
    /// The occasion that it waits for, if it is a certain one.
    pub turn: Option<u64>,
}

/// A fault and how often it could have struck, and did.
#[derive(Debug)]
struct Planned {
    fault: Fault,
    occasions: AtomicU64,
    struck: AtomicU64,
}

/// The faults of a run.
#[derive(Debug, Default)]
pub(super) struct Faults {
    list: Vec<Planned>,
    seed: u64,
}

/// Occasions among which a fault without a turn strikes once.
const EARLY: u64 = 4;

impl Faults {
    pub(super) fn new(injection: Injection) -> Self {
        let list = injection.faults.into_iter().map(|fault| Planned {
            fault,
            occasions: AtomicU64::new(0),
            struck: AtomicU64::new(0),
        });
        Self {
            list: list.collect(),
            seed: injection.seed,
        }
    }

    /// What became of each so far.
    pub(super) fn counts(&self) -> Vec<FaultCount> {
        let count = |(place, planned): (u64, &Planned)| FaultCount {
            fault: planned.fault.to_string(),
            occasions: planned.occasions.load(Ordering::Relaxed),
            struck: planned.struck.load(Ordering::Relaxed),
            turn: match planned.fault.when {
                When::Always | When::OneIn(_) => None,
                When::Nth(n) => Some(n),
                When::Seeded => Some(self.seeded(place)),
            },
        };
        (0..).zip(&self.list).map(count).collect()
    }

    /// The turn of the fault at this place that names none.
    fn seeded(&self, place: u64) -> u64 {
        1 + mixed(self.seed ^ (place << 48)) % EARLY
    }

    /// Counts an occasion; whether a fault of this kind strikes.
    fn strikes(&self, is_kind: impl Fn(&Kind) -> bool) -> bool {
        let mut strikes = false;
        for (place, planned) in (0_u64..).zip(&self.list) {
            if is_kind(&planned.fault.kind) {
                let count = planned.occasions.fetch_add(1, Ordering::Relaxed) + 1;
                let struck = match planned.fault.when {
                    When::Always => true,
                    When::Nth(n) => count == n,
                    When::OneIn(n) => mixed(self.seed ^ (place << 48) ^ count).is_multiple_of(n),
                    When::Seeded => count == self.seeded(place),
                };
                planned.struck.fetch_add(struck.into(), Ordering::Relaxed);
                strikes |= struck;
            }
        }
        strikes
    }

    /// Whether this allocation fails, and all that follow of its partition.
    pub(super) fn alloc_fails(&self) -> bool {
        self.strikes(|kind| *kind == Kind::AllocFail)
    }

    /// Whether this allocation fails, and the next may not.
    pub(super) fn alloc_fails_once(&self) -> bool {
        self.strikes(|kind| *kind == Kind::AllocOnce)
    }

    pub(super) fn launch_fails(&self) -> bool {
        self.strikes(|kind| *kind == Kind::LaunchFail)
    }

    pub(super) fn synth_fails(&self) -> bool {
        self.strikes(|kind| *kind == Kind::SynthFail)
    }

    pub(super) fn spoils_proof(&self) -> bool {
        self.strikes(|kind| *kind == Kind::BadProof)
    }

    /// Whether the partition that begins now fails at a launch and leaks.
    pub(super) fn leaks(&self) -> bool {
        self.strikes(|kind| *kind == Kind::LeakOnError)
    }

    /// Panics if it is to.
    pub(super) fn panic_at(&self, place: Place) {
        let strikes = self.strikes(|kind| *kind == Kind::Panic(place));
        assert!(!strikes, "injected panic of a {} thread", place.name());
    }

    /// How many times as long a phase takes.
    pub(super) fn factor(&self, phase: &str) -> Option<f64> {
        self.list.iter().find_map(|planned| {
            let factor = match &planned.fault.kind {
                Kind::Slow(name, factor) if name == phase => *factor,
                _ => return None,
            };
            planned.occasions.fetch_add(1, Ordering::Relaxed);
            planned.struck.fetch_add(1, Ordering::Relaxed);
            Some(factor)
        })
    }

    /// The plan of the partition that begins now, if it is another than the healthy one.
    pub(super) fn changed(&self, plan: &Plan) -> Option<Plan> {
        let late = self.strikes(|kind| *kind == Kind::LateFree);
        let double = self.strikes(|kind| *kind == Kind::DoubleFree);
        let early = self.strikes(|kind| *kind == Kind::EarlyFree);
        if !(late || double || early) {
            return None;
        }
        let mut plan = plan.clone();
        if double {
            repeat_free(&mut plan, "d_bc");
        }
        if early {
            free_early(&mut plan, "d_scratch");
        }
        if late {
            free_late(&mut plan, LATE);
        }
        Some(plan)
    }
}

/// A number that looks random (the finaliser of `SplitMix64`; Steele, Lea, Flood, OOPSLA 2014).
pub(crate) const fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Room, Sizes};

    #[test]
    fn every_fault_is_read_as_it_is_written() {
        let all = [
            "late-free",
            "leak-on-error",
            "alloc-fail:7",
            "alloc-once:2",
            "launch-fail:1/200",
            "double-free",
            "early-free:2",
            "synth-fail",
            "bad-proof:3",
            "panic:synthesis",
            "panic:worker:5",
            "panic:finisher:1/9",
            "slow:msm_h:1.5",
            "slow:synth:2",
        ];
        for text in all {
            let fault: Fault = text.parse().expect(text);
            assert_eq!(fault.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_fault_is_told_what_would_be() {
        let bad = [
            "",
            "late",
            "alloc-fail:0",
            "alloc-fail:x",
            "alloc-fail:1/0",
            "alloc-fail:1:2",
            "panic",
            "panic:nobody",
            "slow:msm_h",
            "slow:msm_h:0.5",
            "slow:nothing:2",
            "slow:quotient:2:3",
        ];
        for text in bad {
            let error = text.parse::<Fault>().expect_err(text);
            assert!(error.to_string().contains("slow:PHASE:FACTOR"), "{error}");
        }
    }

    #[test]
    fn occasions_are_counted_and_repeat_with_the_seed() {
        let struck = |text: &str, seed: u64| -> Vec<usize> {
            let faults = vec![text.parse().expect(text)];
            let faults = Faults::new(Injection { faults, seed });
            (1..=400).filter(|_| faults.alloc_fails()).collect()
        };
        assert_eq!(struck("alloc-fail:7", 1), [7]);
        assert_eq!(struck("late-free", 1), [0_usize; 0]);
        let some = struck("alloc-fail:1/20", 1);
        assert!((5..50).contains(&some.len()), "{some:?}");
        assert_eq!(some, struck("alloc-fail:1/20", 1));
        assert_ne!(some, struck("alloc-fail:1/20", 2));
        assert_eq!(struck("alloc-fail", 3).len(), 1);
    }

    #[test]
    fn a_fault_whose_turn_never_came_is_told_from_one_that_struck() {
        let faults = ["alloc-fail:7", "alloc-fail:2", "slow:msm_h:2", "bad-proof"];
        let faults = faults.map(|text| text.parse().expect(text)).to_vec();
        let faults = Faults::new(Injection { faults, seed: 1 });
        for _ in 0..3 {
            faults.alloc_fails();
        }
        faults.factor("msm_h");
        let counts = faults.counts();
        let seen: Vec<_> = counts.iter().map(|c| (c.occasions, c.struck)).collect();
        assert_eq!(seen, [(3, 0), (3, 1), (1, 1), (0, 0)]);
        assert_eq!((counts[0].turn, counts[2].turn), (Some(7), None));
        assert!(
            counts[3]
                .turn
                .is_some_and(|turn| (1..=EARLY).contains(&turn))
        );
    }

    #[test]
    fn plans_are_changed_in_one_place() {
        let plan = Plan::new(&Sizes::like_a_sector(1 << 16), Room::of(1 << 30)).expect("fits");
        let changed = |text: &str| {
            let faults = vec![text.parse().expect(text)];
            Faults::new(Injection { faults, seed: 1 }).changed(&plan)
        };
        assert_eq!(changed("alloc-fail:1"), None);
        let late = changed("late-free").expect("changed");
        assert_eq!(late.steps.len(), plan.steps.len());
        assert_eq!(late.steps.last().map(|step| step.about), Some("d_bc"));
        let double = changed("double-free:1").expect("changed");
        assert_eq!(double.steps.len(), plan.steps.len() + 1);
        let early = changed("early-free:1").expect("changed");
        assert_ne!(early.steps, plan.steps);
    }
}

//! `host.double_register`, `host.stale_registration`, `host.unregister_unknown`: pinned memory.
//!
//! An error if a worker stopped because of it, or if from the first failure on nothing could be
//! pinned any more, twice at least: then the program did not get over it, it only went on. Else
//! a warning: a run that fell back and completed has lost time only (docs/decisions/0004). One
//! finding a code, with the count. Caught: 712 and 713, with the reason: a range that is
//! registered, or one whose mapping is gone. Not caught: registrations made before the schedule
//! begins.

use std::collections::BTreeMap;

use tracefmt::finding::{Code, Severity};
use tracefmt::ops::{OnError, Op};

use super::{Drafted, Scene};
use crate::vram::{HostRanges, RC_ALREADY_REGISTERED, RC_NOT_REGISTERED};

/// Steps quoted of one finding.
const EVIDENCE_MAX: usize = 8;

/// The failures of one code.
#[derive(Debug, Default)]
struct Failures {
    /// The steps that failed.
    steps: Vec<usize>,
    /// Whether something of the kind went well after the first of them.
    recovered: bool,
    /// Who gave memory back without unregistering it: the steps that registered and unmapped it.
    left_by: Option<(usize, usize)>,
    /// The steps that did so, where it came to nothing.
    left: Vec<usize>,
}

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut host = HostRanges::default();
    // Who registered the range that starts at an address, and who unmapped it since.
    let mut owners: BTreeMap<u64, (usize, Option<usize>)> = BTreeMap::new();
    let mut found: BTreeMap<Code, Failures> = BTreeMap::new();
    for (_, at, step, rc) in scene.ran() {
        match &step.op {
            Op::HostRegister { addr, bytes } if rc == RC_ALREADY_REGISTERED => {
                let overlapping: Vec<_> = host.overlapping(*addr, *bytes).collect();
                let stale = overlapping.iter().find(|(_, range)| range.stale);
                let code = match stale {
                    Some(_) => Code::HostStaleRegistration,
                    None => Code::HostDoubleRegister,
                };
                let failures = found.entry(code).or_default();
                if failures.steps.is_empty() {
                    (failures.left_by, failures.recovered) = (None, false);
                }
                failures.steps.push(at);
                let owner = stale.and_then(|(start, _)| owners.get(start));
                let left = owner.and_then(|(made, unmapped)| Some((*made, (*unmapped)?)));
                failures.left_by = failures.left_by.or(left);
            }
            Op::HostRegister { addr, bytes } if rc == 0 => {
                host.register(*addr, *bytes);
                owners.insert(*addr, (at, None));
                recover(&mut found, |code| code != Code::HostUnregisterUnknown);
            }
            Op::HostUnregister { .. } if rc == RC_NOT_REGISTERED => {
                let failures = found.entry(Code::HostUnregisterUnknown).or_default();
                failures.steps.push(at);
            }
            Op::HostUnregister { addr } if rc == 0 => {
                let _known = host.unregister(*addr);
                recover(&mut found, |code| code == Code::HostUnregisterUnknown);
            }
            Op::HostUnmap { addr, bytes } => {
                for (start, range) in host.overlapping(*addr, *bytes) {
                    if let Some(owner) = owners.get_mut(&start).filter(|_| !range.stale) {
                        owner.1 = Some(at);
                        let left = found.entry(Code::HostStaleRegistration).or_default();
                        left.left.push(at);
                        left.left_by = left.left_by.or(Some((owner.0, at)));
                    }
                }
                host.unmap(*addr, *bytes);
            }
            _ => {}
        }
    }
    let drafts = found.into_iter();
    drafts
        .filter_map(|(code, failures)| draft(scene, code, &failures))
        .collect()
}

fn recover(found: &mut BTreeMap<Code, Failures>, of: impl Fn(Code) -> bool) {
    for (_, failures) in found.iter_mut().filter(|(code, _)| of(**code)) {
        failures.recovered = true;
    }
}

fn draft(scene: &Scene<'_>, code: Code, failures: &Failures) -> Option<Drafted> {
    if failures.steps.is_empty() {
        return left_behind(scene, failures);
    }
    let (title, explanation, fix) = words(code);
    let first = *failures.steps.first()?;
    let lasting = failures.steps.len() > 1 && !failures.recovered;
    let stopped = failures.steps.iter().find(|at| {
        let step = scene.schedule.steps.get(**at);
        step.is_some_and(|step| *step.on_error() == OnError::Abort)
    });
    let severity = match stopped {
        Some(at) => scene.severity(*at),
        None if lasting => scene.severity(first),
        None => Severity::Warning,
    };
    let mut drafted = scene.draft(first, code, severity, title.to_owned());
    drafted = drafted.says(explanation, fix);
    drafted.finding.count = failures.steps.len() as u64;
    if let Some((made, unmapped)) = failures.left_by {
        let worker = |at: usize| scene.schedule.steps.get(at).and_then(|step| step.worker);
        let who = format!(
            " Worker {} registered it and gave the memory back without unregistering it.",
            worker(made).unwrap_or(0)
        );
        drafted.finding.explanation.push_str(&who);
        drafted.finding.evidence.extend(scene.evidence(unmapped));
    }
    if lasting {
        let count = failures.steps.len();
        let so = format!(" It fails {count} times, and never succeeds again after the first.");
        drafted.finding.explanation.push_str(&so);
    }
    let others = failures.steps.iter().skip(1);
    let lines = others.flat_map(|at| scene.evidence(*at));
    drafted.finding.evidence.extend(lines.take(EVIDENCE_MAX));
    drafted.finding.evidence.truncate(EVIDENCE_MAX);
    Some(drafted)
}

/// Registrations that outlive their mapping where nobody registered the address again.
fn left_behind(scene: &Scene<'_>, failures: &Failures) -> Option<Drafted> {
    let (made, unmapped) = failures.left_by?;
    let title = "host memory is given back while it is registered";
    let code = Code::HostStaleRegistration;
    let drafted = scene.draft(unmapped, code, Severity::Warning, title.to_owned());
    let mut drafted = drafted.says(
        "The driver keeps the registration: the pages stay pinned, and whoever registers memory at \
         this address later is refused (712).",
        "Unregister on every path, error paths too, before the memory is unmapped.",
    );
    drafted.finding.count = failures.left.len() as u64;
    drafted.finding.evidence.extend(scene.evidence(made));
    let others = failures.left.iter().skip(1);
    let lines = others.flat_map(|at| scene.evidence(*at));
    drafted.finding.evidence.extend(lines.take(EVIDENCE_MAX));
    drafted.finding.evidence.truncate(EVIDENCE_MAX);
    Some(drafted)
}

/// Title, explanation and fix.
fn words(code: Code) -> (&'static str, &'static str, &'static str) {
    match code {
        Code::HostStaleRegistration => (
            "host memory cannot be pinned: a registration outlived its mapping (712)",
            "Memory at this address was registered, unmapped without being unregistered, and \
             mapped again: the driver still knows the old registration.",
            "Unregister on every path, error paths too, before the memory is unmapped.",
        ),
        Code::HostDoubleRegister => (
            "host memory is pinned that is pinned already (712)",
            "The range overlaps one that is registered.",
            "Register each range once, or share the registration.",
        ),
        _ => (
            "host memory is unregistered that is not registered (713)",
            "No registration starts at this address any more.",
            "Unregister each range once.",
        ),
    }
}

//! `host.double_register`, `host.stale_registration`, `host.unregister_unknown`: pinned memory.
//!
//! An error if the worker stopped because of it, else a warning: a run that fell back and
//! completed has lost time only. Caught: 712 and 713, with the reason: a range that is
//! registered, or one whose mapping is gone. Not caught: registrations made before the schedule
//! begins.

use tracefmt::finding::{Code, Severity};
use tracefmt::ops::{OnError, Op, Step};

use super::{Drafted, Scene};
use crate::vram::{HostRanges, RC_ALREADY_REGISTERED, RC_NOT_REGISTERED};

pub(super) fn check(scene: &Scene<'_>) -> Vec<Drafted> {
    let mut host = HostRanges::default();
    let mut drafts = Vec::new();
    for (_, at, step, rc) in scene.ran() {
        match &step.op {
            Op::HostRegister { addr, bytes } if rc == RC_ALREADY_REGISTERED => {
                let stale = host
                    .overlapping(*addr, *bytes)
                    .any(|(_, range)| range.stale);
                drafts.push(register(scene, at, step, stale));
            }
            Op::HostRegister { addr, bytes } if rc == 0 => {
                host.register(*addr, *bytes);
            }
            Op::HostUnregister { .. } if rc == RC_NOT_REGISTERED => {
                let title = "host memory is unregistered that is not registered (713)";
                let drafted = draft(scene, at, step, Code::HostUnregisterUnknown, title);
                drafts.push(drafted.says(
                    "No registration starts at this address any more.",
                    "Unregister each range once.",
                ));
            }
            Op::HostUnregister { addr } if rc == 0 => drop(host.unregister(*addr)),
            Op::HostUnmap { addr, bytes } => host.unmap(*addr, *bytes),
            _ => {}
        }
    }
    drafts
}

fn register(scene: &Scene<'_>, at: usize, step: &Step, stale: bool) -> Drafted {
    let (code, title, explanation, fix) = if stale {
        (
            Code::HostStaleRegistration,
            "host memory cannot be pinned: a registration outlived its mapping (712)",
            "Memory at this address was registered, unmapped without being unregistered, and \
             mapped again: the driver still knows the old registration.",
            "Unregister on every path, error paths too, before the memory is unmapped.",
        )
    } else {
        (
            Code::HostDoubleRegister,
            "host memory is pinned that is pinned already (712)",
            "The range overlaps one that is registered.",
            "Register each range once, or share the registration.",
        )
    };
    draft(scene, at, step, code, title).says(explanation, fix)
}

fn draft(scene: &Scene<'_>, at: usize, step: &Step, code: Code, title: &str) -> Drafted {
    let severity = match step.on_error {
        OnError::Abort => scene.severity(at),
        OnError::Ignore | OnError::Fallback(_) => Severity::Warning,
    };
    scene.draft(at, code, severity, title.to_owned())
}

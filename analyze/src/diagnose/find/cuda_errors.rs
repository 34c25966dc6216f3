//! `cuda.error` and `cuda.sticky_error`: CUDA calls that failed for another reason than memory,
//! with the code's meaning. One finding a code.
//!
//! After a sticky error every later call of the process fails with the same code, so all lines
//! behind the first are the same failure and only counted. The line where a sticky error shows is
//! where it was noticed: kernels run on their own, and the fault lies in any kernel before.
//! Memory (2) and host registration (712, 713) have finders of their own. It does not see errors
//! whose return value the engine dropped.

use std::collections::BTreeMap;

use tracefmt::finding::{Code, Severity};
use tracefmt::run::{Trouble, TroubleClass};

use super::super::classify::Topic;
use super::super::cuda;
use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let mut by_code: BTreeMap<(bool, i32), Vec<&Trouble>> = BTreeMap::new();
    for (topic, trouble) in &scene.troubles {
        let key = match topic {
            Topic::Sticky(code) => (true, *code),
            Topic::Cuda(code) => (false, *code),
            _ => continue,
        };
        by_code.entry(key).or_default().push(trouble);
    }
    by_code
        .into_iter()
        .filter_map(|((sticky, code), troubles)| draft(scene, sticky, code, &troubles))
        .collect()
}

fn draft(scene: &Scene<'_>, sticky: bool, code: i32, troubles: &[&Trouble]) -> Option<Draft> {
    let first = *troubles.first()?;
    let mild =
        |trouble: &&Trouble| matches!(trouble.kind, TroubleClass::Fallback | TroubleClass::Warning);
    let carried_on = !sticky && troubles.iter().all(mild) && !scene.failed();
    let (severity, role) = if carried_on {
        (Severity::Warning, Role::Beside)
    } else {
        (Severity::Error, Role::Primary)
    };
    let name = if code == 0 {
        "A CUDA call failed".to_owned()
    } else {
        cuda::describe(code)
    };
    let kind = if sticky {
        Code::CudaStickyError
    } else {
        Code::CudaError
    };
    let draft = Draft::new(kind, severity, role, name)
        .of_run(scene.run.index)
        .because(explanation(scene, sticky, troubles))
        .fix(fix(sticky, code))
        .counting(troubles.len())
        .quoting(troubles.iter().map(|trouble| trouble.line));
    Some(scene.place(draft, first))
}

fn explanation(scene: &Scene<'_>, sticky: bool, troubles: &[&Trouble]) -> String {
    let at = troubles
        .first()
        .map(|first| scene.spot(first.line))
        .unwrap_or_default();
    let more = troubles.len().saturating_sub(1) as u64;
    let more = match more {
        0 => String::new(),
        n if sticky => format!(
            " {} behind it report the same error: it is sticky, every later call fails with it.",
            many(n, "line")
        ),
        n => format!(" {} behind it report the same code.", many(n, "line")),
    };
    if sticky {
        format!(
            "The error is first reported at {at}. That is where it was noticed, not where it \
             happened: kernels run on their own, and the fault lies in one that was launched \
             before.{more} The process can use the GPU again only after a restart."
        )
    } else {
        format!("It is first reported at {at}.{more}")
    }
}

fn fix(sticky: bool, code: i32) -> &'static str {
    match code {
        214 | 220 => {
            "Take the card out of service and look at nvidia-smi -q and dmesg (Xid lines); this is \
             hardware."
        }
        702 => "Run on a card without a display, or split the kernel.",
        35 | 98 | 209 => {
            "Install a newer driver, or build for this GPU's architecture (nvidia-smi \
             --query-gpu=compute_cap)."
        }
        100 | 101 => "Check nvidia-smi, CUDA_VISIBLE_DEVICES and the configured device list.",
        _ if sticky => {
            "Restart the daemon, then run the same input under compute-sanitizer, or with \
             CUDA_LAUNCH_BLOCKING=1 so that the error is reported by the call that causes it."
        }
        _ => "Look up the call that the line names; its return value says what it did not accept.",
    }
}

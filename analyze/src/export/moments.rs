//! What has a time but no duration: jobs accepted and ended, proofs checked, trouble.

use crate::lanes::ms;
use tracefmt::event::What;
use tracefmt::run::{Run, TroubleClass};

/// A moment with its words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moment {
    /// Milliseconds since the run's start.
    pub(super) ms: f64,
    /// A few words.
    pub(super) name: String,
    /// Job id; empty when none is known.
    pub(super) job: String,
    /// The telling text; empty when the name says all.
    pub(super) text: String,
    /// Line.
    pub(super) line: u64,
}

/// All moments of a run in order of time.
pub(super) fn moments(run: &Run) -> Vec<Moment> {
    let mut out = Vec::new();
    for job in &run.jobs {
        for (at, name) in [(job.submitted, "job accepted"), (job.ended, "job ended")] {
            if let Some(at) = at {
                out.push(Moment {
                    ms: ms(at.us),
                    name: name.to_owned(),
                    job: job.id.clone(),
                    text: job.error.clone().unwrap_or_default(),
                    line: u64::from(at.line.line),
                });
            }
        }
    }
    let job = |index: Option<u32>| {
        let job = index.and_then(|index| run.jobs.get(index as usize));
        job.map(|job| job.id.clone()).unwrap_or_default()
    };
    for event in &run.device_events {
        let name = match event.what {
            What::ProofOk { .. } => "proof verified",
            What::ProofBad { .. } => "proof does not verify",
            _ => continue,
        };
        out.push(Moment {
            ms: ms(event.at.us),
            name: name.to_owned(),
            job: job(event.job),
            text: String::new(),
            line: u64::from(event.at.line.line),
        });
    }
    for trouble in &run.troubles {
        if let Some(us) = trouble.us {
            out.push(Moment {
                ms: ms(us),
                name: words(trouble.kind).to_owned(),
                job: job(trouble.job),
                text: trouble.text.clone(),
                line: u64::from(trouble.line.line),
            });
        }
    }
    out.sort_by(|a, b| a.ms.total_cmp(&b.ms).then(a.line.cmp(&b.line)));
    out
}

/// A trouble class in a word, as in all exports.
pub(super) const fn words(kind: TroubleClass) -> &'static str {
    match kind {
        TroubleClass::Fallback => "fallback",
        TroubleClass::SkipVram => "skip_vram",
        TroubleClass::Panic => "panic",
        TroubleClass::Cuda => "cuda_error",
        TroubleClass::Abort => "abort",
        TroubleClass::Failure => "failure",
        TroubleClass::Consequence => "consequence",
        TroubleClass::BadProof => "bad_proof",
        TroubleClass::Error => "error",
        TroubleClass::Warning => "warning",
    }
}

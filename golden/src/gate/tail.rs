//! A run counts by its median, which fewer than half of its times cannot move. What they add shows
//! in the mean beside it.

use tracefmt::finding::Code;

use super::Pair;
use crate::percent;
use crate::problem::Problem;
use crate::verdict::PhaseVerdict;

/// Gated phases of which every candidate run's mean lies further above its median than that of any
/// run of the golden, by more than a pass allows.
pub(super) fn problems(pairs: &[Pair<'_>], phases: &[PhaseVerdict]) -> Vec<Problem> {
    let rows = pairs.iter().zip(phases);
    let judged = rows.filter(|(_, phase)| phase.gated && !phase.control);
    let found = judged.filter_map(|(pair, phase)| {
        let base = pair.base.mean.iter().copied().reduce(f64::max)?;
        let cand = pair.cand.mean.iter().copied().reduce(f64::min)?;
        (cand - base > phase.limit.ln_1p()).then(|| {
            let what = format!(
                "some of its times are much slower than the middle: the mean of every run is at \
                 least {} above the median, {} at most in the golden",
                excess(cand),
                excess(base),
            );
            Problem::blocking(Code::GateInconclusive, what).of_phase(pair.name)
        })
    });
    found.collect()
}

/// How far a mean lies above its median, whose natural logarithms differ by so much.
fn excess(ln: f64) -> String {
    percent::effect(ln.exp_m1()).unwrap_or_else(|| "a thousandfold".to_owned())
}

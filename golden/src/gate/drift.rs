//! Many small accepted steps: the candidate against the pinned anchor.
//!
//! A step under the smallest effect of interest is no regression, and ten of them are. The change
//! since the anchor is what the accepted golden changed plus what the candidate changed now; it
//! is a regression if it is proven larger than the budget, and no pass if it is larger at all.

use super::Pair;
use super::effect::Effects;
use super::options::Options;
use crate::snapshot::Snapshot;
use crate::stats::{t_quantile, t_upper_tail};
use crate::verdict::{Drift, Outcome};

/// Share of the budget from which a phase is listed.
const LISTED_FROM: f64 = 0.5;

/// The phases that have used half of the budget or more.
pub(super) fn check(
    golden: &Snapshot,
    pairs: &[Pair<'_>],
    tested: &Effects,
    options: &Options,
) -> Vec<Drift> {
    let Some(anchor) = &golden.anchor else {
        return Vec::new();
    };
    let budget = options.drift_budget.ln_1p();
    let alpha = options.alpha_of_look() / pairs.len().max(1) as f64;
    let mut found = Vec::new();
    let judged = |name: &str| !options.ungated.iter().any(|other| other == name);
    let both = pairs.iter().zip(&tested.lines);
    for (pair, effect) in both.filter(|(pair, _)| judged(pair.name)) {
        let Some(at_anchor) = anchor.ln_ms.get(pair.name) else {
            continue;
        };
        let change = pair.base.ms().ln() - at_anchor + effect.shift;
        if change < LISTED_FROM * budget {
            continue;
        }
        // The anchor's runs stand where the golden's do in the error of the effect.
        let (base, cand) = (pair.base.ln_ms.len() as f64, pair.cand.ln_ms.len() as f64);
        let variance = effect.error.powi(2) / (1.0 / base + 1.0 / cand);
        let error = (variance * (1.0 / anchor.runs.max(1) as f64 + 1.0 / cand)).sqrt();
        let p = if error > 0.0 {
            t_upper_tail((change - budget) / error, effect.df)
        } else {
            1.0
        };
        let reach = t_quantile(0.975, effect.df) * error;
        let verdict = if p <= alpha && pair.cand.ln_ms.len() >= options.runs_min {
            Outcome::Regression
        } else if change > budget {
            Outcome::Inconclusive
        } else {
            Outcome::Pass
        };
        found.push(Drift {
            phase: pair.name.to_owned(),
            ratio: change.exp(),
            low: (change - reach).exp(),
            high: (change + reach).exp(),
            budget: budget.exp(),
            verdict,
        });
    }
    found
}

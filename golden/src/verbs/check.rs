//! `golden check`: a candidate's samples against the golden of their key.

use crate::GoldenError;
use crate::evidence::Evidence;
use crate::gate::{Options, judge};
use crate::samples::Samples;
use crate::snapshot::store::Store;
use crate::verdict::Verdict;

/// Judges samples by the golden of their key. Where there is none for the key, the verdict lists
/// the fields in which the nearest golden differs.
///
/// # Errors
/// A golden that cannot be read.
pub fn check(store: &Store, samples: &Samples, options: &Options) -> Result<Verdict, GoldenError> {
    let evidence = Evidence::of(samples, options.rules);
    let golden = match store.golden(&samples.key)? {
        Some(golden) => Some(golden),
        None => store.nearest(&samples.key)?,
    };
    Ok(judge(golden.as_ref(), &evidence, options))
}

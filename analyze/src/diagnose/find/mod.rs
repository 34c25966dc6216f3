//! The finders, one question a file. Each looks at one run by itself and returns drafts; none
//! knows of the others. What follows from what is decided afterwards, in `cause`.

use super::draft::Draft;
use super::scene::Scene;

mod aborts;
mod bench;
mod cascade;
mod copies;
mod cuda_errors;
mod duplicates;
mod failures;
mod host;
mod lost;
mod memory;
mod missing;
mod panics;
mod proofs;
pub(crate) mod regression;
mod torn;
pub(crate) mod truncated;
mod unbelievable;
mod unread;
mod verification;

/// Runs every finder on one run.
pub(crate) fn all(scene: &Scene<'_>) -> Vec<Draft> {
    const FINDERS: [fn(&Scene<'_>) -> Vec<Draft>; 18] = [
        truncated::find,
        missing::find,
        memory::find,
        cuda_errors::find,
        host::find,
        panics::find,
        aborts::find,
        proofs::find,
        failures::find,
        duplicates::find,
        copies::find,
        lost::find,
        cascade::find,
        torn::find,
        unbelievable::find,
        unread::find,
        verification::find,
        bench::find,
    ];
    FINDERS.iter().flat_map(|find| find(scene)).collect()
}

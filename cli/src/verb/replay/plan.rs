//! The plan of our own prover as a schedule: what it would ask of a card, without proving anything.

use clap::Args;
use prover::plan::{Plan, Sizes};
use replay::check::Source;
use replay::lifecycle::Given;
use tracefmt::ops::GpuSpec;

use super::source::Of;
use crate::error::CliError;
use crate::verb::size::Size;

/// Memory of a card that is not given, bytes.
const VRAM_BYTES: u64 = 16 << 30;

/// Which plan.
#[derive(Debug, Args)]
pub(super) struct Own {
    /// Replay the plan of our own prover for a domain of so many rows, such as 2^27
    #[arg(long, value_name = "ROWS", conflicts_with = "input")]
    plan: Option<Size>,
    /// Partitions of the plan
    #[arg(long, value_name = "N", default_value_t = 4, requires = "plan")]
    partitions: u16,
    /// Workers of the plan
    #[arg(long, value_name = "N", default_value_t = 2, requires = "plan")]
    workers: u16,
}

/// The schedule of the plan, if one is asked for; counts of variables are those of a 32 GiB
/// sector, scaled to the domain.
pub(super) fn schedule(own: &Own, given: &Given) -> Result<Option<Of>, CliError> {
    let Some(size) = own.plan else {
        return Ok(None);
    };
    let card = GpuSpec::new(
        given.vram.unwrap_or(VRAM_BYTES),
        given.baseline.unwrap_or(0),
    );
    let sizes = Sizes::like_a_sector(1 << size.log2());
    let free = card.capacity.saturating_sub(card.baseline);
    let plan = Plan::new(&sizes, free).map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(Some(Of {
        schedule: plan.schedule(own.partitions.into(), own.workers.into(), card),
        source: Source::Events,
        profile: Some("own"),
        assumed: vec!["variables as in a 32 GiB sector, scaled to the domain".to_owned()],
        times_ms: None,
    }))
}

//! The plan of our own prover as a schedule: what it would ask of a card, without proving anything.

use clap::Args;
use prover::plan::{MULTIPLES_PAY_FROM, Plan, Room, Sizes};
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
    #[arg(long, value_name = "N", default_value_t = 4, requires = "plan",
        value_parser = clap::value_parser!(u16).range(1..))]
    partitions: u16,
    /// Let vectors and scratch memory stay for the next partition, as on real cards
    #[arg(long, requires = "plan")]
    keep: bool,
    /// Workers of the plan
    #[arg(long, value_name = "N", default_value_t = 2, requires = "plan",
        value_parser = clap::value_parser!(u16).range(1..))]
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
    let room = Room {
        bytes: free,
        workers: own.workers.into(),
        keep: own.keep,
        repeats: own.keep && u64::from(own.partitions) >= MULTIPLES_PAY_FROM,
    };
    let plan = Plan::new(&sizes, room).map_err(|error| CliError::Usage(error.to_string()))?;
    let schedule = plan.schedule(own.partitions.into(), own.workers.into(), card);
    Ok(Some(Of {
        profile: Some("own"),
        assumed: vec!["variables as in a 32 GiB sector, scaled to the domain".to_owned()],
        ..Of::given(schedule)
    }))
}

//! The options that choose the devices: for every verb that proves.

use clap::{Args, ValueEnum};
use prover::device::{Devices, Wanted};

use crate::error::CliError;
use crate::output::note;

/// Who runs the kernels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Backend {
    /// Cards where there are some, else the processor
    #[default]
    Auto,
    /// The processor
    Cpu,
    /// NVIDIA cards
    Cuda,
}

/// The options.
#[derive(Debug, Args)]
pub(super) struct Card {
    /// Who runs the kernels
    #[arg(long, value_enum, default_value_t)]
    pub(super) backend: Backend,
    /// Memory of the card that the processor stands in for (16GiB if not said), or a limit on that
    /// of real cards
    #[arg(long, value_name = "SIZE", visible_alias = "vram-limit", value_parser = bytes)]
    vram: Option<u64>,
    /// Use so many cards at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cards: Option<u16>,
}

impl Card {
    /// Opens the devices; says so when the processor has to do.
    ///
    /// # Errors
    /// No card where one is asked for, or one that cannot be used.
    pub(super) fn open(&self) -> Result<Devices, CliError> {
        let wanted = Wanted {
            backend: match self.backend {
                Backend::Auto => prover::device::Backend::Auto,
                Backend::Cpu => prover::device::Backend::Cpu,
                Backend::Cuda => prover::device::Backend::Cuda,
            },
            vram: self.vram,
            cards: self.cards.map(usize::from),
        };
        let devices = Devices::open(&wanted);
        let devices = devices.map_err(|error| CliError::Usage(error.to_string()))?;
        // A build without kernels has no other way, and nothing to say about it.
        if let Some(why) = devices.fallback.as_ref().filter(|_| cfg!(feature = "cuda")) {
            note(&format!("the processor runs the kernels: {why}"));
        }
        Ok(devices)
    }
}

/// Bytes of a size such as 16GiB.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    replay::change::bytes(text)
        .ok_or_else(|| format!("expected a size such as 16GiB or 512MiB, found {text:?}"))
}

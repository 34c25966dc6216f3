//! Which devices an engine works on: cards where there are some, else the processor.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::groth16::Groth16;
use super::{CpuDevice, Device, Info};
use crate::ProverError;

/// Memory of the card that the processor stands in for, unless something else is asked, bytes.
pub const STAND_IN_BYTES: u64 = 16 << 30;

/// Who runs the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// Cards where there are some, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// NVIDIA cards.
    Cuda,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Cpu, Self::Cuda];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|known| known.name() == text);
        known.ok_or_else(|| format!("expected auto, cpu or cuda, found {text:?}"))
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Who runs the kernels.
    pub backend: Backend,
    /// Memory of each device, bytes: of the card that the processor stands in for, or a limit on a
    /// real one.
    pub vram: Option<u64>,
    /// How many cards at most; all of them if not said.
    pub cards: Option<usize>,
}

/// The devices of an engine, and its work on them.
#[derive(Debug)]
pub struct Devices {
    /// The work, as these devices do it.
    pub work: Arc<Groth16>,
    /// The devices, at least one.
    pub all: Vec<Arc<dyn Device<Groth16>>>,
    /// Why the processor was taken where cards would have been, in words.
    pub fallback: Option<String>,
}

impl Devices {
    /// Opens what is asked for. Compiling the kernels for a card that is met for the first time
    /// takes about a minute; they are kept in a folder.
    ///
    /// # Errors
    /// [`ProverError::NoDevice`] when cards are asked for and there is none or this build has no
    /// kernels; what the driver says when there is one and it cannot be used.
    pub fn open(wanted: &Wanted) -> Result<Self, ProverError> {
        match wanted.backend {
            Backend::Cpu => Ok(Self::processor(wanted, None)),
            Backend::Cuda => cards(wanted),
            Backend::Auto => match cards(wanted) {
                Err(ProverError::NoDevice { why }) => Ok(Self::processor(wanted, Some(why))),
                opened => opened,
            },
        }
    }

    /// The name and memory of the first device.
    pub fn first(&self) -> Info {
        self.all
            .first()
            .map(|device| device.info())
            .unwrap_or_default()
    }

    fn processor(wanted: &Wanted, fallback: Option<String>) -> Self {
        let work = Arc::new(Groth16::on_processor());
        let vram = wanted.vram.unwrap_or(STAND_IN_BYTES);
        Self {
            all: vec![Arc::new(CpuDevice::new(Arc::clone(&work), vram, 0))],
            work,
            fallback,
        }
    }
}

#[cfg(feature = "cuda")]
fn cards(wanted: &Wanted) -> Result<Devices, ProverError> {
    let count = crate::cuda::available()?;
    let cache = crate::cuda::default_cache();
    let mut all: Vec<Arc<dyn Device<Groth16>>> = Vec::new();
    for ordinal in 0..count.min(wanted.cards.unwrap_or(count)) {
        let card = super::CudaDevice::open(ordinal, wanted.vram, cache.as_deref())?;
        all.push(Arc::new(card));
    }
    Ok(Devices {
        work: Arc::new(Groth16::on_card()),
        all,
        fallback: None,
    })
}

#[cfg(not(feature = "cuda"))]
fn cards(_wanted: &Wanted) -> Result<Devices, ProverError> {
    Err(ProverError::NoDevice {
        why: "this build has no kernels for cards; build with --features cuda".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for backend in Backend::ALL {
            assert_eq!(backend.to_string().parse(), Ok(backend));
        }
        let error = "gpu".parse::<Backend>().expect_err("none");
        assert!(error.contains("auto, cpu or cuda"), "{error}");
    }

    #[test]
    fn the_processor_stands_in_for_a_card() {
        let wanted = Wanted {
            backend: Backend::Cpu,
            vram: Some(64 << 20),
            ..Wanted::default()
        };
        let devices = Devices::open(&wanted).expect("always there");
        let info = devices.first();
        assert_eq!(
            (info.name.as_str(), info.total, info.free),
            ("cpu", 64 << 20, 64 << 20)
        );
        assert_eq!(devices.fallback, None);
    }

    /// Where there is no card, asking for one fails plainly, and not insisting takes the processor.
    #[test]
    fn without_a_card_auto_says_why() {
        let cuda = Wanted {
            backend: Backend::Cuda,
            ..Wanted::default()
        };
        let Err(ProverError::NoDevice { why }) = Devices::open(&cuda) else {
            return;
        };
        let devices = Devices::open(&Wanted::default()).expect("the processor");
        assert_eq!(devices.fallback, Some(why));
        assert_eq!(devices.first().total, STAND_IN_BYTES);
    }
}

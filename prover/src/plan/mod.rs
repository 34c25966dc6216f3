//! The device work of one partition as a list of ops, before any of it has happened.
//!
//! A [`Plan`] says what is allocated, copied, launched, synchronised and freed, in which order and
//! under which lock, with sizes as on a card. It is a function of the partition's [`Sizes`] and of
//! the device memory at hand: with little memory the transform works in two vectors instead of
//! three, and points stream through a smaller buffer. The engine's workers interpret it over a
//! device; `replay` interprets it over simulated memory ([`Plan::schedule`]); a fault is a change
//! to it. What a launch computes is the business of the device.
//!
//! ```
//! use prover::plan::{Plan, Sizes};
//! let sizes = Sizes::like_a_sector(1 << 27);
//! let roomy = Plan::new(&sizes, 80 << 30)?;
//! let tight = Plan::new(&sizes, 14 << 30)?;
//! assert!(tight.peak_bytes() < roomy.peak_bytes());
//! assert!(tight.peak_bytes() <= 14 << 30);
//! # Ok::<(), prover::plan::PlanError>(())
//! ```

mod build;
mod fit;
mod schedule;
mod sizes;

use tracefmt::ops::Op;

pub use fit::PlanError;
pub use sizes::{BLOCK_BYTES, Sizes};

/// A kernel phase, in the order of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Transforms: from the vectors a, b, c to the coefficients of the quotient H.
    Quotient,
    /// MSM of the quotient.
    MsmH,
    /// MSM of the auxiliary variables.
    MsmL,
    /// MSM of A.
    MsmA,
    /// MSM of B in G1.
    MsmBG1,
    /// MSM of B in G2.
    MsmBG2,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 6] = [
        Self::Quotient,
        Self::MsmH,
        Self::MsmL,
        Self::MsmA,
        Self::MsmBG1,
        Self::MsmBG2,
    ];

    /// The name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quotient => "quotient",
            Self::MsmH => "msm_h",
            Self::MsmL => "msm_l",
            Self::MsmA => "msm_a",
            Self::MsmBG1 => "msm_b_g1",
            Self::MsmBG2 => "msm_b_g2",
        }
    }
}

/// One launch of a phase; a phase may take several, each over a part of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The phase.
    pub phase: Phase,
    /// Which part, from 0.
    pub part: u64,
    /// How many parts there are.
    pub parts: u64,
}

impl Kernel {
    /// Whether the phase is complete after this launch.
    pub const fn is_last(self) -> bool {
        self.part + 1 == self.parts
    }
}

/// One op of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanStep {
    /// The op; ids are local to the plan.
    pub op: Op,
    /// The buffer it is about, or the phase of a launch; empty for neither.
    pub about: &'static str,
    /// What a launch computes.
    pub kernel: Option<Kernel>,
}

/// The device work of one partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The ops, in order.
    pub steps: Vec<PlanStep>,
    sizes: Sizes,
    peak_bytes: u64,
}

impl Plan {
    /// The sizes it was made for.
    pub const fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The most device memory that it holds at once.
    pub const fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }
}

/// The lock under which a partition has the device to itself.
pub const DEVICE_LOCK: &str = "gpu";

#[cfg(test)]
mod tests;

//! The proving engine: Groth16 over BLS12-381 for proofs that come in partitions.
//!
//! What a proof is made of is in [`groth16`]. The engine writes its trace with
//! [`tracefmt::writer`]; reading one is the business of the other crates.

pub mod bench;
pub mod circuits;
pub mod clock;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod device;
pub mod engine;
#[cfg(feature = "filecoin")]
pub mod filecoin;
pub mod groth16;
pub mod inputs;
pub mod msm;
pub mod ntt;
pub mod plan;
pub mod preflight;
pub mod proving;
pub mod scalars;
#[cfg(feature = "serve")]
pub mod serve;
pub mod srs;
pub mod trace;

mod error;
#[cfg(target_arch = "x86_64")]
mod wide;

pub use error::ProverError;

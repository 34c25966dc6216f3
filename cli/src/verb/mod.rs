//! One file a verb: arguments, one library call, printing.

#[cfg(feature = "logs")]
pub mod analyze;
#[cfg(feature = "prove")]
pub mod bench;
#[cfg(feature = "prove")]
mod card;
#[cfg(feature = "logs")]
pub mod compare;
pub mod completions;
#[cfg(feature = "logs")]
pub mod diagnose;
#[cfg(feature = "gate")]
pub mod golden;
#[cfg(feature = "prove")]
mod making;
pub mod man;
#[cfg(feature = "prove")]
pub mod preflight;
#[cfg(feature = "prove")]
pub mod prove;
#[cfg(feature = "logs")]
pub mod replay;
#[cfg(feature = "logs")]
mod replayed;
#[cfg(feature = "logs")]
mod report;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "prove")]
pub mod setup;
#[cfg(feature = "prove")]
mod size;
#[cfg(feature = "logs")]
pub mod trace;
#[cfg(feature = "prove")]
mod traced;
#[cfg(feature = "prove")]
pub mod verify;
#[cfg(feature = "logs")]
mod words;

//! A Groth16 proof and its keys: Jens Groth, "On the Size of Pairing-Based Non-interactive
//! Arguments", EUROCRYPT 2016, section 3.2, over BLS12-381.

mod key;
mod proof;
mod verify;

pub use key::{ProvingKey, VerifyingKey};
pub use proof::{PROOF_BYTES, Proof};
pub use verify::PreparedKey;

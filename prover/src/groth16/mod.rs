//! A Groth16 proof and its keys: Jens Groth, "On the Size of Pairing-Based Non-interactive
//! Arguments", EUROCRYPT 2016, section 3.2, over BLS12-381.

mod key;
mod matrix;
mod mix;
mod proof;
mod prove;
mod quotient;
mod repeat;
mod shape;
mod synthesis;
#[cfg(test)]
mod testing;
mod verify;

pub use key::{ProvingKey, VerifyingKey};
pub use matrix::Matrix;
pub use mix::Mix;
pub use proof::{PROOF_BYTES, Proof};
pub use prove::{Observer, Phase, Sums, assemble, msm_a, msm_b_g1, msm_b_g2, msm_h, msm_l, prove};
pub use quotient::{Evaluations, Factors, evaluate, quotient};
pub use shape::{Assignment, Density, Shape};
pub use verify::PreparedKey;

//! The CUDA backend: kernels of our own, driven through the driver API. It needs no toolkit to be
//! built; the kernels are compiled for the card at first use and kept in a cache folder.
//!
//! [`available`] says whether a device can be used and, if not, why. Here are the pieces: sums
//! ([`Msm`]), transforms ([`DeviceDomain`]), the quotient ([`quotient`]) and the making of bases
//! ([`bases`]). Joining them into a proof is not done here.

pub mod bases;
pub mod quotient;

mod device;
mod kernels;
mod msm;
mod ntt;

pub use device::{Buffer, Device, Plain, available};
pub use kernels::{UNITS, Unit, default_cache};
pub use msm::{Curve, G1, G2, Msm, Parts, Shape};
pub use ntt::{Coset, DeviceDomain, LOG2_RANGE, Way, root_of_order, split};

//! The CUDA backend: kernels of our own, driven through the driver API. It needs no toolkit to be
//! built; the kernels are compiled for the card at first use and kept in a cache folder.
//!
//! [`available`] says whether a device can be used and, if not, why. Here are the pieces: sums
//! ([`Msm`]), transforms ([`DeviceDomain`]), the quotient ([`quotient`]), matrices times witness
//! ([`rows`]), the making of bases ([`bases`]) and of parameters ([`fixed_base`]). How they are cut
//! and what memory they take is in [`crate::plan`], without a device. Joining them into a proof is
//! not done here.

pub mod bases;
pub mod fixed_base;
pub mod quotient;
pub mod rows;

mod arena;
mod device;
mod kernels;
mod msm;
mod ntt;

pub use device::{
    Buffer, COPY_LANES, Device, Footprint, Plain, Staging, Upload, available, versions,
};
pub use kernels::{UNITS, Unit, default_cache};
pub use msm::{Curve, G1, G2, Msm, Parts, Scalars};
pub use ntt::{Coset, DeviceDomain, Way, root_of_order};

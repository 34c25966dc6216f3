//! Many multiples of one point on the device: what parameters are made of. The digits and the
//! tables are those of the processor's `srs/fixed_base.rs`, and so are the points, bit for bit.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use std::marker::PhantomData;

use blstrs::{G1Affine, G2Affine, Scalar};
use rayon::prelude::*;

use super::bases::{CHUNK, len, normalise};
use super::device::{Buffer, Device, Grid, arg};
use super::msm::{Curve, G1, G2};
use crate::ProverError;
use crate::srs::curve::Affine;
use crate::srs::fixed_base::FixedBase;
use crate::srs::{Ceremony, Multiples};

/// Bits of a window: 16 additions a multiple, tables of 50 MB in G1 and 100 MB in G2.
const BITS: u32 = 16;

/// The tables of one base in device memory.
#[derive(Debug)]
pub struct FixedBaseOnDevice<'a, C> {
    device: &'a Device,
    tables: Buffer,
    curve: PhantomData<C>,
}

/// Device memory for the multiples of at most [`CHUNK`] scalars.
struct Room {
    scalars: Buffer,
    sums: Buffer,
}

#[expect(
    private_bounds,
    reason = "the two groups, whose coordinates are nobody else's business"
)]
impl<'a, C: Curve> FixedBaseOnDevice<'a, C>
where
    C::Affine: Affine,
{
    /// Makes the tables of `base` on the processor and brings them to the device.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn new(device: &'a Device, base: C::Affine) -> Result<Self, ProverError> {
        let tables = FixedBase::with_window(base, BITS).tables().concat();
        Ok(Self {
            device,
            tables: device.upload(&tables)?,
            curve: PhantomData,
        })
    }

    /// The multiples of the base by `scalars`, in their order; the identity for zero. Device
    /// memory is that of [`CHUNK`] scalars, however many there are.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn multiples(&self, scalars: &[Scalar]) -> Result<Vec<C::Affine>, ProverError> {
        let room = self.room(scalars.len())?;
        let most = CHUNK.min(scalars.len() as u64);
        let made = self.device.alloc(len(most) * size_of::<C::Affine>())?;
        // Written by all threads: the first touch of host memory is slower than the bus.
        let mut points = Vec::new();
        points.par_extend(rayon::iter::repeat_n(C::Affine::identity(), scalars.len()));
        let chunk = len(CHUNK);
        for (scalars, points) in scalars.chunks(chunk).zip(points.chunks_mut(chunk)) {
            // SAFETY: there is room for a chunk of points.
            unsafe { self.chunk(&room, scalars, made.ptr()) }?;
            self.device.read(&made, points)?;
        }
        Ok(points)
    }

    /// The same, left on the device as affine points side by side.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn multiples_on_device(&self, scalars: &[Scalar]) -> Result<Buffer, ProverError> {
        let room = self.room(scalars.len())?;
        let bytes = size_of::<C::Affine>();
        let points = self.device.alloc(scalars.len() * bytes)?;
        let mut to = points.ptr();
        for scalars in scalars.chunks(len(CHUNK)) {
            // SAFETY: there is room for all points, and `to` is behind those of earlier chunks.
            unsafe { self.chunk(&room, scalars, to) }?;
            to += (scalars.len() * bytes) as u64;
        }
        self.device.synchronize()?;
        Ok(points)
    }

    fn room(&self, scalars: usize) -> Result<Room, ProverError> {
        let most = len(CHUNK).min(scalars);
        Ok(Room {
            scalars: self.device.alloc(most * size_of::<Scalar>())?,
            sums: self.device.alloc(2 * most * size_of::<C::Affine>())?,
        })
    }

    /// Puts the multiples by at most [`CHUNK`] scalars at `to`.
    ///
    /// # Safety
    /// There is room for them at `to`, until the stream is done.
    unsafe fn chunk(&self, room: &Room, scalars: &[Scalar], to: u64) -> Result<(), ProverError> {
        self.device.write(&room.scalars, scalars)?;
        let (tables, from, sums) = (self.tables.ptr(), room.scalars.ptr(), room.sums.ptr());
        let n = scalars.len() as u64;
        let args = [arg(&tables), arg(&from), arg(&sums), arg(&BITS), arg(&n)];
        let name = format!("bases_fixed_{}", C::SUFFIX);
        // SAFETY: the tables have an entry for every digit of every window, the scalars and their
        // sums have their room, and the writing of the next scalars waits for the stream.
        unsafe {
            self.device
                .launch(&name, Grid::over(n * C::LANES, 128), &args)
        }?;
        // SAFETY: the sums are there, and the caller has room for the points.
        unsafe { normalise::<C>(self.device, sums, to, n) }
    }
}

/// Multiples of a ceremony's generators, made on a device.
#[derive(Debug)]
pub struct OnDevice<'a> {
    g1: FixedBaseOnDevice<'a, G1>,
    g2: FixedBaseOnDevice<'a, G2>,
}

impl<'a> OnDevice<'a> {
    /// The tables of both generators.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn new(device: &'a Device, ceremony: &Ceremony) -> Result<Self, ProverError> {
        Ok(Self {
            g1: FixedBaseOnDevice::new(device, ceremony.g1)?,
            g2: FixedBaseOnDevice::new(device, ceremony.g2)?,
        })
    }
}

impl Multiples for OnDevice<'_> {
    fn g1(&self, scalars: &[Scalar]) -> Result<Vec<G1Affine>, ProverError> {
        self.g1.multiples(scalars)
    }

    fn g2(&self, scalars: &[Scalar]) -> Result<Vec<G2Affine>, ProverError> {
        self.g2.multiples(scalars)
    }
}

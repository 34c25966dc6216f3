//! Transforms over Fr on the device: a domain's tables, and the passes of a transform in natural
//! order or in place. What a pass does stands in `ntt.cu`.
//!
//! In place, a transform leaves its values in the order of [`crate::plan::tables::frequency`]; the
//! reverse transform takes that order.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use blstrs::Scalar;
use ff::{Field as _, PrimeField as _};

use super::arena::Arena;
use super::device::{Buffer, Device, Grid, arg};
use crate::ProverError;
use crate::plan::constants::Constant;
pub use crate::plan::passes::Way;
use crate::plan::passes::{self, Pass, Walk};
use crate::plan::tables::{LOG2_RANGE, both_ways_bytes, split};
pub(super) use tables::Direction;
use tables::{OnDevice, Side, Turn};

mod tables;
#[cfg(test)]
mod tests;

const POINTS: u32 = 2048;
const THREADS: u32 = 256;
/// Bytes of shared memory of a block: its points, one slot in nine left out against bank conflicts.
const SHARED: u32 = POINTS / 8 * 9 * 32;

#[repr(C)]
#[derive(Clone, Copy)]
struct PowersArg {
    low: u64,
    high: u64,
    low_bits: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct PassArgs {
    input: u64,
    output: u64,
    roots: u64,
    load_rows: u64,
    store_rows: u64,
    load: Walk,
    store: Walk,
    load_powers: PowersArg,
    store_powers: PowersArg,
    transforms: u64,
    inner_bits: u32,
    scale_load: u32,
    scale_store: u32,
    rounds: u32,
    w8: [Constant; 3],
}

/// The tables of transforms over a coset of one domain.
#[derive(Debug)]
pub struct Coset {
    forward: Direction,
    inverse: Direction,
}

/// A domain of 2^log2 points with its tables on the device.
#[derive(Debug)]
pub struct DeviceDomain<'a> {
    device: &'a Device,
    log2: u32,
    whole: u32,
    forward: Direction,
    inverse: Direction,
}

/// One direction of a transform, on the domain or over the coset of a generator.
fn turn(log2: u32, way: Way, coset: Option<Scalar>) -> Turn {
    let root = root_of_order(log2);
    let inverse = |of: Scalar| of.invert().unwrap_or(Scalar::ONE);
    match way {
        Way::Forward => Turn {
            root,
            scale: Scalar::ONE,
            coset,
        },
        Way::Inverse => Turn {
            root: inverse(root),
            scale: inverse(Scalar::from(1_u64 << log2)),
            coset: coset.map(inverse),
        },
    }
}

/// The tables of one direction, in the next pieces of an arena.
///
/// # Errors
/// [`ProverError::DeviceDomain`] outside [`LOG2_RANGE`]; [`ProverError::DeviceLength`] if the
/// arena is too small; [`ProverError::DeviceCall`].
pub(super) fn direction(
    device: &Device,
    (log2, whole): (u32, u32),
    (way, coset): (Way, Option<Scalar>),
    arena: &mut Arena<'_>,
) -> Result<Direction, ProverError> {
    if !LOG2_RANGE.contains(&log2) {
        return Err(ProverError::DeviceDomain {
            least: *LOG2_RANGE.start(),
            most: *LOG2_RANGE.end(),
            log2,
        });
    }
    let mut maker = OnDevice { device, arena };
    Direction::new(&mut maker, &turn(log2, way, coset), (log2, whole))
}

impl<'a> DeviceDomain<'a> {
    /// Makes the tables of a domain, in an allocation of their own. Tables of at most 2^`whole`
    /// entries are kept whole: that saves up to one product in twelve and costs 32 bytes an
    /// entry, a table a direction of as many entries as the domain has points.
    ///
    /// # Errors
    /// [`ProverError::DeviceDomain`] outside [`LOG2_RANGE`]; [`ProverError::DeviceCall`], out of
    /// memory included.
    pub fn new(device: &'a Device, log2: u32, whole: u32) -> Result<Self, ProverError> {
        let [forward, inverse] = both_ways(device, (log2, whole), None)?;
        Ok(Self {
            device,
            log2,
            whole,
            forward,
            inverse,
        })
    }

    /// Points.
    pub fn size(&self) -> u64 {
        1 << self.log2
    }

    /// Binary logarithm of the points.
    pub fn log2(&self) -> u32 {
        self.log2
    }

    /// The tables of the coset with generator `g`, in an allocation of their own.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn coset(&self, g: Scalar) -> Result<Coset, ProverError> {
        let [forward, inverse] = both_ways(self.device, (self.log2, self.whole), Some(g))?;
        Ok(Coset { forward, inverse })
    }

    /// Natural order to natural order, from `data` to `out`; `data` is used as scratch. With a
    /// coset the values are those on it: coefficients are scaled before a forward transform and
    /// after an inverse one. Values in and out are below 2r.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`], [`ProverError::DeviceCall`].
    pub fn transform(
        &self,
        way: Way,
        data: &Buffer,
        out: &Buffer,
        coset: Option<&Coset>,
    ) -> Result<(), ProverError> {
        let passes = passes::natural(split(self.log2), way, coset.is_some());
        let direction = self.direction(way, coset);
        run(self.device, self.log2, direction, &passes, [data, out])
    }

    /// Natural order to the in-place order. An inverse transform with a coset takes the values on
    /// it; a forward one knows no coset here.
    ///
    /// # Errors
    /// As [`transform`](Self::transform).
    pub fn to_in_place(
        &self,
        way: Way,
        data: &Buffer,
        coset: Option<&Coset>,
    ) -> Result<(), ProverError> {
        let coset = coset.filter(|_| way == Way::Inverse);
        let passes = passes::to_in_place(split(self.log2), coset.is_some());
        let direction = self.direction(way, coset);
        run(self.device, self.log2, direction, &passes, [data, data])
    }

    /// The in-place order to the natural one; with a coset the coefficients are scaled first.
    ///
    /// # Errors
    /// As [`transform`](Self::transform).
    pub fn in_place_to_natural(
        &self,
        way: Way,
        data: &Buffer,
        coset: Option<&Coset>,
    ) -> Result<(), ProverError> {
        let coset = coset.filter(|_| way == Way::Forward);
        let passes = passes::from_in_place(split(self.log2), coset.is_some());
        let direction = self.direction(way, coset);
        run(self.device, self.log2, direction, &passes, [data, data])
    }

    fn direction<'b>(&'b self, way: Way, coset: Option<&'b Coset>) -> &'b Direction {
        match (way, coset) {
            (Way::Forward, None) => &self.forward,
            (Way::Forward, Some(coset)) => &coset.forward,
            (Way::Inverse, None) => &self.inverse,
            (Way::Inverse, Some(coset)) => &coset.inverse,
        }
    }

    /// The values of a buffer, each made the one below r, on the host.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`], [`ProverError::DeviceCall`].
    pub fn canonical(&self, data: &Buffer) -> Result<Vec<Scalar>, ProverError> {
        let n = self.size();
        let mut values = vec![Scalar::ZERO; usize::try_from(n).unwrap_or(usize::MAX)];
        if data.bytes() < size_of_val(values.as_slice()) {
            return Err(ProverError::DeviceLength {
                what: "a domain's values",
                expected: values.len(),
                found: data.bytes() / 32,
            });
        }
        self.device.canonical(data, n)?;
        self.device.read(data, &mut values)?;
        Ok(values)
    }
}

/// The tables of both directions, in an allocation of their own.
fn both_ways(
    device: &Device,
    sizes: (u32, u32),
    coset: Option<Scalar>,
) -> Result<[Direction; 2], ProverError> {
    let bytes = both_ways_bytes(sizes.0, sizes.1, coset.is_some());
    let buffer = device.alloc(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    let mut arena = Arena::new(&buffer);
    let forward = direction(device, sizes, (Way::Forward, coset), &mut arena)?;
    let inverse = direction(device, sizes, (Way::Inverse, coset), &mut arena)?;
    Ok([forward, inverse])
}

/// Puts the passes over 2^log2 points on the stream, from and to the first buffer or the second as
/// they say.
///
/// # Errors
/// [`ProverError::DeviceLength`], [`ProverError::DeviceCall`].
pub(super) fn run(
    device: &Device,
    log2: u32,
    direction: &Direction,
    passes: &[Pass],
    buffers: [&Buffer; 2],
) -> Result<(), ProverError> {
    let bytes = 32_usize << log2;
    for buffer in buffers {
        if buffer.bytes() < bytes {
            return Err(ProverError::DeviceLength {
                what: "a transform",
                expected: bytes / 32,
                found: buffer.bytes() / 32,
            });
        }
    }
    for pass in passes {
        let of = |second: bool| buffers[usize::from(second)].ptr();
        let args = args(
            log2,
            direction,
            pass,
            [pass.from_second, pass.to_second].map(of),
        );
        let columns = u64::from(POINTS >> pass.bits);
        let blocks = args.transforms.div_ceil(columns);
        let grid = Grid {
            blocks: (u32::try_from(blocks).unwrap_or(u32::MAX), 1),
            threads: THREADS,
            shared: SHARED,
        };
        // SAFETY: both buffers hold the whole domain, the walks stay inside it, the tables were
        // made for it.
        unsafe {
            let name = format!("ntt_pass_{}", pass.bits);
            device.launch(&name, grid, &[arg(&args)])
        }?;
    }
    Ok(())
}

fn args(log2: u32, direction: &Direction, pass: &Pass, [input, output]: [u64; 2]) -> PassArgs {
    let address = |table: Option<&Buffer>| table.map_or(0, Buffer::ptr);
    let powers = |side: &Side<'_, Buffer>| PowersArg {
        low: address(side.low),
        high: address(side.high),
        low_bits: side.low_bits,
        pad: 0,
    };
    let [load, store] = direction.sides(pass);
    PassArgs {
        input,
        output,
        roots: direction.roots.ptr(),
        load_rows: address(load.rows),
        store_rows: address(store.rows),
        load: pass.load,
        store: pass.store,
        load_powers: powers(&load),
        store_powers: powers(&store),
        transforms: 1 << (log2 - pass.bits),
        inner_bits: pass.columns,
        scale_load: load.kind,
        scale_store: store.kind,
        rounds: pass.bits / 3,
        w8: direction.w8,
    }
}

impl Device {
    /// Makes the first n values of a buffer, which are below 2r, those below r, on the stream.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if there are fewer, [`ProverError::DeviceCall`].
    pub fn canonical(&self, data: &Buffer, n: u64) -> Result<(), ProverError> {
        let ptr = data.slice(0, n.saturating_mul(32))?.ptr();
        // SAFETY: the buffer holds n values.
        unsafe { self.launch("fr_canonical", Grid::over(n, 256), &[arg(&ptr), arg(&n)]) }
    }
}

/// A primitive root of unity of order 2^log2.
pub fn root_of_order(log2: u32) -> Scalar {
    (log2..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

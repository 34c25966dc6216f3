//! Transforms over Fr on the device: a domain's tables, and the passes of a transform in natural
//! order or in place. What a pass does stands in `ntt.cu`.
//!
//! In place, a transform leaves frequency k0 + k1·2^b0 + k2·2^(b0 + b1) at place
//! (k0·2^b1 + k1)·2^b2 + k2, with b0, b1, b2 from [`split`]; the reverse transform takes that
//! order.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use blstrs::Scalar;
use ff::{Field as _, PrimeField as _};

use super::device::{Buffer, Device, Grid, arg};
use crate::ProverError;
use tables::{Direction, Powers, PowersArg};

mod tables;

/// Smallest and largest domain, as binary logarithms.
pub const LOG2_RANGE: std::ops::RangeInclusive<u32> = 10..=27;
const POINTS: u32 = 2048;
const THREADS: u32 = 256;
/// Bytes of shared memory of a block: its points, one slot in nine left out against bank conflicts.
const SHARED: u32 = POINTS / 8 * 9 * 32;
/// What a pass multiplies its points by, as in `ntt.cu`: nothing, the root's powers, a coset's.
const SCALE_NONE: u32 = 0;
const SCALE_TWIDDLE: u32 = 1;
const SCALE_PLACE: u32 = 2;

/// Binary logarithms of the passes of a transform of 2^log2 points; a last 0 is no pass.
pub fn split(log2: u32) -> [u32; 3] {
    if log2 <= 18 {
        return [log2.div_ceil(2), log2 / 2, 0];
    }
    let first = log2.div_ceil(3);
    let second = (log2 - first).div_ceil(2);
    [first, second, log2 - first - second]
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Walk {
    outer: u64,
    inner: u64,
    step: u64,
    bits: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct PassArgs {
    input: u64,
    output: u64,
    roots: u64,
    load: Walk,
    store: Walk,
    place: Walk,
    load_powers: PowersArg,
    store_powers: PowersArg,
    transforms: u64,
    inner_bits: u32,
    scale_load: u32,
    scale_store: u32,
    w8: [[u32; 8]; 3],
}

/// Powers of a coset's generator and of its inverse over one domain.
#[derive(Debug)]
pub struct Coset {
    forward: Powers,
    inverse: Powers,
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

/// Which way a transform goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From coefficients to values.
    Forward,
    /// From values to coefficients, 1/n included.
    Inverse,
}

impl<'a> DeviceDomain<'a> {
    /// Makes the tables of a domain. Tables of at most 2^`whole` entries are kept whole: that
    /// saves up to one product in fourteen and costs 32 bytes an entry, two tables a domain and
    /// two a coset of as many entries as the domain has points.
    ///
    /// # Errors
    /// [`ProverError::DomainTooLarge`] outside [`LOG2_RANGE`], [`ProverError::DeviceCall`].
    pub fn new(device: &'a Device, log2: u32, whole: u32) -> Result<Self, ProverError> {
        if !LOG2_RANGE.contains(&log2) {
            return Err(ProverError::DomainTooLarge { log2 });
        }
        let root = root_of_order(log2);
        let inverse_root = root.invert().unwrap_or(Scalar::ONE);
        let n_inverse = Scalar::from(1_u64 << log2).invert().unwrap_or(Scalar::ONE);
        Ok(Self {
            device,
            log2,
            whole,
            forward: Direction::new(device, root, Scalar::ONE, (log2, whole))?,
            inverse: Direction::new(device, inverse_root, n_inverse, (log2, whole))?,
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

    /// The tables of the coset with generator `g`.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn coset(&self, g: Scalar) -> Result<Coset, ProverError> {
        let inverse = g.invert().unwrap_or(Scalar::ONE);
        let sizes = (self.log2, self.whole);
        Ok(Coset {
            forward: Powers::new(self.device, g, Scalar::ONE, sizes)?,
            inverse: Powers::new(self.device, inverse, Scalar::ONE, sizes)?,
        })
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
        let passes = self.passes();
        for (number, &bits) in passes.iter().enumerate() {
            let last = number + 1 == passes.len();
            let mut args = self.decimation(way, number, data);
            if last {
                (args.load, args.store) = self.last_walks();
                args.place = args.store;
                args.output = out.ptr();
            }
            match (way, coset) {
                (Way::Forward, Some(coset)) if number == 0 => {
                    args.place = args.load;
                    args.scale_load = SCALE_PLACE;
                    args.load_powers = coset.forward.arg();
                }
                (Way::Inverse, Some(coset)) if last => {
                    args.scale_store = SCALE_PLACE;
                    args.store_powers = coset.inverse.arg();
                }
                _ => {}
            }
            self.pass(bits, &args, [data, out])?;
        }
        Ok(())
    }

    /// Natural order to the in-place order.
    ///
    /// # Errors
    /// As [`transform`](Self::transform).
    pub fn to_in_place(&self, way: Way, data: &Buffer) -> Result<(), ProverError> {
        for (number, &bits) in self.passes().iter().enumerate() {
            let mut args = self.decimation(way, number, data);
            if number + 1 == self.passes().len() {
                args.load = self.last_walks().0;
                args.store = args.load;
            }
            self.pass(bits, &args, [data, data])?;
        }
        Ok(())
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
        let passes = self.passes();
        for (number, &bits) in passes.iter().enumerate().rev() {
            let mut args = self.decimation(way, number, data);
            (args.scale_load, args.scale_store) = (args.scale_store, SCALE_NONE);
            args.load_powers = args.store_powers;
            if number + 1 == passes.len() {
                (args.load, args.place) = self.last_walks();
                args.store = args.load;
                if let Some(coset) = coset {
                    args.scale_load = SCALE_PLACE;
                    args.load_powers = coset.forward.arg();
                }
            }
            self.pass(bits, &args, [data, data])?;
        }
        Ok(())
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
        let ptr = data.ptr();
        // SAFETY: the buffer holds n values.
        unsafe {
            self.device
                .launch("fr_canonical", Grid::over(n, 256), &[arg(&ptr), arg(&n)])
        }?;
        self.device.read(data, &mut values)?;
        Ok(values)
    }

    fn passes(&self) -> Vec<u32> {
        split(self.log2).into_iter().filter(|&b| b > 0).collect()
    }

    /// Pass `number` over columns [before][pass][after], in place, twiddles when storing.
    fn decimation(&self, way: Way, number: usize, data: &Buffer) -> PassArgs {
        let direction = match way {
            Way::Forward => &self.forward,
            Way::Inverse => &self.inverse,
        };
        let bits = split(self.log2);
        let done: u32 = bits.iter().take(number).sum();
        let own = bits.get(number).copied().unwrap_or(0);
        let after = self.log2 - done - own;
        let walk = Walk {
            outer: 1 << (after + own),
            inner: 1,
            step: 1 << after,
            bits: after,
            pad: 0,
        };
        let twiddle = if number == 0 {
            Some(&direction.outer)
        } else {
            direction.inner.as_ref()
        };
        let twiddle = twiddle.filter(|_| after > 0);
        PassArgs {
            input: data.ptr(),
            output: data.ptr(),
            roots: direction.roots.ptr(),
            load: walk,
            store: walk,
            place: walk,
            load_powers: PowersArg::default(),
            store_powers: twiddle.map_or_else(PowersArg::default, Powers::arg),
            transforms: 1 << (self.log2 - own),
            inner_bits: after,
            scale_load: SCALE_NONE,
            scale_store: match twiddle {
                None => SCALE_NONE,
                Some(_) if number == 0 && direction.by_place => SCALE_PLACE,
                Some(_) => SCALE_TWIDDLE,
            },
            w8: direction.w8,
        }
    }

    /// Where the last pass loads, neighbouring transforms being neighbours in the natural order,
    /// and where its frequencies belong in that order.
    fn last_walks(&self) -> (Walk, Walk) {
        let [first, second, third] = split(self.log2);
        let last = if third > 0 { third } else { second };
        let middle = if third > 0 { second } else { 0 };
        let load = Walk {
            outer: 1 << last,
            inner: 1 << (middle + last),
            step: 1,
            bits: first,
            pad: 0,
        };
        let natural = Walk {
            outer: 1 << first,
            inner: 1,
            step: 1 << (first + middle),
            bits: first,
            pad: 0,
        };
        (load, natural)
    }

    fn pass(&self, bits: u32, args: &PassArgs, buffers: [&Buffer; 2]) -> Result<(), ProverError> {
        let bytes = usize::try_from(self.size() * 32).unwrap_or(usize::MAX);
        for buffer in buffers {
            if buffer.bytes() < bytes {
                return Err(ProverError::DeviceLength {
                    what: "a transform",
                    expected: bytes / 32,
                    found: buffer.bytes() / 32,
                });
            }
        }
        let columns = u64::from(POINTS >> bits);
        let grid = Grid {
            blocks: (
                u32::try_from(args.transforms.div_ceil(columns)).unwrap_or(u32::MAX),
                1,
            ),
            threads: THREADS,
            shared: SHARED,
        };
        // SAFETY: both buffers hold the whole domain, the walks stay inside it, the tables were
        // made for it.
        unsafe {
            self.device
                .launch(&format!("ntt_pass_{bits}"), grid, &[arg(args)])
        }
    }
}

/// A primitive root of unity of order 2^log2.
pub fn root_of_order(log2: u32) -> Scalar {
    (log2..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

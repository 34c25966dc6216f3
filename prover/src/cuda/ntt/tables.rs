//! The tables of a domain on the device: powers of its root, whole or in two parts, and of a
//! coset's generator.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use blstrs::Scalar;
use ff::Field as _;

use super::split;
use crate::ProverError;
use crate::cuda::device::{Buffer, Device, Grid, arg};

/// The inner table of a transform in three passes has at most 2^18 entries and is always whole.
const INNER_WHOLE: u32 = 18;

/// Powers of one element on the device, whole or as two tables that are multiplied.
#[derive(Debug)]
pub(super) struct Powers {
    low: Buffer,
    high: Option<Buffer>,
    low_bits: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct PowersArg {
    low: u64,
    high: u64,
    low_bits: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct BitPowers {
    square: [[u64; 4]; 32],
    scale: [u64; 4],
}

fn limbs(value: Scalar) -> [u64; 4] {
    blst::blst_fr::from(value).l
}

/// As 32-bit limbs, for a struct that the kernels align by four bytes.
fn words(value: Scalar) -> [u32; 8] {
    let limbs = limbs(value);
    std::array::from_fn(|at| (limbs[at / 2] >> (32 * (at % 2)) & 0xffff_ffff) as u32)
}

/// Which exponents a table has at place i.
#[derive(Clone, Copy)]
enum Exponents {
    /// i·stride.
    Multiples(u64),
    /// row·column, for rows of 2^bits places.
    Products(u32),
}

/// scale·base^e for n exponents, on the device.
fn powers_of(
    device: &Device,
    base: Scalar,
    scale: Scalar,
    (n, exponents): (u64, Exponents),
) -> Result<Buffer, ProverError> {
    let buffer = device.alloc(usize::try_from(n * 32).unwrap_or(usize::MAX))?;
    let mut square = [[0; 4]; 32];
    let mut power = base;
    for slot in &mut square {
        *slot = limbs(power);
        power = power.square();
    }
    let bits = BitPowers {
        square,
        scale: limbs(scale),
    };
    let out = buffer.ptr();
    let (stride, columns) = match exponents {
        Exponents::Multiples(stride) => (stride, 64_u32),
        Exponents::Products(bits) => (0, bits),
    };
    // SAFETY: the buffer has n elements.
    unsafe {
        let args = [arg(&out), arg(&n), arg(&stride), arg(&columns), arg(&bits)];
        device.launch("ntt_powers", Grid::over(n, 128), &args)?;
    }
    Ok(buffer)
}

impl Powers {
    /// scale·base^e for e < 2^log2, whole up to 2^whole entries.
    pub(super) fn new(
        device: &Device,
        base: Scalar,
        scale: Scalar,
        (log2, whole): (u32, u32),
    ) -> Result<Self, ProverError> {
        if log2 <= whole {
            let low = powers_of(device, base, scale, (1 << log2, Exponents::Multiples(1)))?;
            return Ok(Self {
                low,
                high: None,
                low_bits: log2,
            });
        }
        let low_bits = log2 / 2;
        let step = 1_u64 << low_bits;
        Ok(Self {
            low: powers_of(device, base, Scalar::ONE, (step, Exponents::Multiples(1)))?,
            high: Some(powers_of(
                device,
                base,
                scale,
                (1 << (log2 - low_bits), Exponents::Multiples(step)),
            )?),
            low_bits,
        })
    }

    pub(super) fn arg(&self) -> PowersArg {
        PowersArg {
            low: self.low.ptr(),
            high: self.high.as_ref().map_or(0, Buffer::ptr),
            low_bits: self.low_bits,
            pad: 0,
        }
    }
}

/// The tables of one direction.
#[derive(Debug)]
pub(super) struct Direction {
    pub(super) roots: Buffer,
    pub(super) w8: [[u32; 8]; 3],
    /// Powers of the domain's root, for the pass with the most columns.
    pub(super) outer: Powers,
    /// Whether that table has the product of row and column for every place, one read a point.
    pub(super) by_place: bool,
    /// Powers of the root of the inner 2^(b1 + b2) points, times 1/n if the direction is inverse.
    pub(super) inner: Option<Powers>,
}

impl Direction {
    pub(super) fn new(
        device: &Device,
        root: Scalar,
        scale: Scalar,
        (log2, whole): (u32, u32),
    ) -> Result<Self, ProverError> {
        let [first, _, last] = split(log2);
        let order_512 = if log2 >= 9 {
            root.pow_vartime([1_u64 << (log2 - 9)])
        } else {
            root
        };
        let w8 = [64_u64, 128, 192].map(|e| words(order_512.pow_vartime([e])));
        let three = last > 0;
        let outer_scale = if three { Scalar::ONE } else { scale };
        let inner = if three {
            let base = root.pow_vartime([1_u64 << first]);
            Some(Powers::new(
                device,
                base,
                scale,
                (log2 - first, INNER_WHOLE),
            )?)
        } else {
            None
        };
        let by_place = log2 <= whole;
        let outer = if by_place {
            let exponents = Exponents::Products(log2 - first);
            Powers {
                low: powers_of(device, root, outer_scale, (1 << log2, exponents))?,
                high: None,
                low_bits: log2,
            }
        } else {
            Powers::new(device, root, outer_scale, (log2, whole))?
        };
        Ok(Self {
            roots: powers_of(
                device,
                order_512,
                Scalar::ONE,
                (512, Exponents::Multiples(1)),
            )?,
            w8,
            outer,
            by_place,
            inner,
        })
    }
}

//! The tables of one direction of a transform, on a domain or on a coset: powers of the root
//! between passes, for every place or in two parts, with the powers of a coset's generator and 1/n
//! in them. What a table holds is said by a [`Spec`]; who makes it is a [`Maker`]: the device, or
//! a test.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use blstrs::Scalar;
use ff::Field as _;

use crate::ProverError;
use crate::cuda::arena::Arena;
use crate::cuda::device::{Buffer, Device, Grid, arg};
use crate::plan::constants::Constant;
use crate::plan::passes::{Factor, Pass};
use crate::plan::tables::{DirectionShape, split};

/// What a pass multiplies its points by, as in `ntt.cu`: nothing, the power of row times column, an
/// entry of its own for every place.
const SCALE_NONE: u32 = 0;
pub(super) const SCALE_TWIDDLE: u32 = 1;
pub(super) const SCALE_PLACE: u32 = 2;

/// Which exponents a table has at place i.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exponents {
    /// i·stride.
    Multiples(u64),
    /// row·column, for rows of 2^bits places; times a power by the row.
    Products(u32),
}

/// What a table holds: scale·base^exponent·rows^row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    pub(super) base: Scalar,
    pub(super) rows: Scalar,
    pub(super) scale: Scalar,
    pub(super) exponents: Exponents,
}

/// Makes tables.
pub(super) trait Maker {
    /// Where one is.
    type Table;

    /// The first n entries of a table.
    fn powers(&mut self, spec: &Spec, n: u64) -> Result<Self::Table, ProverError>;

    /// base^e for e < n, as constants.
    fn constants(&mut self, base: Scalar, n: u64) -> Result<Self::Table, ProverError>;
}

/// Makes tables on the device, in the next pieces of an arena.
#[derive(Debug)]
pub(super) struct OnDevice<'a, 'b> {
    pub(super) device: &'a Device,
    pub(super) arena: &'a mut Arena<'b>,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct BitPowers {
    square: [[u64; 4]; 32],
    row_square: [[u64; 4]; 9],
    scale: [u64; 4],
}

fn limbs(value: Scalar) -> [u64; 4] {
    blst::blst_fr::from(value).l
}

/// base^(2^b) for b from 0.
fn squares<const N: usize>(base: Scalar) -> [[u64; 4]; N] {
    let mut power = base;
    std::array::from_fn(|_| {
        let own = limbs(power);
        power = power.square();
        own
    })
}

impl Maker for OnDevice<'_, '_> {
    type Table = Buffer;

    fn powers(&mut self, spec: &Spec, n: u64) -> Result<Buffer, ProverError> {
        let buffer = self.arena.take(n * 32)?;
        let bits = BitPowers {
            square: squares(spec.base),
            row_square: squares(spec.rows),
            scale: limbs(spec.scale),
        };
        let out = buffer.ptr();
        let (stride, columns) = match spec.exponents {
            Exponents::Multiples(stride) => (stride, 64_u32),
            Exponents::Products(bits) => (0, bits),
        };
        // SAFETY: the buffer has n elements.
        unsafe {
            let args = [arg(&out), arg(&n), arg(&stride), arg(&columns), arg(&bits)];
            self.device
                .launch("ntt_powers", Grid::over(n, 128), &args)?;
        }
        Ok(buffer)
    }

    fn constants(&mut self, base: Scalar, n: u64) -> Result<Buffer, ProverError> {
        let powers = std::iter::successors(Some(Scalar::ONE), |power| Some(power * base));
        let words: Vec<u32> = (0..n)
            .zip(powers)
            .flat_map(|(_, power)| Constant::new(power).words())
            .collect();
        let buffer = self.arena.take(size_of_val(words.as_slice()) as u64)?;
        self.device.write(&buffer, &words)?;
        Ok(buffer)
    }
}

/// What one side of a pass multiplies by.
#[derive(Debug)]
pub(super) struct Side<'a, T> {
    /// How the exponent is found.
    pub(super) kind: u32,
    /// The table, or its first part.
    pub(super) low: Option<&'a T>,
    /// Its second part.
    pub(super) high: Option<&'a T>,
    /// Bits of an exponent that the first part takes.
    pub(super) low_bits: u32,
    /// Constants by row.
    pub(super) rows: Option<&'a T>,
}

/// The element that a direction's coefficients are powers of, and what they are scaled by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// The root of the domain, or its inverse.
    pub(super) root: Scalar,
    /// One, or 1/n.
    pub(super) scale: Scalar,
    /// The coset's generator, or its inverse.
    pub(super) coset: Option<Scalar>,
}

/// The tables of one direction.
#[derive(Debug)]
pub(crate) struct Direction<T = Buffer> {
    pub(super) roots: T,
    pub(super) w8: [Constant; 3],
    /// Powers of the domain's root, for the pass with the most columns.
    outer: T,
    /// The second part of them, where they are not whole.
    outer_high: Option<T>,
    low_bits: u32,
    outer_rows: Option<T>,
    /// Powers of the root of the inner 2^(b1 + b2) points.
    inner: Option<T>,
    last_rows: Option<T>,
}

impl<T> Direction<T> {
    pub(super) fn new(
        maker: &mut impl Maker<Table = T>,
        turn: &Turn,
        (log2, whole): (u32, u32),
    ) -> Result<Self, ProverError> {
        let shape = DirectionShape::new(log2, whole, turn.coset.is_some());
        let [first, ..] = split(log2);
        let g = turn.coset.unwrap_or(Scalar::ONE);
        let power = |base: Scalar, log2: u32| base.pow_vartime([1_u64 << log2]);
        let order_512 = power(turn.root, log2.saturating_sub(9));
        let roots = maker.constants(order_512, shape.roots)?;
        // 1/n goes with the last table that there is.
        let scale = if shape.inner > 0 {
            Scalar::ONE
        } else {
            turn.scale
        };
        let mut spec = Spec {
            base: turn.root,
            rows: g,
            scale,
            exponents: Exponents::Products(log2 - first),
        };
        let (outer, outer_high) = if shape.by_place {
            (maker.powers(&spec, shape.outer.low)?, None)
        } else {
            spec.rows = Scalar::ONE;
            spec.exponents = Exponents::Multiples(shape.outer.low);
            let high = maker.powers(&spec, shape.outer.high)?;
            spec.scale = Scalar::ONE;
            spec.exponents = Exponents::Multiples(1);
            (maker.powers(&spec, shape.outer.low)?, Some(high))
        };
        let inner = Spec {
            base: power(turn.root, first),
            rows: power(g, first),
            scale: turn.scale,
            exponents: Exponents::Products(split(log2)[2]),
        };
        let some = |n: u64| (n > 0).then_some(n);
        let last_bits = shape.last_rows.max(1).ilog2();
        let last = power(g, log2 - last_bits);
        Ok(Self {
            roots,
            w8: [64_u64, 128, 192].map(|e| Constant::new(order_512.pow_vartime([e]))),
            outer,
            outer_high,
            low_bits: shape.outer.low_bits,
            outer_rows: some(shape.outer_rows)
                .map(|n| maker.constants(g, n))
                .transpose()?,
            inner: some(shape.inner)
                .map(|n| maker.powers(&inner, n))
                .transpose()?,
            last_rows: some(shape.last_rows)
                .map(|n| maker.constants(last, n))
                .transpose()?,
        })
    }

    /// What a pass multiplies by when it loads, and when it stores.
    pub(super) fn sides(&self, pass: &Pass) -> [Side<'_, T>; 2] {
        [pass.before, pass.after].map(|factor| self.side(factor))
    }

    fn side(&self, factor: Factor) -> Side<'_, T> {
        let (kind, low, high, rows) = match factor {
            Factor::None => (SCALE_NONE, None, None, None),
            Factor::Outer => {
                let kind = if self.outer_high.is_some() {
                    SCALE_TWIDDLE
                } else {
                    SCALE_PLACE
                };
                let high = self.outer_high.as_ref();
                (kind, Some(&self.outer), high, self.outer_rows.as_ref())
            }
            Factor::Inner => (SCALE_PLACE, self.inner.as_ref(), None, None),
            Factor::Rows => (SCALE_NONE, None, None, self.last_rows.as_ref()),
        };
        Side {
            kind,
            low,
            high,
            low_bits: self.low_bits,
            rows,
        }
    }
}

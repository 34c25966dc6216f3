//! Many multiples of one point: windows of signed digits over precomputed tables, summed in affine
//! form with one inversion for a whole batch (Brickell, Gordon, McCurley and Wilson, "Fast
//! Exponentiation with Precomputation", EUROCRYPT 1992; the shared inversion is Montgomery's).
//!
//! One multiple of 255 bits costs ⌈256/c⌉ affine additions of five multiplications and a squaring
//! each; nothing is left to normalise.

use blstrs::Scalar;
use rayon::prelude::*;

use super::curve::{Affine, Coordinate};

/// Multiples that share one inversion: their sums stay in a core's cache.
const BATCH: usize = 2048;

/// Multiples of one base point, k·2^(c·w) for each window w and each k of 1..=2^(c−1).
#[derive(Debug)]
pub(crate) struct FixedBase<P> {
    /// c
    window_bits: u32,
    /// One table a window.
    tables: Vec<Vec<P>>,
}

impl<P: Affine> FixedBase<P> {
    /// Tables for about `multiples` multiples of `base`.
    pub(crate) fn new(base: P, multiples: usize) -> Self {
        Self::with_window(base, window_bits(multiples))
    }

    /// Tables for windows of `window_bits` bits, 2 to 24.
    pub(crate) fn with_window(base: P, window_bits: u32) -> Self {
        let windows = 256_u32.div_ceil(window_bits) as usize;
        let mut bases = vec![base];
        while bases.len() < windows {
            let mut next = bases.last().copied().into_iter().collect::<Vec<P>>();
            for _bit in 0..window_bits {
                double_all(&mut next);
            }
            bases.append(&mut next);
        }
        let tables = bases
            .into_par_iter()
            .map(|base| multiples_of(base, 1 << (window_bits - 1)))
            .collect();
        Self {
            window_bits,
            tables,
        }
    }

    /// The tables, one a window.
    #[cfg(feature = "cuda")]
    pub(crate) fn tables(&self) -> &[Vec<P>] {
        &self.tables
    }

    /// The multiples of the base by `scalars`, in their order; the identity for zero.
    pub(crate) fn multiples(&self, scalars: &[Scalar]) -> Vec<P> {
        let mut points = vec![P::identity(); scalars.len()];
        points
            .par_chunks_mut(BATCH)
            .zip(scalars.par_chunks(BATCH))
            .for_each(|(sums, scalars)| self.batch(sums, scalars));
        points
    }

    /// One batch: window by window, so that a table is in the cache for all of it.
    fn batch(&self, sums: &mut [P], scalars: &[Scalar]) {
        let mut digits = Digits::new(scalars, self.window_bits);
        let mut addends = vec![None; scalars.len()];
        let mut scratch = Vec::with_capacity(scalars.len());
        for table in &self.tables {
            for (addend, digit) in addends.iter_mut().zip(digits.next_window()) {
                let entry = digit.unsigned_abs().checked_sub(1);
                *addend = entry
                    .and_then(|index| table.get(index as usize))
                    .map(|point| if digit < 0 { point.negated() } else { *point });
            }
            add_all(sums, &addends, &mut scratch);
        }
    }
}

/// Signed digits of a batch of scalars, window by window from the lowest.
struct Digits {
    bits: u32,
    at: u32,
    scalars: Vec<[u8; 32]>,
    carries: Vec<i32>,
}

impl Digits {
    fn new(scalars: &[Scalar], bits: u32) -> Self {
        Self {
            bits,
            at: 0,
            scalars: scalars.iter().map(ff::PrimeField::to_repr).collect(),
            carries: vec![0; scalars.len()],
        }
    }

    /// The next digit of each scalar, in −2^(c−1)..=2^(c−1). A scalar has 255 bits and the windows
    /// 256 at least, so that the last carry is always taken up.
    fn next_window(&mut self) -> impl Iterator<Item = i32> {
        let (at, bits) = (self.at, self.bits);
        self.at += bits;
        self.scalars
            .iter()
            .zip(&mut self.carries)
            .map(move |(scalar, carry)| {
                let digit = field_bits(scalar, at, bits) + *carry;
                *carry = i32::from(digit > 1 << (bits - 1));
                digit - (*carry << bits)
            })
    }
}

/// `bits` bits of a little-endian number from bit `at` on; at most 24.
fn field_bits(number: &[u8; 32], at: u32, bits: u32) -> i32 {
    let first = (at / 8) as usize;
    let mut word = 0_u32;
    for (place, byte) in number.iter().skip(first).take(4).enumerate() {
        word |= u32::from(*byte) << (8 * place);
    }
    ((word >> (at % 8)) & ((1 << bits) - 1)).cast_signed()
}

/// The window that makes tables and multiples together cheapest: ⌈256/c⌉·(n + 2^(c−1)) additions.
fn window_bits(multiples: usize) -> u32 {
    (2..=16)
        .min_by_key(|bits| 256_u32.div_ceil(*bits) as usize * (multiples + (1 << (bits - 1))))
        .unwrap_or(2)
}

/// k·base for k in 1..=count, `count` a power of two: each round adds the highest multiple to all.
fn multiples_of<P: Affine>(base: P, count: usize) -> Vec<P> {
    let mut points = Vec::with_capacity(count);
    points.push(base);
    let mut scratch = Vec::new();
    while points.len() < count {
        let half = points.len();
        let highest = points.last().copied();
        points.extend_from_within(..);
        let addends = vec![highest; half];
        add_all(&mut points[half..], &addends, &mut scratch);
    }
    points
}

/// Doubles every point.
fn double_all<P: Affine>(points: &mut [P]) {
    let addends: Vec<Option<P>> = points.iter().copied().map(Some).collect();
    add_all(points, &addends, &mut Vec::new());
}

/// What one addition of a batch waits for.
pub(crate) struct Pending<C> {
    index: usize,
    /// Product of all denominators before this one.
    product: C,
    denominator: C,
    numerator: C,
}

/// Adds to each sum its addend, if it has one, with one inversion for all. Complete: doublings,
/// opposite points and identities are told apart.
fn add_all<P: Affine>(
    sums: &mut [P],
    addends: &[Option<P>],
    pending: &mut Vec<Pending<P::Coordinate>>,
) {
    pending.clear();
    let mut product = P::Coordinate::one();
    for (index, (sum, addend)) in sums.iter_mut().zip(addends).enumerate() {
        let Some(addend) = addend else { continue };
        let Some((numerator, denominator)) = slope(sum, addend) else {
            continue;
        };
        pending.push(Pending {
            index,
            product,
            denominator,
            numerator,
        });
        product = product.mul(&denominator);
    }
    let mut inverse = product.inverse();
    for step in pending.iter().rev() {
        let slope = step.numerator.mul(&inverse.mul(&step.product));
        inverse = inverse.mul(&step.denominator);
        if let (Some(sum), Some(Some(addend))) = (sums.get_mut(step.index), addends.get(step.index))
        {
            let ((x1, y1), (x2, _)) = (sum.coordinates(), addend.coordinates());
            let x = slope.square().sub(&x1).sub(&x2);
            let y = slope.mul(&x1.sub(&x)).sub(&y1);
            *sum = P::of(x, y);
        }
    }
}

/// Numerator and denominator of the slope of `sum` + `addend`. None where no slope is needed; the
/// sum is then in place.
fn slope<P: Affine>(sum: &mut P, addend: &P) -> Option<(P::Coordinate, P::Coordinate)> {
    let ((x1, y1), (x2, y2)) = (sum.coordinates(), addend.coordinates());
    let zero = P::Coordinate::default();
    if x1 == zero && y1 == zero {
        *sum = *addend;
        return None;
    }
    if x2 == zero && y2 == zero {
        return None;
    }
    if x1 != x2 {
        return Some((y2.sub(&y1), x2.sub(&x1)));
    }
    if y1 != y2 {
        *sum = P::identity();
        return None;
    }
    let square = x1.square();
    Some((square.add(&square).add(&square), y1.add(&y1)))
}

#[cfg(test)]
mod tests {
    use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
    use ff::Field as _;
    use group::prime::PrimeCurveAffine as _;
    use group::{Curve as _, Group as _};
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    /// Scalars at every edge of a window, and random ones.
    fn scalars(count: usize) -> Vec<Scalar> {
        let mut dice = ChaCha20Rng::from_seed([3; 32]);
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2)];
        for bit in [1, 7, 8, 63, 64, 128, 200, 254] {
            let power = Scalar::from(2).pow_vartime([bit]);
            scalars.extend([power, power - Scalar::ONE, power + Scalar::ONE, -power]);
        }
        scalars.extend((0..count).map(|_| Scalar::random(&mut dice)));
        scalars
    }

    #[test]
    fn multiples_are_those_of_the_group_at_every_window() {
        let base = (G1Projective::generator() * Scalar::from(5)).to_affine();
        let scalars = scalars(40);
        let expected: Vec<G1Affine> = scalars
            .iter()
            .map(|scalar| (base * scalar).to_affine())
            .collect();
        for multiples in [0, 10, 100, 1000, 10_000] {
            let table = FixedBase::new(base, multiples);
            assert_eq!(table.multiples(&scalars), expected, "{multiples}");
        }
    }

    #[test]
    fn multiples_in_g2_over_more_than_one_batch() {
        let base = G2Affine::generator();
        let scalars = scalars(BATCH);
        let points = FixedBase::new(base, scalars.len()).multiples(&scalars);
        assert_eq!(points.len(), scalars.len());
        for (point, scalar) in points.iter().zip(&scalars).step_by(61) {
            assert_eq!(*point, (G2Projective::from(base) * scalar).to_affine());
        }
    }

    #[test]
    fn addition_is_complete() {
        let p = G1Affine::generator();
        let q = (G1Projective::generator() * Scalar::from(2)).to_affine();
        let zero = G1Affine::default();
        let cases = [
            (p, Some(p), q),
            (p, Some(-p), zero),
            (zero, Some(p), p),
            (p, Some(zero), p),
            (zero, Some(zero), zero),
            (p, None, p),
            (q, Some(-p), p),
        ];
        let mut sums: Vec<G1Affine> = cases.iter().map(|case| case.0).collect();
        let addends: Vec<Option<G1Affine>> = cases.iter().map(|case| case.1).collect();
        add_all(&mut sums, &addends, &mut Vec::new());
        assert_eq!(sums, cases.map(|case| case.2));
    }

    #[test]
    fn a_window_grows_with_the_work() {
        let windows = [0, 100, 10_000, 1 << 20].map(window_bits);
        assert!(
            windows.is_sorted() && windows[0] < windows[3],
            "{windows:?}"
        );
    }
}

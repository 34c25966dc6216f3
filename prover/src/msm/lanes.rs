//! What a field must do for eight points to be added at once: one trait, three fields (blst's
//! assembly one lane after the other, AVX-512 all eight together, and Fp2 over either).

use blst::{blst_fp, blst_fp2};

/// Points that are added together.
pub(super) const WIDTH: usize = 8;

/// A computation that a field runs with its instructions switched on.
pub(super) trait Work {
    type Output;

    /// Must be inlined into the function that switches the instructions on.
    fn run(self) -> Self::Output;
}

/// Eight elements of a field, by lane.
///
/// Two forms: *reduced*, what `mul`, `square`, `sub` and the loads give, and *loose*, what `diff`
/// and `double` give. `mul` and `square` take both; everything else takes reduced elements.
pub(super) trait Lanes: Copy + Send + Sync {
    /// An element as the bases hold it.
    type Raw: Copy + Send + Sync + 'static;
    /// An element at rest between two rounds.
    type Kept: Copy + Send + Sync + Default;

    /// Runs `work` with the instructions of this field switched on.
    fn within<W: Work>(work: W) -> W::Output;

    fn one() -> Self;
    fn load_raw(lanes: [&Self::Raw; WIDTH]) -> Self;
    fn load(lanes: [&Self::Kept; WIDTH]) -> Self;
    fn store(&self) -> [Self::Kept; WIDTH];
    /// One element at rest, in the form of the bases.
    fn raw(kept: &Self::Kept) -> Self::Raw;

    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;
    fn sub(&self, other: &Self) -> Self;
    /// `self − other`, loose.
    fn diff(&self, other: &Self) -> Self;
    /// `self + other`, loose.
    fn sum(&self, other: &Self) -> Self;
    /// `self − a − b`.
    fn sub_two(&self, a: &Self, b: &Self) -> Self;
    /// Negated where the bit of the lane is set, below 2p; blank lanes must not be negated, and
    /// stay blank.
    fn negate_where(&self, lanes: u8) -> Self;
    /// `other` where the bit of the lane is set.
    fn select(&self, lanes: u8, other: &Self) -> Self;
    /// 1 / self; no lane may be zero.
    fn invert(&self) -> Self;

    /// The lanes that are zero in the field; for loose elements.
    fn zero_lanes(&self) -> u8;
    /// The lanes that hold the zero of infinity bit for bit: stored as zero, never computed.
    fn blank_lanes(&self) -> u8;
}

/// Fp2 = Fp\[u\]/(u² + 1) over eight lanes of Fp.
#[derive(Clone, Copy)]
pub(super) struct Quadratic<L>(L, L);

impl<L> Lanes for Quadratic<L>
where
    L: Lanes<Raw = blst_fp>,
{
    type Raw = blst_fp2;
    type Kept = [L::Kept; 2];

    #[inline(always)]
    fn within<W: Work>(work: W) -> W::Output {
        L::within(work)
    }

    #[inline(always)]
    fn one() -> Self {
        let one = L::one();
        Self(one, one.sub(&one))
    }

    #[inline(always)]
    fn load_raw(lanes: [&blst_fp2; WIDTH]) -> Self {
        Self(
            L::load_raw(lanes.map(|lane| &lane.fp[0])),
            L::load_raw(lanes.map(|lane| &lane.fp[1])),
        )
    }

    #[inline(always)]
    fn load(lanes: [&Self::Kept; WIDTH]) -> Self {
        Self(
            L::load(lanes.map(|lane| &lane[0])),
            L::load(lanes.map(|lane| &lane[1])),
        )
    }

    #[inline(always)]
    fn store(&self) -> [Self::Kept; WIDTH] {
        let (real, imaginary) = (self.0.store(), self.1.store());
        std::array::from_fn(|lane| [real[lane], imaginary[lane]])
    }

    fn raw(kept: &Self::Kept) -> blst_fp2 {
        blst_fp2 {
            fp: [L::raw(&kept[0]), L::raw(&kept[1])],
        }
    }

    /// Karatsuba: three multiplications.
    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        let low = self.0.mul(&other.0);
        let high = self.1.mul(&other.1);
        let cross = self.0.sum(&self.1).mul(&other.0.sum(&other.1));
        Self(low.sub(&high), cross.sub_two(&low, &high))
    }

    /// (a + b)(a − b) + 2ab·u: two multiplications.
    #[inline(always)]
    fn square(&self) -> Self {
        let real = self.0.sum(&self.1).mul(&self.0.diff(&self.1));
        Self(real, self.0.sum(&self.0).mul(&self.1))
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        Self(self.0.sub(&other.0), self.1.sub(&other.1))
    }

    #[inline(always)]
    fn diff(&self, other: &Self) -> Self {
        Self(self.0.diff(&other.0), self.1.diff(&other.1))
    }

    #[inline(always)]
    fn sum(&self, other: &Self) -> Self {
        Self(self.0.sum(&other.0), self.1.sum(&other.1))
    }

    #[inline(always)]
    fn sub_two(&self, a: &Self, b: &Self) -> Self {
        Self(self.0.sub_two(&a.0, &b.0), self.1.sub_two(&a.1, &b.1))
    }

    #[inline(always)]
    fn negate_where(&self, lanes: u8) -> Self {
        Self(self.0.negate_where(lanes), self.1.negate_where(lanes))
    }

    #[inline(always)]
    fn select(&self, lanes: u8, other: &Self) -> Self {
        Self(
            self.0.select(lanes, &other.0),
            self.1.select(lanes, &other.1),
        )
    }

    #[inline(always)]
    fn invert(&self) -> Self {
        let zero = self.0.diff(&self.0);
        let norm = self.0.square().sum(&self.1.square());
        let inverse = norm.mul(&L::one()).invert();
        Self(self.0.mul(&inverse), zero.diff(&self.1).mul(&inverse))
    }

    #[inline(always)]
    fn zero_lanes(&self) -> u8 {
        match self.0.zero_lanes() {
            0 => 0,
            lanes => lanes & self.1.zero_lanes(),
        }
    }

    #[inline(always)]
    fn blank_lanes(&self) -> u8 {
        match self.0.blank_lanes() {
            0 => 0,
            lanes => lanes & self.1.blank_lanes(),
        }
    }
}

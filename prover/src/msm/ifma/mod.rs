//! Fp in eight lanes by AVX-512 IFMA: eight Montgomery products for the price of 264
//! instructions of 52 by 52 bits.
//!
//! An element is eight limbs of 52 bits, Montgomery with R = 2^416. That leaves 35 bits of room
//! over p, so a product needs no final subtraction whatever the factors are below 2^16·p: it comes
//! out below p + p/2^30. Method: Gueron and Krasnov, "Accelerating Big Integer Arithmetic Using
//! Intel IFMA Extensions", ARITH 2016.
#![expect(
    unsafe_code,
    reason = "calling instructions that the processor was asked for"
)]

use super::field;
use super::lanes::{Lanes, WIDTH, Work};
use blst::blst_fp;
use limbs::{INVERSE_SCALE, LEAVE_SCALE, LIMBS, ONE, limbs, words};
use std::arch::x86_64::__m512i;

mod limbs;
mod wide;

/// Whether this processor has the instructions.
pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")
}

/// Eight elements of Fp, limb by limb.
///
/// One is only made after [`available`] said yes: that is what every call in here rests on.
#[derive(Clone, Copy)]
pub(super) struct Ifma([__m512i; LIMBS]);

/// An element at rest: its limbs, one cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Kept([u64; LIMBS]);

impl Ifma {
    fn elements(&self) -> [blst_fp; WIDTH] {
        self.store().map(|kept| blst_fp {
            l: field::reduce_once(words(kept.0)),
        })
    }
}

impl Lanes for Ifma {
    type Raw = blst_fp;
    type Kept = Kept;

    fn raw(kept: &Kept) -> blst_fp {
        let element = blst_fp {
            l: field::reduce_once(words(kept.0)),
        };
        field::mul(&element, &LEAVE_SCALE)
    }

    #[inline(never)]
    fn invert(&self) -> Self {
        let inverses = field::invert_all(&self.elements());
        let scaled = inverses.map(|inverse| Kept(limbs(field::mul(&inverse, &INVERSE_SCALE).l)));
        Self::load(scaled.each_ref())
    }

    #[inline(always)]
    fn within<W: Work>(work: W) -> W::Output {
        // SAFETY: a caller has seen that the instructions are `available`.
        unsafe { wide::run(work) }
    }

    #[inline(always)]
    fn one() -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::constant(&ONE) })
    }

    #[inline(always)]
    fn load_raw(lanes: [&blst_fp; WIDTH]) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::load_raw(lanes) })
    }

    #[inline(always)]
    fn load(lanes: [&Kept; WIDTH]) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::load(lanes) })
    }

    #[inline(always)]
    fn store(&self) -> [Kept; WIDTH] {
        // SAFETY: a caller has seen that the instructions are `available`.
        unsafe { wide::store(&self.0) }
    }

    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::mul(&self.0, &other.0) })
    }

    #[inline(always)]
    fn square(&self) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::mul(&self.0, &self.0) })
    }

    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::sub(&self.0, &other.0) })
    }

    #[inline(always)]
    fn diff(&self, other: &Self) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::diff(&self.0, &other.0) })
    }

    #[inline(always)]
    fn sum(&self, other: &Self) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::sum(&self.0, &other.0) })
    }

    #[inline(always)]
    fn sub_two(&self, a: &Self, b: &Self) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::sub_two(&self.0, &a.0, &b.0) })
    }

    #[inline(always)]
    fn negate_where(&self, lanes: u8) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::negate_where(&self.0, lanes) })
    }

    #[inline(always)]
    fn select(&self, lanes: u8, other: &Self) -> Self {
        // SAFETY: a caller has seen that the instructions are `available`.
        Self(unsafe { wide::select(&self.0, lanes, &other.0) })
    }

    #[inline(always)]
    fn zero_lanes(&self) -> u8 {
        // SAFETY: a caller has seen that the instructions are `available`.
        unsafe { wide::zero_lanes(&self.0) }
    }

    #[inline(always)]
    fn blank_lanes(&self) -> u8 {
        // SAFETY: a caller has seen that the instructions are `available`.
        unsafe { wide::blank_lanes(&self.0) }
    }
}

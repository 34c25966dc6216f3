//! Fp by blst's assembly, and the arithmetic of single elements that the other lanes lean on.
//!
//! The only calls into blst's C interface are here; each takes pointers to three values that live
//! on, and blst keeps none of them.
#![expect(unsafe_code, reason = "blst's field arithmetic has no safe interface")]

use super::lanes::{Lanes, WIDTH, Work};
use blst::blst_fp;

/// 2^384 mod p: one, in blst's Montgomery form.
const ONE: blst_fp = blst_fp {
    l: power_of_two(384),
};
const ZERO: blst_fp = blst_fp { l: [0; 6] };
/// p, least significant word first.
pub(super) const MODULUS: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// 2^`exponent` mod p.
pub(super) const fn power_of_two(exponent: usize) -> [u64; 6] {
    let mut power = [1, 0, 0, 0, 0, 0];
    let mut done = 0;
    while done < exponent {
        // p has 381 bits, so twice a reduced number still fits 384.
        let mut doubled = [0; 6];
        let mut carry = 0;
        let mut word = 0;
        while word < 6 {
            doubled[word] = (power[word] << 1) | carry;
            carry = power[word] >> 63;
            word += 1;
        }
        power = reduce_once(doubled);
        done += 1;
    }
    power
}

/// `value` or `value` − p, whichever is in 0 to p − 1, for a value below 2p.
pub(super) const fn reduce_once(value: [u64; 6]) -> [u64; 6] {
    let mut less = [0; 6];
    let mut borrow = false;
    let mut word = 0;
    while word < 6 {
        let (difference, first) = value[word].overflowing_sub(MODULUS[word]);
        let (difference, second) = difference.overflowing_sub(borrow as u64);
        less[word] = difference;
        borrow = first || second;
        word += 1;
    }
    if borrow { value } else { less }
}

pub(super) fn mul(a: &blst_fp, b: &blst_fp) -> blst_fp {
    let mut out = ZERO;
    // SAFETY: three valid pointers, read and written during the call only.
    unsafe { blst::blst_fp_mul(&raw mut out, a, b) };
    out
}

fn square(a: &blst_fp) -> blst_fp {
    let mut out = ZERO;
    // SAFETY: two valid pointers, read and written during the call only.
    unsafe { blst::blst_fp_sqr(&raw mut out, a) };
    out
}

fn add(a: &blst_fp, b: &blst_fp) -> blst_fp {
    let mut out = ZERO;
    // SAFETY: three valid pointers, read and written during the call only.
    unsafe { blst::blst_fp_add(&raw mut out, a, b) };
    out
}

fn sub(a: &blst_fp, b: &blst_fp) -> blst_fp {
    let mut out = ZERO;
    // SAFETY: three valid pointers, read and written during the call only.
    unsafe { blst::blst_fp_sub(&raw mut out, a, b) };
    out
}

fn inverse(a: &blst_fp) -> blst_fp {
    let mut out = ZERO;
    // SAFETY: two valid pointers, read and written during the call only.
    unsafe { blst::blst_fp_eucl_inverse(&raw mut out, a) };
    out
}

/// Asks the memory for a value that will be read soon.
#[inline(always)]
pub(super) fn prefetch<T>(value: &T) {
    const LINE: usize = 64;
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>().div_ceil(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value)
            .cast::<i8>()
            .wrapping_add(line * LINE);
        // SAFETY: a hint: it reads nothing and faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start) };
    }
}

/// The inverses of eight elements, none zero, by one inversion and 21 multiplications
/// (P. Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", 1987).
pub(super) fn invert_all(values: &[blst_fp; WIDTH]) -> [blst_fp; WIDTH] {
    let mut products = *values;
    for lane in 1..WIDTH {
        products[lane] = mul(&products[lane - 1], &values[lane]);
    }
    let mut rest = inverse(&products[WIDTH - 1]);
    let mut out = *values;
    for lane in (1..WIDTH).rev() {
        out[lane] = mul(&rest, &products[lane - 1]);
        rest = mul(&rest, &values[lane]);
    }
    out[0] = rest;
    out
}

/// Eight elements, each worked on by blst in its turn.
#[derive(Clone, Copy)]
pub(super) struct Assembly([blst_fp; WIDTH]);

impl Assembly {
    fn each(&self, other: &Self, step: impl Fn(&blst_fp, &blst_fp) -> blst_fp) -> Self {
        Self(std::array::from_fn(|lane| {
            step(&self.0[lane], &other.0[lane])
        }))
    }

    fn lanes(&self, test: impl Fn(&blst_fp) -> bool) -> u8 {
        let bit = |lane: usize| u8::from(test(&self.0[lane])) << lane;
        (0..WIDTH).map(bit).fold(0, |lanes, bit| lanes | bit)
    }
}

impl Lanes for Assembly {
    type Raw = blst_fp;
    type Kept = blst_fp;

    fn within<W: Work>(work: W) -> W::Output {
        work.run()
    }

    fn one() -> Self {
        Self([ONE; WIDTH])
    }

    fn load_raw(lanes: [&blst_fp; WIDTH]) -> Self {
        Self(lanes.map(|lane| *lane))
    }

    fn load(lanes: [&blst_fp; WIDTH]) -> Self {
        Self(lanes.map(|lane| *lane))
    }

    fn store(&self) -> [blst_fp; WIDTH] {
        self.0
    }

    fn raw(kept: &blst_fp) -> blst_fp {
        *kept
    }

    fn mul(&self, other: &Self) -> Self {
        self.each(other, mul)
    }

    fn square(&self) -> Self {
        self.each(self, |a, _| square(a))
    }

    fn sub(&self, other: &Self) -> Self {
        self.each(other, sub)
    }

    fn diff(&self, other: &Self) -> Self {
        self.each(other, sub)
    }

    fn sum(&self, other: &Self) -> Self {
        self.each(other, add)
    }

    fn sub_two(&self, a: &Self, b: &Self) -> Self {
        self.sub(a).sub(b)
    }

    fn negate_where(&self, lanes: u8) -> Self {
        self.select(lanes, &Self([ZERO; WIDTH]).sub(self))
    }

    fn select(&self, lanes: u8, other: &Self) -> Self {
        let pick = |lane: usize| {
            if (lanes >> lane) & 1 == 1 {
                other.0[lane]
            } else {
                self.0[lane]
            }
        };
        Self(std::array::from_fn(pick))
    }

    fn invert(&self) -> Self {
        Self(invert_all(&self.0))
    }

    fn zero_lanes(&self) -> u8 {
        self.lanes(|element| *element == ZERO)
    }

    fn blank_lanes(&self) -> u8 {
        self.zero_lanes()
    }
}

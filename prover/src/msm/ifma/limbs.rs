//! The modulus and its relatives in limbs of 52 bits, and the way between limbs and words.

use super::super::field::{self, MODULUS};
use crate::wide::MASK;
use blst::blst_fp;

pub(super) const LIMBS: usize = 8;
/// p in limbs of 52 bits.
pub(super) const P: [u64; LIMBS] = limbs(MODULUS);
/// The top limb of p, p / 2^364 rounded down.
pub(super) const P_TOP: u64 = P[7];
/// −1/p mod 2^52.
pub(super) const P_INVERSE: u64 = negated_inverse(P[0]);
/// 2^416 mod p: one.
pub(super) const ONE: [u64; LIMBS] = limbs(field::power_of_two(416));
/// 2^416 − p.
pub(super) const MINUS_P: [u64; LIMBS] = minus_p();
/// 2^67 / (p / 2^364), rounded down.
pub(super) const P_TOP_RECIPROCAL: u64 = top_reciprocal();
/// (4 − k)·p for k of 0 to 7, limb by limb, negative limbs in two's complement.
pub(super) const MULTIPLES: [[u64; 8]; LIMBS] = multiples();
/// Turns the inverse of x·2^32 into that of x, times 2^32: 2^64 in blst's form.
pub(super) const INVERSE_SCALE: blst_fp = blst_fp {
    l: field::power_of_two(384 + 64),
};
/// Turns the integer x·2^416 into x·2^384 by a Montgomery product over 2^384.
pub(super) const LEAVE_SCALE: blst_fp = blst_fp {
    l: [0, 0, 0, 0, 0, 1 << 32],
};

pub(super) const fn limbs(words: [u64; 6]) -> [u64; LIMBS] {
    let mut out = [0; LIMBS];
    let mut at = 0;
    while at < LIMBS {
        let (word, bit) = (at * 52 / 64, at * 52 % 64);
        let mut limb = words[word] >> bit;
        if bit > 12 && word < 5 {
            limb |= words[word + 1] << (64 - bit);
        }
        out[at] = limb & MASK;
        at += 1;
    }
    out
}

pub(super) const fn words(limbs: [u64; LIMBS]) -> [u64; 6] {
    let mut out = [0; 6];
    let mut at = 0;
    while at < LIMBS {
        let (word, bit) = (at * 52 / 64, at * 52 % 64);
        out[word] |= limbs[at] << bit;
        if bit > 12 && word < 5 {
            out[word + 1] |= limbs[at] >> (64 - bit);
        }
        at += 1;
    }
    out
}

const fn negated_inverse(odd: u64) -> u64 {
    let mut inverse = 1_u64;
    let mut round = 0;
    while round < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse.wrapping_neg() & MASK
}

const fn minus_p() -> [u64; LIMBS] {
    let mut out = [0; LIMBS];
    let mut borrow = 0;
    let mut at = 0;
    while at < LIMBS {
        let limb = (1 << 52) - P[at] - borrow;
        out[at] = limb & MASK;
        borrow = 1 - (limb >> 52);
        at += 1;
    }
    out
}

#[expect(clippy::cast_possible_truncation, reason = "a quotient below 2^51")]
const fn top_reciprocal() -> u64 {
    // p / 2^332 in 49 bits, rounded up, so that the quotient is never too large.
    let high = (MODULUS[5] as u128) + 1;
    // p ≈ high·2^320, so 2^67·2^364 / p ≈ 2^111 / high.
    ((1_u128 << 111) / high) as u64
}

const fn multiples() -> [[u64; 8]; LIMBS] {
    let mut out = [[0; 8]; LIMBS];
    let mut limb = 0;
    while limb < LIMBS {
        let mut k = 0;
        while k < 8 {
            out[limb][k] = P[limb].wrapping_mul(4_u64.wrapping_sub(k as u64));
            k += 1;
        }
        limb += 1;
    }
    out
}

//! Numbers in limbs of 52 bits, eight side by side, by AVX-512 IFMA: what the two fields share.
//!
//! Every function here is compiled with the instructions switched on and may be called only where
//! the processor has them. The bounds under which a sum or a product is right are those of the
//! field that calls. Method of the product: Gueron and Krasnov, "Accelerating Big Integer
//! Arithmetic Using Intel IFMA Extensions", ARITH 2016.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_or_si512, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srai_epi64,
    _mm512_srli_epi64,
};

/// The bits of a limb.
pub(crate) const MASK: u64 = (1 << 52) - 1;

/// A word in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn every(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}

/// A number in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn constant<const LIMBS: usize>(limbs: &[u64; LIMBS]) -> [__m512i; LIMBS] {
    let mut out = [_mm512_setzero_si512(); LIMBS];
    for (out, limb) in out.iter_mut().zip(limbs) {
        *out = every(*limb);
    }
    out
}

/// Limbs of 52 bits again; the top one keeps what is over, and the sign.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn carry<const LIMBS: usize>(mut limbs: [__m512i; LIMBS]) -> [__m512i; LIMBS] {
    let mask = every(MASK);
    for at in 0..LIMBS - 1 {
        let over = _mm512_srai_epi64::<52>(limbs[at]);
        limbs[at + 1] = _mm512_add_epi64(limbs[at + 1], over);
        limbs[at] = _mm512_and_si512(limbs[at], mask);
    }
    limbs
}

/// a + b, limbs not carried.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn add<const LIMBS: usize>(
    a: &[__m512i; LIMBS],
    b: &[__m512i; LIMBS],
) -> [__m512i; LIMBS] {
    let mut out = *a;
    for at in 0..LIMBS {
        out[at] = _mm512_add_epi64(a[at], b[at]);
    }
    out
}

/// a·b / 2^(52·LIMBS) modulo `modulus`, not brought below it; `negated_inverse` is −1/modulus
/// mod 2^52.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn product<const LIMBS: usize>(
    a: &[__m512i; LIMBS],
    b: &[__m512i; LIMBS],
    modulus: &[u64; LIMBS],
    negated_inverse: u64,
) -> [__m512i; LIMBS] {
    let zero = _mm512_setzero_si512();
    let mut t = [zero; LIMBS];
    for b in b {
        for at in 0..LIMBS {
            t[at] = _mm512_madd52lo_epu64(t[at], a[at], *b);
        }
        let m = _mm512_madd52lo_epu64(zero, t[0], every(negated_inverse));
        for at in 0..LIMBS {
            t[at] = _mm512_madd52lo_epu64(t[at], m, every(modulus[at]));
        }
        t[1] = _mm512_add_epi64(t[1], _mm512_srli_epi64::<52>(t[0]));
        for at in 0..LIMBS {
            let next = if at + 1 < LIMBS { t[at + 1] } else { zero };
            let high = _mm512_madd52hi_epu64(next, a[at], *b);
            t[at] = _mm512_madd52hi_epu64(high, m, every(modulus[at]));
        }
    }
    carry(t)
}

/// Bits that lie in two words.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn across<const DOWN: u32, const UP: u32>(low: __m512i, high: __m512i) -> __m512i {
    _mm512_or_si512(
        _mm512_srli_epi64::<DOWN>(low),
        _mm512_slli_epi64::<UP>(high),
    )
}

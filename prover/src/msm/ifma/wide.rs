//! The arithmetic on limbs; every function here is compiled with the instructions switched on, and
//! may be called only where the processor has them.
#![expect(unsafe_code, reason = "loads and stores of vectors by address")]

use super::super::lanes::{WIDTH, Work};
use super::Kept;
use super::limbs::{LIMBS, MINUS_P, MULTIPLES, P, P_INVERSE, P_TOP, P_TOP_RECIPROCAL};
pub(super) use crate::wide::constant;
use crate::wide::{MASK, across, add, carry, every, product};
use blst::blst_fp;
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_load_epi64,
    _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_blend_epi64, _mm512_mask_sub_epi64,
    _mm512_maskz_loadu_epi64, _mm512_permutex2var_epi64, _mm512_permutexvar_epi64,
    _mm512_setr_epi64, _mm512_setzero_si512, _mm512_shuffle_i64x2, _mm512_slli_epi64,
    _mm512_srli_epi64, _mm512_store_epi64, _mm512_sub_epi64, _mm512_testn_epi64_mask,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

type Limbs = [__m512i; LIMBS];

/// A value between −3.9p and 3.9p in carried limbs, brought to 0 to p + p/2^11.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn reduce(limbs: Limbs) -> Limbs {
    // k = (value + 4p)/p rounded down, or one less: from the top limb, p's rounded up.
    const RECIPROCAL: u64 = (1 << 52) / (P_TOP + 1);
    let raised = _mm512_add_epi64(limbs[7], every(4 * P_TOP - 8));
    let k = _mm512_madd52hi_epu64(_mm512_setzero_si512(), raised, every(RECIPROCAL));
    let mut out = limbs;
    for (out, row) in out.iter_mut().zip(&MULTIPLES) {
        let row = row.map(u64::cast_signed);
        let table = _mm512_setr_epi64(
            row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7],
        );
        *out = _mm512_add_epi64(*out, _mm512_permutexvar_epi64(k, table));
    }
    carry(out)
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn mul(a: &Limbs, b: &Limbs) -> Limbs {
    product(a, b, &P, P_INVERSE)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn sub(a: &Limbs, b: &Limbs) -> Limbs {
    let mut out = *a;
    for at in 0..LIMBS {
        out[at] = _mm512_sub_epi64(a[at], b[at]);
    }
    reduce(carry(out))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn sub_two(a: &Limbs, b: &Limbs, c: &Limbs) -> Limbs {
    let mut out = *a;
    for at in 0..LIMBS {
        out[at] = _mm512_sub_epi64(a[at], _mm512_add_epi64(b[at], c[at]));
    }
    reduce(carry(out))
}

/// a − b + 2p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn diff(a: &Limbs, b: &Limbs) -> Limbs {
    let mut out = *a;
    for at in 0..LIMBS {
        let raised = _mm512_add_epi64(a[at], every(2 * P[at]));
        out[at] = _mm512_sub_epi64(raised, b[at]);
    }
    carry(out)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn sum(a: &Limbs, b: &Limbs) -> Limbs {
    carry(add(a, b))
}

/// 2p − a: up to 2p, which every use of an ordinate has room for; blank lanes stay blank.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn negate_where(a: &Limbs, lanes: u8) -> Limbs {
    let mut out = *a;
    for at in 0..LIMBS {
        out[at] = _mm512_mask_sub_epi64(a[at], lanes, every(2 * P[at]), a[at]);
    }
    carry(out)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn select(a: &Limbs, lanes: u8, b: &Limbs) -> Limbs {
    let mut out = *a;
    for at in 0..LIMBS {
        out[at] = _mm512_mask_blend_epi64(lanes, a[at], b[at]);
    }
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn blank_lanes(a: &Limbs) -> u8 {
    let mut lanes = _mm512_testn_epi64_mask(a[0], a[0]);
    if lanes != 0 {
        for limb in &a[1..] {
            lanes &= _mm512_testn_epi64_mask(*limb, *limb);
        }
    }
    lanes
}

/// The lanes that are a multiple of p up to 7p.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn zero_lanes(a: &Limbs) -> u8 {
    let mut lanes = 0;
    for k in 0..5 {
        lanes |= _mm512_cmpeq_epi64_mask(a[0], every((P[0] * k) & MASK));
    }
    if lanes == 0 {
        0
    } else {
        lanes & exact_zero_lanes(a)
    }
}

#[cold]
#[target_feature(enable = "avx512f,avx512ifma")]
fn exact_zero_lanes(a: &Limbs) -> u8 {
    let mut zeros = 0;
    for k in 0..8 {
        let multiple = carry(constant(&P.map(|limb| limb * k)));
        let mut lanes = u8::MAX;
        for at in 0..LIMBS {
            lanes &= _mm512_cmpeq_epi64_mask(a[at], multiple[at]);
        }
        zeros |= lanes;
    }
    zeros
}

/// Eight rows of eight words, turned: word i of row j becomes lane j of vector i.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn turn(rows: Limbs) -> Limbs {
    let mut pairs = rows;
    for at in 0..4 {
        pairs[2 * at] = _mm512_unpacklo_epi64(rows[2 * at], rows[2 * at + 1]);
        pairs[2 * at + 1] = _mm512_unpackhi_epi64(rows[2 * at], rows[2 * at + 1]);
    }
    let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    let mut fours = rows;
    for half in 0..2 {
        for parity in 0..2 {
            let (a, b) = (pairs[4 * half + parity], pairs[4 * half + 2 + parity]);
            fours[4 * half + parity] = _mm512_permutex2var_epi64(a, low, b);
            fours[4 * half + 2 + parity] = _mm512_permutex2var_epi64(a, high, b);
        }
    }
    let mut out = rows;
    for at in 0..4 {
        out[at] = _mm512_shuffle_i64x2::<0b01_00_01_00>(fours[at], fours[4 + at]);
        out[4 + at] = _mm512_shuffle_i64x2::<0b11_10_11_10>(fours[at], fours[4 + at]);
    }
    out
}

/// The six words of an element of a base, and two zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn load_words(words: &[u64; 6]) -> __m512i {
    // SAFETY: the mask reads the first six words, which `words` has.
    unsafe { _mm512_maskz_loadu_epi64(0x3f, words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn load_kept(kept: &Kept) -> __m512i {
    // SAFETY: eight words, aligned to 64 bytes by their type.
    unsafe { _mm512_load_epi64(kept.0.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn store_kept(row: __m512i) -> Kept {
    let mut kept = Kept::default();
    // SAFETY: eight words, aligned to 64 bytes by their type.
    unsafe { _mm512_store_epi64(kept.0.as_mut_ptr().cast(), row) };
    kept
}

/// From words x·2^384 below p to limbs of x·2^416: shifted by 32 bits, then brought below
/// p + p/2^15 with one quotient.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn enter(words: &Limbs) -> Limbs {
    let mask = every(MASK);
    let mut t = [
        _mm512_slli_epi64::<32>(words[0]),
        across::<20, 44>(words[0], words[1]),
        _mm512_srli_epi64::<8>(words[1]),
        across::<60, 4>(words[1], words[2]),
        across::<48, 16>(words[2], words[3]),
        across::<36, 28>(words[3], words[4]),
        across::<24, 40>(words[4], words[5]),
        _mm512_srli_epi64::<12>(words[5]),
    ];
    for limb in &mut t {
        *limb = _mm512_and_si512(*limb, mask);
    }
    let high = _mm512_madd52hi_epu64(_mm512_setzero_si512(), t[7], every(P_TOP_RECIPROCAL));
    let q = _mm512_srli_epi64::<15>(high);
    for at in 0..LIMBS {
        t[at] = _mm512_madd52lo_epu64(t[at], q, every(MINUS_P[at]));
    }
    for at in 0..LIMBS - 1 {
        t[at + 1] = _mm512_madd52hi_epu64(t[at + 1], q, every(MINUS_P[at]));
    }
    let mut out = carry(t);
    out[7] = _mm512_and_si512(out[7], mask);
    out
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn load_raw(lanes: [&blst_fp; WIDTH]) -> Limbs {
    let mut rows = [_mm512_setzero_si512(); WIDTH];
    for (row, lane) in rows.iter_mut().zip(lanes) {
        *row = load_words(&lane.l);
    }
    enter(&turn(rows))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn load(lanes: [&Kept; WIDTH]) -> Limbs {
    let mut rows = [_mm512_setzero_si512(); WIDTH];
    for (row, lane) in rows.iter_mut().zip(lanes) {
        *row = load_kept(lane);
    }
    turn(rows)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn store(limbs: &Limbs) -> [Kept; WIDTH] {
    let rows = turn(*limbs);
    let mut out = [Kept::default(); WIDTH];
    for (out, row) in out.iter_mut().zip(rows) {
        *out = store_kept(row);
    }
    out
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    work.run()
}

//! The scalar field in eight lanes by AVX-512 IFMA, and the butterflies of a transform over it.
//!
//! In memory a value is as blst has it, x·2^256 mod r; in registers it is five limbs of 52 bits.
//! Products are Montgomery with R = 2^260, and the roots are kept times 2^260, so that a value
//! stays what it was. Method of the product: Gueron and Krasnov, "Accelerating Big Integer
//! Arithmetic Using Intel IFMA Extensions", ARITH 2016.
//!
//! Every function here is compiled with the instructions on; a [`Wide`] is the leave to call them.
#![expect(unsafe_code, reason = "loads and stores of eight scalars by address")]
#![expect(
    clippy::unused_self,
    reason = "`Wide` carries no data: having one is the point"
)]
#![expect(
    clippy::large_types_passed_by_value,
    reason = "five registers, in functions inlined"
)]

use super::roots::Roots;
use crate::wide::{MASK, across, add, carry, constant, every, product};
use blstrs::Scalar;
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_add_epi64, _mm512_and_si512,
    _mm512_castsi256_si512, _mm512_castsi512_si256, _mm512_cmplt_epi64_mask,
    _mm512_extracti64x4_epi64, _mm512_inserti64x4, _mm512_madd52hi_epu64, _mm512_mask_blend_epi64,
    _mm512_permutex2var_epi64, _mm512_permutexvar_epi64, _mm512_setr_epi64, _mm512_setzero_si512,
    _mm512_srli_epi64, _mm512_sub_epi64, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};

const LIMBS: usize = 5;
const LANES: usize = 8;
/// r, least significant word first.
const WORDS: [u64; 4] = [
    0xffff_ffff_0000_0001,
    0x53bd_a402_fffe_5bfe,
    0x3339_d808_09a1_d805,
    0x73ed_a753_299d_7d48,
];
/// r in limbs of 52 bits.
const R: [u64; LIMBS] = [
    WORDS[0] & MASK,
    ((WORDS[0] >> 52) | (WORDS[1] << 12)) & MASK,
    ((WORDS[1] >> 40) | (WORDS[2] << 24)) & MASK,
    ((WORDS[2] >> 28) | (WORDS[3] << 36)) & MASK,
    WORDS[3] >> 16,
];
/// −1/r mod 2^52.
const R_INVERSE: u64 = negated_inverse(R[0]);

type Limbs = [__m512i; LIMBS];

const fn negated_inverse(odd: u64) -> u64 {
    let mut inverse = 1_u64;
    let mut round = 0;
    while round < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse.wrapping_neg() & MASK
}

/// Says that this processor has the instructions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wide(());

impl Wide {
    pub(super) fn new() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma");
        has.then_some(Self(()))
    }

    /// What the roots and factors are kept times: 2^260 / 2^256.
    pub(super) const SCALE: u64 = 16;

    /// Two levels of the way forward over the quarters of a block, or a part of each.
    pub(super) fn forward_quarters(self, quarters: [&mut [Scalar]; 4], roots: [&Scalar; 3]) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { forward_quarters(quarters, roots) }
    }

    /// Two levels of the way back; the roots are negated inverses.
    pub(super) fn backward_quarters(self, quarters: [&mut [Scalar]; 4], roots: [&Scalar; 3]) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { backward_quarters(quarters, roots) }
    }

    /// One level of the way forward.
    pub(super) fn forward_halves(self, low: &mut [Scalar], high: &mut [Scalar], root: &Scalar) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { forward_halves(low, high, root) }
    }

    /// One level of the way back; the root is a negated inverse.
    pub(super) fn backward_halves(self, low: &mut [Scalar], high: &mut [Scalar], root: &Scalar) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { backward_halves(low, high, root) }
    }

    /// The last three levels forward over 64 values: eight blocks of eight, a lane each. `block`
    /// is the index of the first.
    pub(super) fn forward_blocks(self, values: &mut [Scalar; 64], block: usize, roots: &Roots) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { forward_blocks(values, block, roots) }
    }

    /// The first three levels of the way back over 64 values.
    pub(super) fn backward_blocks(self, values: &mut [Scalar; 64], block: usize, roots: &Roots) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { backward_blocks(values, block, roots) }
    }

    /// Multiplies eight neighbours by `first`, the next eight by that times `step`, and so on;
    /// both are kept times [`Wide::SCALE`]. Takes whole eights only.
    pub(super) fn scale(self, values: &mut [Scalar], first: &[Scalar; LANES], step: &Scalar) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { scale(values, first, step) }
    }

    /// `values[i]`·`others[i]` / [`Wide::SCALE`]. Takes whole eights only.
    pub(super) fn multiply(self, values: &mut [Scalar], others: &[Scalar]) {
        // SAFETY: `self` exists, so the processor has the instructions.
        unsafe { multiply(values, others) }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn low_pairs() -> __m512i {
    _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn high_pairs() -> __m512i {
    _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn row(scalar: &Scalar) -> __m256i {
    // SAFETY: a scalar is four words (`Scalar` is a transparent `blst_fr`), any alignment will do.
    unsafe { _mm256_loadu_si256(std::ptr::from_ref(scalar).cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn put(scalar: &mut Scalar, row: __m256i) {
    // SAFETY: as in `row`; what is written is below r, as a scalar must be.
    unsafe { _mm256_storeu_si256(std::ptr::from_mut(scalar).cast(), row) };
}

/// Eight scalars, by lane.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn load(lanes: [&Scalar; LANES]) -> Limbs {
    let mut rows = [_mm512_setzero_si512(); 4];
    for at in 0..4 {
        let low = _mm512_castsi256_si512(row(lanes[at]));
        rows[at] = _mm512_inserti64x4::<1>(low, row(lanes[at + 4]));
    }
    let even = [
        _mm512_unpacklo_epi64(rows[0], rows[1]),
        _mm512_unpacklo_epi64(rows[2], rows[3]),
    ];
    let odd = [
        _mm512_unpackhi_epi64(rows[0], rows[1]),
        _mm512_unpackhi_epi64(rows[2], rows[3]),
    ];
    let words = [
        _mm512_permutex2var_epi64(even[0], low_pairs(), even[1]),
        _mm512_permutex2var_epi64(odd[0], low_pairs(), odd[1]),
        _mm512_permutex2var_epi64(even[0], high_pairs(), even[1]),
        _mm512_permutex2var_epi64(odd[0], high_pairs(), odd[1]),
    ];
    let limbs = [
        words[0],
        across::<52, 12>(words[0], words[1]),
        across::<40, 24>(words[1], words[2]),
        across::<28, 36>(words[2], words[3]),
        _mm512_srli_epi64::<16>(words[3]),
    ];
    let mut out = limbs;
    for limb in &mut out {
        *limb = _mm512_and_si512(*limb, every(MASK));
    }
    out
}

/// Stores what [`canonical`] gives.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn store(limbs: &Limbs, lanes: [&mut Scalar; LANES]) {
    let words = [
        across::<0, 52>(limbs[0], limbs[1]),
        across::<12, 40>(limbs[1], limbs[2]),
        across::<24, 28>(limbs[2], limbs[3]),
        across::<36, 16>(limbs[3], limbs[4]),
    ];
    let even = [
        _mm512_permutex2var_epi64(words[0], low_pairs(), words[2]),
        _mm512_permutex2var_epi64(words[0], high_pairs(), words[2]),
    ];
    let odd = [
        _mm512_permutex2var_epi64(words[1], low_pairs(), words[3]),
        _mm512_permutex2var_epi64(words[1], high_pairs(), words[3]),
    ];
    let rows = [
        _mm512_unpacklo_epi64(even[0], odd[0]),
        _mm512_unpackhi_epi64(even[0], odd[0]),
        _mm512_unpacklo_epi64(even[1], odd[1]),
        _mm512_unpackhi_epi64(even[1], odd[1]),
    ];
    for (lane, scalar) in lanes.into_iter().enumerate() {
        let row = rows[lane % 4];
        let half = if lane < 4 {
            _mm512_castsi512_si256(row)
        } else {
            _mm512_extracti64x4_epi64::<1>(row)
        };
        put(scalar, half);
    }
}

/// One scalar in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn splat(scalar: &Scalar) -> Limbs {
    load([scalar; LANES])
}

/// a·b / 2^260, below 1.4r for factors whose product is below 12r².
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn mul(a: &Limbs, b: &Limbs) -> Limbs {
    product(a, b, &R, R_INVERSE)
}

/// a − b + `RAISE`·r, limbs not carried.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn sub<const RAISE: u64>(a: &Limbs, b: &Limbs) -> Limbs {
    let mut out = *a;
    for at in 0..LIMBS {
        let raised = _mm512_add_epi64(a[at], every(RAISE * R[at]));
        out[at] = _mm512_sub_epi64(raised, b[at]);
    }
    out
}

/// A value below 8r, brought below r exactly.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn canonical(limbs: Limbs) -> Limbs {
    // The quotient by r from the top limb, at most one too small: that limb is below 2^50, and
    // 2^52/(top limb of r + 1) has only six bits, hence the four more.
    const RECIPROCAL: u64 = (1 << 56) / (R[4] + 1);
    let limbs = carry(limbs);
    let product = _mm512_madd52hi_epu64(_mm512_setzero_si512(), limbs[4], every(RECIPROCAL));
    let quotient = _mm512_srli_epi64::<4>(product);
    let mut out = limbs;
    for at in 0..LIMBS {
        let r = R[at].cast_signed();
        let table = _mm512_setr_epi64(0, -r, -2 * r, -3 * r, -4 * r, -5 * r, -6 * r, -7 * r);
        out[at] = _mm512_add_epi64(out[at], _mm512_permutexvar_epi64(quotient, table));
    }
    let out = carry(out);
    let less = carry(sub::<0>(&out, &constant(&R)));
    let keep = _mm512_cmplt_epi64_mask(less[4], _mm512_setzero_si512());
    let mut chosen = out;
    for at in 0..LIMBS {
        chosen[at] = _mm512_mask_blend_epi64(keep, less[at], out[at]);
    }
    chosen
}

/// Eight neighbours.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn load_eight(values: &[Scalar; LANES]) -> Limbs {
    load(values.each_ref())
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn store_eight(values: &mut [Scalar; LANES], limbs: Limbs) {
    store(&canonical(limbs), values.each_mut());
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn forward_quarters(quarters: [&mut [Scalar]; 4], roots: [&Scalar; 3]) {
    let roots = [splat(roots[0]), splat(roots[1]), splat(roots[2])];
    let [a, b, c, d] = quarters.map(|quarter| quarter.as_chunks_mut::<LANES>().0);
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        let (first, second) = (load_eight(a), load_eight(b));
        let (third, fourth) = (
            mul(&load_eight(c), &roots[0]),
            mul(&load_eight(d), &roots[0]),
        );
        let even = mul(&carry(add(&second, &fourth)), &roots[1]);
        let odd = mul(&carry(sub::<2>(&second, &fourth)), &roots[2]);
        let (sum, rest) = (add(&first, &third), sub::<2>(&first, &third));
        store_eight(a, add(&sum, &even));
        store_eight(b, sub::<2>(&sum, &even));
        store_eight(c, add(&rest, &odd));
        store_eight(d, sub::<2>(&rest, &odd));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn backward_quarters(quarters: [&mut [Scalar]; 4], roots: [&Scalar; 3]) {
    let roots = [splat(roots[0]), splat(roots[1]), splat(roots[2])];
    let [a, b, c, d] = quarters.map(|quarter| quarter.as_chunks_mut::<LANES>().0);
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        let (first, second, third, fourth) =
            (load_eight(a), load_eight(b), load_eight(c), load_eight(d));
        let (even, odd) = (add(&first, &second), add(&third, &fourth));
        let less_even = mul(&carry(sub::<4>(&second, &first)), &roots[1]);
        let less_odd = mul(&carry(sub::<4>(&fourth, &third)), &roots[2]);
        store_eight(a, add(&even, &odd));
        store_eight(b, add(&less_even, &less_odd));
        store_eight(c, mul(&carry(sub::<4>(&odd, &even)), &roots[0]));
        store_eight(d, mul(&carry(sub::<4>(&less_odd, &less_even)), &roots[0]));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn forward_halves(low: &mut [Scalar], high: &mut [Scalar], root: &Scalar) {
    let root = splat(root);
    let (low, high) = (
        low.as_chunks_mut::<LANES>().0,
        high.as_chunks_mut::<LANES>().0,
    );
    for (low, high) in low.iter_mut().zip(high) {
        let (a, b) = (load_eight(low), mul(&load_eight(high), &root));
        store_eight(low, add(&a, &b));
        store_eight(high, sub::<2>(&a, &b));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn backward_halves(low: &mut [Scalar], high: &mut [Scalar], root: &Scalar) {
    let root = splat(root);
    let (low, high) = (
        low.as_chunks_mut::<LANES>().0,
        high.as_chunks_mut::<LANES>().0,
    );
    for (low, high) in low.iter_mut().zip(high) {
        let (a, b) = (load_eight(low), load_eight(high));
        store_eight(low, add(&a, &b));
        store_eight(high, mul(&carry(sub::<4>(&b, &a)), &root));
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn forward_blocks(values: &mut [Scalar; 64], block: usize, roots: &Roots) {
    let mut v = turned(values);
    for (half, step) in [(4, 1), (2, 2), (1, 4)] {
        for part in 0..step {
            let index = |lane: usize| roots.forward((block + lane) * step + part);
            let root = load(std::array::from_fn(index));
            for at in part * 2 * half..part * 2 * half + half {
                let (a, b) = (v[at], mul(&carry(v[at + half]), &root));
                v[at] = add(&a, &b);
                v[at + half] = sub::<2>(&a, &b);
            }
        }
    }
    turn_back(values, v);
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn backward_blocks(values: &mut [Scalar; 64], block: usize, roots: &Roots) {
    let mut v = turned(values);
    for (half, step) in [(1, 4), (2, 2), (4, 1)] {
        for part in 0..step {
            let index = |lane: usize| roots.backward((block + lane) * step + part);
            let root = load(std::array::from_fn(index));
            for at in part * 2 * half..part * 2 * half + half {
                let (a, b) = (v[at], v[at + half]);
                v[at] = add(&a, &b);
                v[at + half] = mul(&carry(sub::<4>(&b, &a)), &root);
            }
        }
    }
    turn_back(values, v);
}

/// Value 8·lane + i in lane of vector i.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn turned(values: &[Scalar; 64]) -> [Limbs; 8] {
    let mut v = [[_mm512_setzero_si512(); LIMBS]; 8];
    for (at, v) in v.iter_mut().enumerate() {
        *v = load(std::array::from_fn(|lane| &values[8 * lane + at]));
    }
    v
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn turn_back(values: &mut [Scalar; 64], v: [Limbs; 8]) {
    for (at, v) in v.into_iter().enumerate() {
        let mut column = [Scalar::default(); LANES];
        store(&canonical(v), column.each_mut());
        for (lane, scalar) in column.into_iter().enumerate() {
            values[8 * lane + at] = scalar;
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn scale(values: &mut [Scalar], first: &[Scalar; LANES], step: &Scalar) {
    let (mut factor, step) = (load_eight(first), splat(step));
    for values in values.as_chunks_mut::<LANES>().0 {
        store_eight(values, mul(&load_eight(values), &factor));
        factor = mul(&factor, &step);
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply(values: &mut [Scalar], others: &[Scalar]) {
    let eights = values.as_chunks_mut::<LANES>().0.iter_mut();
    for (values, others) in eights.zip(others.as_chunks::<LANES>().0) {
        store_eight(values, mul(&load_eight(values), &load_eight(others)));
    }
}

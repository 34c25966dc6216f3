// The base field Fp of BLS12-381, 381 bits in twelve limbs, Montgomery form with R = 2^384 (blst's
// form, so points cross the bus as they are). Values are lazy: every function takes and returns
// values in [0, 2p); p^2 / R = 0.1016 p keeps a product, and a sum of two products, below 2p
// without a final subtraction. Not here: inversion by anything but Fermat.
#pragma once
#include "limbs.cuh"

struct Fp {
    u32 v[12];
};

#define FP_P                                                                                     \
    {0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0,                     \
     0xf38512bf, 0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea}
#define FP_2P                                                                                    \
    {0xffff5556, 0x73fdffff, 0x62a7ffff, 0x3d57fffd, 0xed61ec48, 0xce61a541,                     \
     0xe70a257e, 0xc8ee9709, 0x869759ae, 0x96374f6c, 0x72ffcd34, 0x340223d4}
#define FP_ONE                                                                                   \
    {0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b, 0x53c758ba, 0x5f489857,                     \
     0x70525745, 0x77ce5853, 0xa256ec6d, 0x5c071a97, 0xfa80e493, 0x15f65ec3}
#define FP_NEG_INV 0xfffcfffdu

// A sum being built, row by row: x at limbs 0, 1, ..., y one limb further, so that the products of
// even and of odd limbs each fall on their own aligned pairs; stray is a limb left at position 0.
struct FpRows {
    u32 x[12], y[12], stray;
};

// rows += a * b, the first row of all.
FN void fp_row_first(FpRows &s, u32 a, const u32 *b) {
    mul_pairs<12>(s.x, a, b);
    mul_pairs<12>(s.y, a, b + 1);
}

// rows += a * b from limb `from` of b on. y's top pair holds the carries: the sum stays below
// 2^416, so y itself has no carry out.
FN void fp_row_add(FpRows &s, u32 a, const u32 *b, int from) {
    int even = (from + 1) & ~1, odd = from | 1;
    if (odd < 12) mad_pairs<12, true>(s.y, a, b + 1, odd - 1);
    if (even < 12) {
        mad_pairs<12, true>(s.x, a, b, even);
        s.y[11] = addc(s.y[11], 0);
    }
}

// Adds the multiple of p that clears limb 0, and drops that limb.
FN void fp_row_reduce(FpRows &s, bool first) {
    const u32 p[12] = FP_P;
    if (!first) s.x[0] = add_cc(s.x[0], s.stray);
    u32 m = mul_lo(s.x[0], FP_NEG_INV);
    if (first) mad_pairs<12, true>(s.y, m, p + 1, 0);
    else mad_pairs<12, false>(s.y, m, p + 1, 0);
    mad_pairs<12, true>(s.x, m, p, 0);
    s.y[11] = addc(s.y[11], 0);
    s.stray = s.x[1];
    u32 t[12];
#pragma unroll
    for (int j = 0; j < 10; j++) t[j] = s.x[j + 2];
    t[10] = 0;
    t[11] = 0;
#pragma unroll
    for (int j = 0; j < 12; j++) {
        s.x[j] = s.y[j];
        s.y[j] = t[j];
    }
}

FN Fp fp_rows_sum(FpRows &s) {
    Fp r;
    r.v[0] = add_cc(s.x[0], s.stray);
#pragma unroll
    for (int j = 1; j < 11; j++) r.v[j] = addc_cc(s.x[j], s.y[j - 1]);
    r.v[11] = addc(s.x[11], s.y[10]);
    return r;
}

FN Fp mul(const Fp &a, const Fp &b) {
    FpRows s;
    fp_row_first(s, a.v[0], b.v);
    fp_row_reduce(s, true);
#pragma unroll
    for (int i = 1; i < 12; i++) {
        fp_row_add(s, a.v[i], b.v, 0);
        fp_row_reduce(s, false);
    }
    return fp_rows_sum(s);
}

// a * b + c * d with one reduction.
FN Fp dot(const Fp &a, const Fp &b, const Fp &c, const Fp &d) {
    FpRows s;
    fp_row_first(s, a.v[0], b.v);
    fp_row_add(s, c.v[0], d.v, 0);
    fp_row_reduce(s, true);
#pragma unroll
    for (int i = 1; i < 12; i++) {
        fp_row_add(s, a.v[i], b.v, 0);
        fp_row_add(s, c.v[i], d.v, 0);
        fp_row_reduce(s, false);
    }
    return fp_rows_sum(s);
}

// Row i of a square is a_i * (a_i + 2 * the limbs above i): half the products of mul.
FN Fp sqr(const Fp &a) {
    FpRows s;
    u32 twice[12], row[12];
    twice[0] = a.v[0] << 1;
#pragma unroll
    for (int j = 1; j < 12; j++) twice[j] = (a.v[j] << 1) | (a.v[j - 1] >> 31);
#pragma unroll
    for (int i = 0; i < 12; i++) {
#pragma unroll
        for (int j = 0; j < 12; j++) {
            row[j] = j < i ? 0 : j == i ? a.v[i] : j == i + 1 ? a.v[j] << 1 : twice[j];
        }
        if (i == 0) fp_row_first(s, a.v[0], row);
        else fp_row_add(s, a.v[i], row, i);
        fp_row_reduce(s, i == 0);
    }
    return fp_rows_sum(s);
}

FN Fp add(const Fp &a, const Fp &b) {
    const u32 m[12] = FP_2P;
    Fp s;
    add_limbs<12>(s.v, a.v, b.v);
    sub_if_ge<12>(s.v, s.v, m);
    return s;
}

FN Fp sub(const Fp &a, const Fp &b) {
    const u32 m[12] = FP_2P;
    Fp r;
    sub_mod<12>(r.v, a.v, b.v, m);
    return r;
}

FN Fp fp_zero() {
    Fp r;
#pragma unroll
    for (int j = 0; j < 12; j++) r.v[j] = 0;
    return r;
}

FN Fp fp_one() {
    const u32 one[12] = FP_ONE;
    Fp r;
#pragma unroll
    for (int j = 0; j < 12; j++) r.v[j] = one[j];
    return r;
}

FN Fp neg(const Fp &a) { return sub(fp_zero(), a); }

FN Fp select(bool which, const Fp &a, const Fp &b) {
    Fp r;
#pragma unroll
    for (int j = 0; j < 12; j++) r.v[j] = which ? a.v[j] : b.v[j];
    return r;
}

// The one representative below p.
FN Fp canonical(const Fp &a) {
    const u32 p[12] = FP_P;
    Fp r;
    sub_if_ge<12>(r.v, a.v, p);
    return r;
}

// All limbs zero: how infinity is marked. No lazy value of a product of non-zeros is.
FN bool is_blank(const Fp &a) { return all_zero<12>(a.v); }

// Zero in the field: 0 or p.
FN bool is_zero(const Fp &a) {
    const u32 p[12] = FP_P;
    if (a.v[0] != 0 && a.v[0] != p[0]) return false;
    return all_zero<12>(a.v) || all_equal<12>(a.v, p);
}

// a^(p - 2): 380 squarings and a product a set bit; used once for many elements.
FN Fp inverse(const Fp &a) {
    const u32 e[12] = {0xffffaaa9, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0,
                       0xf38512bf, 0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea};
    Fp r = a;
#pragma unroll 1
    for (int bit = 379; bit >= 0; bit--) {
        r = sqr(r);
        if ((e[bit >> 5] >> (bit & 31)) & 1u) r = mul(r, a);
    }
    return r;
}

// The scalar field Fr, 255 bits in eight limbs, Montgomery form with R = 2^256 (blst's form).
// Values of vectors are lazy, in [0, 2r); constants and twiddles are canonical, below r.
// r = 1 - 2^32 + 2^64 * q, so the multiple of r that clears a limb t is -t: instead of a product
// of eight limbs a row of the reduction needs six, by N = 2^192 - q, and no product for the factor.
#pragma once
#include "limbs.cuh"

struct Fr {
    u32 v[8];
};

#define FR_R                                                                                     \
    {0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402, 0x09a1d805, 0x3339d808, 0x299d7d48,         \
     0x73eda753}
#define FR_2R                                                                                    \
    {0x00000002, 0xfffffffe, 0xfffcb7fd, 0xa77b4805, 0x1343b00a, 0x6673b010, 0x533afa90,         \
     0xe7db4ea6}
#define FR_N {0x0001a401, 0xac425bfd, 0xf65e27fa, 0xccc627f7, 0xd66282b7, 0x8c1258ac}

struct FrRows {
    u32 x[8], y[8], stray;
};

// T - t * r with t the lowest limb: +t at limb 1, +t * N at limb 2, -t at limb 8; the last is
// left to the end (see mul), where the t of all rows are subtracted at once.
FN u32 fr_row_reduce(FrRows &s, bool first) {
    const u32 n[6] = FR_N;
    if (!first) s.x[0] = add_cc(s.x[0], s.stray);
    u32 t = s.x[0];
    s.y[0] = first ? add_cc(s.y[0], t) : addc_cc(s.y[0], t);
    s.y[1] = addc_cc(s.y[1], 0);
    mad_pairs<6, false>(s.y + 2, t, n + 1, 0);
    mad_pairs<6, true>(s.x + 2, t, n, 0);
    s.y[7] = addc(s.y[7], 0);
    s.stray = s.x[1];
    u32 u[8];
#pragma unroll
    for (int j = 0; j < 6; j++) u[j] = s.x[j + 2];
    u[6] = 0;
    u[7] = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        s.x[j] = s.y[j];
        s.y[j] = u[j];
    }
    return t;
}

// a * b / R + (0 or r), in [0, 2r), for a < 2r and b < r.
FN Fr mul(const Fr &a, const Fr &b) {
    const u32 r[8] = FR_R;
    FrRows s;
    u32 t[8];
    mul_pairs<8>(s.x, a.v[0], b.v);
    mul_pairs<8>(s.y, a.v[0], b.v + 1);
    t[0] = fr_row_reduce(s, true);
#pragma unroll
    for (int i = 1; i < 8; i++) {
        mad_pairs<8, true>(s.y, a.v[i], b.v + 1, 0);
        mad_pairs<8, true>(s.x, a.v[i], b.v, 0);
        s.y[7] = addc(s.y[7], 0);
        t[i] = fr_row_reduce(s, false);
    }
    Fr q;
    q.v[0] = add_cc(s.x[0], s.stray);
#pragma unroll
    for (int j = 1; j < 8; j++) q.v[j] = addc_cc(s.x[j], s.y[j - 1]);
    sub_limbs<8>(q.v, q.v, t);
    add_limbs<8>(q.v, q.v, r);
    return q;
}

// A factor known beforehand: below r, not in Montgomery form, and floor(w * 2^256 / r).
struct Constant {
    Fr w, quotient;
};

// acc[at..8] += a * b[0], b[2], ...: each 64-bit product on a pair of limbs, cut off at limb 8.
FN void mad_cut(u32 *acc, u32 a, const u32 *b, int at) {
#pragma unroll
    for (int j = 0; j < 8 - at; j += 2) {
        u32 c = acc[at + j];
        if (at + j == 7) {
            acc[7] = j == 0 ? mul_lo(a, b[j]) + c : madc_lo_cc(a, b[j], c);
        } else {
            acc[at + j] = j == 0 ? mad_lo_cc(a, b[j], c) : madc_lo_cc(a, b[j], c);
            acc[at + j + 1] = madc_hi_cc(a, b[j], acc[at + j + 1]);
        }
    }
}

// floor(a * b / 2^256), or one less where the fraction is below 2^-29: of the 64 products the 43
// that reach limb 6. Limbs 6 to 15 of the products that begin at an even limb are in `even`, 7 to
// 15 of the others in `odd`.
FN Fr mul_high(const Fr &a, const Fr &b) {
    u32 even[10], odd[10];
#pragma unroll
    for (int k = 0; k < 10; k++) even[k] = odd[k] = 0;
    even[0] = mul_lo(a.v[0], b.v[6]), even[1] = mul_hi(a.v[0], b.v[6]);
    odd[0] = mul_lo(a.v[0], b.v[7]), odd[1] = mul_hi(a.v[0], b.v[7]);
#pragma unroll
    for (int i = 1; i < 8; i++) {
        int first = i < 7 ? 6 - i : 1, then = i < 7 ? 7 - i : 0, j;
#pragma unroll
        for (j = first; j < 8; j += 2) {
            u32 *at = even + i + j - 6;
            at[0] = j == first ? mad_lo_cc(a.v[i], b.v[j], at[0])
                               : madc_lo_cc(a.v[i], b.v[j], at[0]);
            at[1] = madc_hi_cc(a.v[i], b.v[j], at[1]);
        }
        // A pair that had at most a carry before does not overflow.
        if (i % 2 == 0) even[i + j - 6] = addc(even[i + j - 6], 0);
#pragma unroll
        for (j = then; j < 8; j += 2) {
            u32 *at = odd + i + j - 7;
            at[0] = j == then ? mad_lo_cc(a.v[i], b.v[j], at[0])
                              : madc_lo_cc(a.v[i], b.v[j], at[0]);
            at[1] = madc_hi_cc(a.v[i], b.v[j], at[1]);
        }
        if (i % 2 == 1) odd[i + j - 7] = addc(odd[i + j - 7], 0);
    }
    Fr q;
    add_cc(even[1], odd[0]);
#pragma unroll
    for (int k = 0; k < 8; k++) q.v[k] = addc_cc(even[k + 2], odd[k + 1]);
    return q;
}

// a * w, in [0, 2r), for a < 2r. With q the high half of a * floor(w * 2^256 / r), a * w - q * r is
// below r * (1 + a / 2^256 + 2^-29), so its low eight limbs are all of it; -r = -1 + 2^32 + 2^64 N.
// 86 wide multiplies and 14 short ones where a Montgomery product has 112 wide ones.
FN Fr mul_const(const Fr &a, const Constant &b) {
    const u32 n[6] = FR_N;
    Fr q = mul_high(a, b.quotient), r;
    u32 even[8], odd[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        even[k] = ~q.v[k];
        odd[k] = k > 0 ? q.v[k - 1] : 1;
    }
#pragma unroll
    for (int i = 0; i < 6; i++) {
        mad_cut(i % 2 ? odd : even, q.v[i], n, i + 2);
        if (i < 5) mad_cut(i % 2 ? even : odd, q.v[i], n + 1, i + 3);
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        mad_cut(i % 2 ? odd : even, a.v[i], b.w.v, i);
        if (i < 7) mad_cut(i % 2 ? even : odd, a.v[i], b.w.v + 1, i + 1);
    }
    add_limbs<8>(r.v, even, odd);
    return r;
}

FN Fr add(const Fr &a, const Fr &b) {
    const u32 m[8] = FR_2R;
    Fr r;
    add_mod<8>(r.v, a.v, b.v, m);
    return r;
}

FN Fr sub(const Fr &a, const Fr &b) {
    const u32 m[8] = FR_2R;
    Fr r;
    sub_mod<8>(r.v, a.v, b.v, m);
    return r;
}

// The one representative below r.
FN Fr canonical(const Fr &a) {
    const u32 r[8] = FR_R;
    Fr c;
    sub_if_ge<8>(c.v, a.v, r);
    return c;
}

FN Fr fr_zero() {
    Fr r;
#pragma unroll
    for (int j = 0; j < 8; j++) r.v[j] = 0;
    return r;
}

// Montgomery form of 1.
FN Fr fr_one() {
    const Fr one = {{0xfffffffe, 0x00000001, 0x00034802, 0x5884b7fa, 0xecbc4ff5, 0x998c4fef,
                     0xacc5056f, 0x1824b159}};
    return one;
}

FN bool fr_same(const Fr &a, const Fr &b) {
    u32 d = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) d |= a.v[j] ^ b.v[j];
    return d == 0;
}

// Of canonical values.
FN bool is_zero(const Fr &a) { return fr_same(a, fr_zero()); }
FN bool is_one(const Fr &a) { return fr_same(a, fr_one()); }

// Out of Montgomery form, below r.
FN Fr from_mont(const Fr &a) {
    const Fr one = {{1, 0, 0, 0, 0, 0, 0, 0}};
    return canonical(mul(a, one));
}

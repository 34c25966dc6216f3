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

// Out of Montgomery form, below r.
FN Fr from_mont(const Fr &a) {
    const Fr one = {{1, 0, 0, 0, 0, 0, 0, 0}};
    return canonical(mul(a, one));
}

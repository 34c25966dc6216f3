// Making and preparing bases: sums of two tables, repeated doubling, multiples of one base from
// tables, and back to affine form with one inversion for many points.
#include "memory.cuh"
#include "window.cuh"

#define BATCH 8

// out[i] = low[i mod low_len] + high[i / low_len], XYZZ.
template <class F>
FN void pair_sums(const uint4 *low, const uint4 *high, uint4 *out, u32 low_len, u64 n) {
    u64 i = work_index<F>();
    if (i >= n) return;
    Affine<F> a, b;
    load_affine(a, low, i % low_len);
    load_affine(b, high, i / low_len);
    Xyzz<F> sum;
    from_affine(sum, a);
    add_affine(sum, b);
    store_xyzz(out, i, sum);
}

// out[i] = 2^doublings * in[i], XYZZ.
template <class F>
FN void multiples(const uint4 *in, uint4 *out, u32 doublings, u64 n) {
    u64 i = work_index<F>();
    if (i >= n) return;
    Affine<F> a;
    load_affine(a, in, i);
    Xyzz<F> p;
    if (is_infinity(a)) {
        set_infinity(p);
    } else {
        from_affine(p, a);
#pragma unroll 1
        for (u32 k = 0; k < doublings; k++) double_point(p);
    }
    store_xyzz(out, i, p);
}

// out[i] = scalars[i] * base, XYZZ.
template <class F>
FN void fixed(const uint4 *tables, const uint4 *scalars, uint4 *out, u32 bits, u64 n) {
    u64 i = work_index<F>();
    if (i >= n) return;
    Xyzz<F> sum;
    sum_digits(sum, from_mont(load_fr(scalars, i)), bits,
               [=](Affine<F> &p, u64 at) { load_affine(p, tables, at); });
    store_xyzz(out, i, sum);
}

// XYZZ to affine, BATCH neighbouring points a thread; infinity becomes (0, 0). x = X (ZZ / ZZZ)^2.
template <class F>
FN void normalise(const uint4 *in, uint4 *out, u64 n) {
    u64 first = work_index<F>() * BATCH;
    if (first >= n) return;
    u32 len = n - first < BATCH ? (u32)(n - first) : BATCH;
    F before[BATCH], product, z;
    set_one(product);
#pragma unroll 1
    for (u32 k = 0; k < len; k++) {
        before[k] = product;
        load_coord(z, in, 4 * (first + k) + 3);
        if (!is_blank(z)) product = mul(product, z);
    }
    F inv = inverse(product);
#pragma unroll 1
    for (u32 k = len; k-- > 0;) {
        Xyzz<F> p;
        load_xyzz(p, in, first + k);
        Affine<F> q;
        if (is_infinity(p)) {
            set_zero(q.x);
            set_zero(q.y);
        } else {
            F i = mul(inv, before[k]);
            inv = mul(inv, p.zzz);
            q.y = canonical(mul(p.y, i));
            q.x = canonical(mul(p.x, sqr(mul(p.zz, i))));
        }
        store_affine(out, first + k, q);
    }
}

#define FOR_GROUP(group, F)                                                                      \
    KERNEL __launch_bounds__(128, 2)                                                             \
    bases_pairs_##group(const uint4 *low, const uint4 *high, uint4 *out, u32 low_len, u64 n) {   \
        pair_sums<F>(low, high, out, low_len, n);                                                \
    }                                                                                            \
    KERNEL __launch_bounds__(128, 2)                                                             \
    bases_multiples_##group(const uint4 *in, uint4 *out, u32 doublings, u64 n) {                 \
        multiples<F>(in, out, doublings, n);                                                     \
    }                                                                                            \
    KERNEL __launch_bounds__(128, 2)                                                             \
    bases_fixed_##group(const uint4 *tables, const uint4 *scalars, uint4 *out, u32 bits, u64 n) { \
        fixed<F>(tables, scalars, out, bits, n);                                                 \
    }                                                                                            \
    KERNEL __launch_bounds__(128, 2)                                                             \
    bases_normalise_##group(const uint4 *in, uint4 *out, u64 n) {                                \
        normalise<F>(in, out, n);                                                                \
    }

// A unit is one group's kernels: they compile side by side, and each is loaded where it is used.
#ifndef ONLY_G2
FOR_GROUP(g1, Fp)
#endif
#ifndef ONLY_G1
FOR_GROUP(g2, Fp2)
#endif

// Multi-scalar multiplication, second half: the points of every bucket summed, the buckets of
// every set reduced to one sum a bit of the bucket number. What is left for the host is one
// doubling a bit of the scalar.
#include "memory.cuh"

#ifndef ACC_THREADS
#define ACC_THREADS 128
#endif
#ifndef ACC_BLOCKS
#define ACC_BLOCKS 3
#endif
#ifndef ACC_BLOCKS_G2
#define ACC_BLOCKS_G2 2
#endif
#define SIGN 0x80000000u
#define RUN_MAX 32u

struct Item {
    u32 start, len, dest, pad;
};
struct Big {
    u32 bucket, partial, group, slot;
};
struct MsmCounters {
    u32 ones, items, partials, runs, groups, bigs;
};

FN void prefetch(const void *p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// One thread (two over Fp2) sums one piece of a bucket; `buckets` and `partials` are XYZZ points.
template <class F>
FN void accumulate(const uint4 *points, const u32 *sorted, const Item *items, const u32 *count,
                   uint4 *buckets, uint4 *partials) {
    u64 w = work_index<F>();
    if (w >= *count) return;
    Item item = items[w];
    Xyzz<F> sum;
    set_infinity(sum);
    const u32 *mine = sorted + item.start;
    u32 entry = item.len > 0 ? mine[0] : 0;
    for (u32 k = 0; k < item.len; k++) {
        Affine<F> p;
        load_affine(p, points, entry & ~SIGN);
        bool minus = entry & SIGN;
        if (k + 1 < item.len) {
            entry = mine[k + 1];
            const uint4 *next = points + (u64)(entry & ~SIGN) * (6 * Lanes<F>::N);
            prefetch(next);
            prefetch(next + 6 * Lanes<F>::N - 1);
        }
        if (is_infinity(p)) continue;
        if (minus) p.y = neg(p.y);
        add_affine(sum, p);
    }
    uint4 *out = item.dest & SIGN ? partials : buckets;
    store_xyzz(out, item.dest & ~SIGN, sum);
}

// One thread sums one run of at most RUN_MAX partial sums into its bucket or group.
template <class F>
FN void sum_runs(const uint4 *partials, const Item *runs, const u32 *count, uint4 *buckets,
                 uint4 *groups) {
    u64 stride = (u64)gridDim.x * blockDim.x / Lanes<F>::N;
    for (u64 w = work_index<F>(); w < *count; w += stride) {
        Item run = runs[w];
        Xyzz<F> sum, p;
        load_xyzz(sum, partials, run.start);
        for (u32 k = 1; k < run.len; k++) {
            load_xyzz(p, partials, run.start + k);
            add_point(sum, p);
        }
        store_xyzz(run.dest & SIGN ? groups : buckets, run.dest & ~SIGN, sum);
    }
}

// One block a big bucket: its groups summed by halves, in place, then stored as the bucket.
template <class F>
FN void sum_groups(uint4 *groups, const Big *bigs, const MsmCounters *counters, const u32 *counts,
                   u32 bucket_count, u32 piece, uint4 *buckets) {
    u32 lane = threadIdx.x / Lanes<F>::N, width = blockDim.x / Lanes<F>::N;
    for (u32 g = blockIdx.x; g < counters->bigs; g += gridDim.x) {
        Big big = bigs[g];
        u32 n = big.bucket == bucket_count ? counters->ones : counts[big.bucket];
        u32 pieces = (n + piece - 1) / piece, len = (pieces + RUN_MAX - 1) / RUN_MAX;
        Xyzz<F> a, b;
        while (len > 1) {
            u32 half = (len + 1) / 2;
            for (u32 k = lane; k + half < len; k += width) {
                load_xyzz(a, groups, big.group + k);
                load_xyzz(b, groups, big.group + k + half);
                add_point(a, b);
                store_xyzz(groups, big.group + k, a);
            }
            __syncthreads();
            len = half;
        }
        if (lane == 0) {
            load_xyzz(a, groups, big.group);
            store_xyzz(buckets, big.bucket, a);
        }
        __syncthreads();
    }
}

// One level of the reduction of all sets. In: `vectors` rows of `len` points a set, row 0 the
// buckets' sums so far. Out: rows of half the length, each point the sum of two neighbours, and one
// more row: the odd points of row 0, whose sum is the part of this bit of the bucket number.
template <class F>
FN void fold(const uint4 *in, uint4 *out, u32 sets, u32 vectors, u32 len) {
    u64 w = work_index<F>(), half = len / 2;
    u64 total = half * (vectors + 1) * sets;
    if (w >= total) return;
    u64 set = w / (half * (vectors + 1)), rest = w % (half * (vectors + 1));
    u64 v = rest / half, i = rest % half;
    u64 row = (set * vectors + (v < vectors ? v : 0)) * len;
    Xyzz<F> a, b;
    load_xyzz(b, in, row + 2 * i + 1);
    if (v < vectors) {
        load_xyzz(a, in, row + 2 * i);
        add_point(b, a);
    }
    store_xyzz(out, w, b);
}

// XYZZ to Jacobian coordinates as blst has them: (X ZZ^2, Y ZZZ^2, ZZZ), canonical.
template <class F>
FN void jacobian(const uint4 *in, uint4 *out, u32 n) {
    u64 i = work_index<F>();
    if (i >= n) return;
    Xyzz<F> p;
    load_xyzz(p, in, i);
    store_coord(out, 3 * i, canonical(mul(p.x, sqr(p.zz))));
    store_coord(out, 3 * i + 1, canonical(mul(p.y, sqr(p.zzz))));
    store_coord(out, 3 * i + 2, canonical(p.zzz));
}

#define FOR_GROUP(group, F, blocks)                                                              \
    KERNEL __launch_bounds__(ACC_THREADS, blocks)                                                \
    msm_accumulate_##group(const uint4 *points, const u32 *sorted, const Item *items,            \
                           const u32 *count, uint4 *buckets, uint4 *partials) {                  \
        accumulate<F>(points, sorted, items, count, buckets, partials);                          \
    }                                                                                            \
    KERNEL __launch_bounds__(128, 2)                                                             \
    msm_runs_##group(const uint4 *partials, const Item *runs, const u32 *count, uint4 *buckets,  \
                     uint4 *groups) {                                                            \
        sum_runs<F>(partials, runs, count, buckets, groups);                                     \
    }                                                                                            \
    KERNEL __launch_bounds__(128, 2)                                                             \
    msm_groups_##group(uint4 *groups, const Big *bigs, const MsmCounters *counters,              \
                       const u32 *counts, u32 bucket_count, u32 piece, uint4 *buckets) {         \
        sum_groups<F>(groups, bigs, counters, counts, bucket_count, piece, buckets);             \
    }                                                                                            \
    KERNEL __launch_bounds__(128, 2)                                                             \
    msm_fold_##group(const uint4 *in, uint4 *out, u32 sets, u32 vectors, u32 len) {              \
        fold<F>(in, out, sets, vectors, len);                                                    \
    }                                                                                            \
    KERNEL msm_jacobian_##group(const uint4 *in, uint4 *out, u32 n) {                            \
        jacobian<F>(in, out, n);                                                                 \
    }

// A unit is one group's kernels: they compile side by side, and each is loaded where it is used.
#ifndef ONLY_G2
FOR_GROUP(g1, Fp, ACC_BLOCKS)
#endif
#ifndef ONLY_G1
FOR_GROUP(g2, Fp2, ACC_BLOCKS_G2)
#endif

// Number-theoretic transforms over Fr of 2^10 to 2^27 points in two or three passes. A pass is
// many transforms of 2^5 to 2^9 points; a thread keeps eight points in registers and meets the
// others of its transform in shared memory. Between passes the points are multiplied by powers of
// the root; a coset's powers and 1/n are folded into the same pass. The loops over rounds and over
// points to be scaled are not unrolled, so that a pass stays in the instruction cache.
#include "memory.cuh"

#ifndef NTT_BLOCKS
#define NTT_BLOCKS 2
#endif
#define NTT_THREADS 256
#define NTT_POINTS (NTT_THREADS * 8)

// Where the points of a transform lie: transform q begins at (q / 2^bits) * outer +
// (q mod 2^bits) * inner, its points are `step` apart.
struct Walk {
    u64 outer, inner, step;
    u32 bits;
};

// Powers base^e of a root or a coset's generator: one table for e < 2^low_bits, one for
// multiples of 2^low_bits; a missing second table says that the first has all.
struct Powers {
    const uint4 *low, *high;
    u32 low_bits;
};

#define SCALE_NONE 0
#define SCALE_TWIDDLE 1 // by base^(row * column), the column being q's lowest inner_bits bits
#define SCALE_PLACE 2   // by base^place, the place from the walk `place`

struct PassArgs {
    const uint4 *in;
    uint4 *out;
    const uint4 *roots; // w^e, e < 512, w of order 512
    Walk load, store, place;
    Powers load_powers, store_powers;
    u64 transforms;
    u32 inner_bits, scale_load, scale_store;
    Fr w8[3]; // w^64, w^128, w^192
};

FN u64 walk(const Walk &w, u64 q) {
    return (q >> w.bits) * w.outer + (q & ((1ull << w.bits) - 1)) * w.inner;
}

FN Fr load_fr_ldg(const uint4 *p, u64 i) {
    Fr f;
    uint4 a = __ldg(p + 2 * i), b = __ldg(p + 2 * i + 1);
    f.v[0] = a.x, f.v[1] = a.y, f.v[2] = a.z, f.v[3] = a.w;
    f.v[4] = b.x, f.v[5] = b.y, f.v[6] = b.z, f.v[7] = b.w;
    return f;
}

// x * base^e.
FN Fr mul_power(const Fr &x, const Powers &p, u64 e) {
    Fr y = mul(x, load_fr_ldg(p.low, p.high ? e & ((1u << p.low_bits) - 1) : e));
    if (p.high) y = mul(y, load_fr_ldg(p.high, e >> p.low_bits));
    return y;
}

FN void butterfly(Fr &a, Fr &b) {
    Fr s = add(a, b);
    b = sub(a, b);
    a = s;
}

// Transform of R neighbouring points; frequency f ends at place reversed(f, R).
template <int R>
FN void small_transform(Fr *x, const Fr *w8) {
    if (R == 8) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            butterfly(x[j], x[j + 4]);
            if (j > 0) x[j + 4] = mul(x[j + 4], w8[j - 1]);
        }
    }
    if (R >= 4) {
#pragma unroll
        for (int h = 0; h < R; h += 4) {
            butterfly(x[h], x[h + 2]);
            butterfly(x[h + 1], x[h + 3]);
            x[h + 3] = mul(x[h + 3], w8[1]);
        }
    }
#pragma unroll
    for (int h = 0; h < R; h += 2) butterfly(x[h], x[h + 1]);
}

template <int R>
FN constexpr int reversed(int f) {
    return R == 8 ? ((f & 1) << 2) | (f & 2) | (f >> 2) : R == 4 ? ((f & 1) << 1) | (f >> 1) : f;
}

// Shared memory holds a point's lower half at its slot and its upper half a plane further on; one
// slot in nine is left out, so that neighbours eight points apart do not meet in a bank.
#define PLANE (NTT_POINTS / 8 * 9)
FN void put_shared(uint4 *plane, u32 slot, const Fr &f) {
    plane[slot] = make_uint4(f.v[0], f.v[1], f.v[2], f.v[3]);
    plane[slot + PLANE] = make_uint4(f.v[4], f.v[5], f.v[6], f.v[7]);
}
FN Fr get_shared(const uint4 *plane, u32 slot) {
    Fr f;
    uint4 a = plane[slot], b = plane[slot + PLANE];
    f.v[0] = a.x, f.v[1] = a.y, f.v[2] = a.z, f.v[3] = a.w;
    f.v[4] = b.x, f.v[5] = b.y, f.v[6] = b.z, f.v[7] = b.w;
    return f;
}
FN void copy_async(uint4 *to, const uint4 *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     (u32)__cvta_generic_to_shared(to)),
                 "l"(from));
}

// The base-8 digits of a number of BITS bits in reversed order.
template <int BITS>
FN u32 digits_reversed(u32 i) {
    if (BITS == 3) return i;
    if (BITS == 6) return (i >> 3) | ((i & 7) << 3);
    return i;
}

// The exponent of point or frequency `row` is first + row * step.
struct Exponent {
    u64 first, step;
};
FN Exponent exponent(const PassArgs &g, u32 kind, u64 q) {
    if (kind == SCALE_TWIDDLE) return Exponent{0, q & ((1ull << g.inner_bits) - 1)};
    return Exponent{walk(g.place, q), g.place.step};
}

// One pass of transforms of N = 2^LOG points: rounds of eight-point transforms, then one of two or
// four points if LOG asks for it. In a round with S points left behind it, thread t works on
// points p * 8S + u + S j, p = t / S, u = t mod S, and leaves frequency a in place of point j = a,
// so a thread reads and writes the same slots. The slots' digits end in reversed order:
// slot (a, b, c) holds frequency a + 8 b + 64 c.
template <int LOG>
FN void pass(const PassArgs &g) {
    const int N = 1 << LOG, COLS = NTT_POINTS / N, TH = N / 8, ROUNDS = LOG / 3;
    const int LAST = 1 << (LOG % 3), R = LAST > 1 ? LAST : 8, LAST_BITS = LAST > 1 ? LOG % 3 : 3;
    extern __shared__ uint4 plane[];
    u32 col = threadIdx.x % COLS, t = threadIdx.x / COLS;
    u64 q = (u64)blockIdx.x * COLS + col;
    bool live = q < g.transforms;
    if (!live) q = 0;
#define SLOT(i) (((i) + ((i) >> 3)) * COLS + col)
    u64 from = walk(g.load, q);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const uint4 *p = g.in + 2 * (from + (t + TH * j) * g.load.step);
        copy_async(plane + SLOT(t + TH * j), p);
        copy_async(plane + SLOT(t + TH * j) + PLANE, p + 1);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (g.scale_load) {
        Exponent e = exponent(g, g.scale_load, q);
#pragma unroll 1
        for (u32 i = t; i < N; i += TH) {
            put_shared(plane, SLOT(i),
                       mul_power(get_shared(plane, SLOT(i)), g.load_powers, e.first + i * e.step));
        }
    }
    Fr x[8];
#pragma unroll 1
    for (int round = 0; round < ROUNDS; round++) {
        u32 log_s = LOG - 3 * (round + 1), s = 1u << log_s;
        u32 u = t & (s - 1), base = ((t >> log_s) << (log_s + 3)) + u;
#pragma unroll
        for (int j = 0; j < 8; j++) x[j] = get_shared(plane, SLOT(base + s * j));
        small_transform<8>(x, g.w8);
        if (log_s > 0) {
#pragma unroll
            for (int a = 1; a < 8; a++) {
                Fr w = load_fr_ldg(g.roots, (a * u) << (6 - log_s));
                x[reversed<8>(a)] = mul(x[reversed<8>(a)], w);
            }
        }
        if (log_s > 0 || g.scale_store) {
#pragma unroll
            for (int a = 0; a < 8; a++) put_shared(plane, SLOT(base + s * a), x[reversed<8>(a)]);
        }
        if (log_s > 0) __syncthreads();
    }
    if (LAST > 1) {
#pragma unroll
        for (int s = 0; s < 8 / R; s++) {
            u32 base = (t + TH * s) * R;
#pragma unroll
            for (int j = 0; j < R; j++) x[s * R + j] = get_shared(plane, SLOT(base + j));
            small_transform<R>(x + s * R, g.w8);
            if (g.scale_store) {
#pragma unroll
                for (int f = 0; f < R; f++) {
                    put_shared(plane, SLOT(base + f), x[s * R + reversed<R>(f)]);
                }
            }
        }
    }
    // Frequency of the slot (t + TH s) R + f.
#define FREQUENCY(s, f) (digits_reversed<LOG - LAST_BITS>(t + TH * (s)) + (f) * (N / R))
    u64 to = walk(g.store, q);
    if (g.scale_store) {
        Exponent e = exponent(g, g.scale_store, q);
#pragma unroll 1
        for (u32 i = 0; i < 8; i++) {
            u32 s = i / R, f = i % R, k = FREQUENCY(s, f);
            Fr y = mul_power(get_shared(plane, SLOT((t + TH * s) * R + f)), g.store_powers,
                             e.first + k * e.step);
            if (live) store_fr(g.out, to + k * g.store.step, y);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        u32 k = FREQUENCY(i / R, i % R);
        if (live) store_fr(g.out, to + k * g.store.step, x[i / R * R + reversed<R>(i % R)]);
    }
}

#define PASS(LOG)                                                                                \
    KERNEL __launch_bounds__(NTT_THREADS, NTT_BLOCKS) ntt_pass_##LOG(const __grid_constant__     \
                                                                     PassArgs g) {               \
        pass<LOG>(g);                                                                            \
    }
PASS(5)
PASS(6)
PASS(7)
PASS(8)
PASS(9)

struct BitPowers {
    Fr square[32]; // base^(2^b), Montgomery form
    Fr scale;
};

// out[i] = scale * base^(i * stride), canonical; with columns = 2^column_bits, column_bits < 64,
// scale * base^(row * column) for i = row * columns + column.
KERNEL ntt_powers(uint4 *out, u64 n, u64 stride, u32 column_bits,
                  const __grid_constant__ BitPowers g) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Fr r = g.scale;
    u64 e = column_bits < 64 ? (i >> column_bits) * (i & ((1ull << column_bits) - 1)) : i * stride;
#pragma unroll 1
    for (int b = 0; b < 32; b++) {
        if ((e >> b) & 1) r = mul(r, g.square[b]);
    }
    store_fr(out, i, canonical(r));
}

// Every value made the one below r; what leaves the device is canonical.
KERNEL fr_canonical(uint4 *data, u64 n) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) store_fr(data, i, canonical(load_fr(data, i)));
}

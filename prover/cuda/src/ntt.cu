// Number-theoretic transforms over Fr of 2^10 to 2^27 points in two or three passes. A pass is
// many transforms of 2^5 to 2^9 points; a thread keeps eight points in registers and meets the
// others of its transform in shared memory. Between passes the points are multiplied by powers of
// the root; 1/n is in the same tables, and so is the power of a coset's generator that belongs to a
// point's row in its pass. Only the rows of the one pass that no such table is beside, the first to
// go forward, the last to come back, are multiplied by powers of their own. The loops over rounds and
// over points to be scaled are not unrolled, so that a pass stays in the instruction cache.
//
// Products a point, of 2^22 points in passes of 8 + 8 + 6 bits with whole tables (C: by a constant,
// of 86 wide multiplies; M: Montgomery's, of 112): plain, either way, 8.625 C + 2 M; over a coset,
// either way, 9.625 C + 2 M. Before there were constants, and with a table of a coset's powers at
// every point, these were 10.625 M and 11.625 M. At 2^24 / 2^26 / 2^27: plain 9.375 / 10.5 / 10.875 C
// + 2 M, a coset one C more. With tables in two parts one M more, and a coset one C.
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

// Powers of a root: one table for exponents below 2^low_bits, one for multiples of 2^low_bits; a
// missing second table says that the first has all, or a product for every place.
struct Powers {
    const uint4 *low, *high;
    u32 low_bits;
};

#define SCALE_NONE 0
#define SCALE_TWIDDLE 1 // by base^(row * column), the column being q's lowest inner_bits bits
#define SCALE_PLACE 2   // by what the table has at row * 2^inner_bits + column

struct PassArgs {
    const uint4 *in;
    uint4 *out;
    const uint4 *roots; // constants w^e, e < 512, w of order 512
    const uint4 *load_rows, *store_rows; // constants by point and by frequency, or none
    Walk load, store;
    Powers load_powers, store_powers;
    u64 transforms;
    u32 inner_bits, scale_load, scale_store;
    u32 rounds; // LOG / 3, said here so that the assembler does not unroll them
    Constant w8[3]; // w^64, w^128, w^192
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

FN Constant load_constant(const uint4 *p, u64 i) {
    Constant c;
    c.w = load_fr_ldg(p, 2 * i);
    c.quotient = load_fr_ldg(p, 2 * i + 1);
    return c;
}

// base^e as the tables have it: one factor, or two.
struct Power {
    Fr low, high;
};
FN Power load_power(const Powers &p, u64 e) {
    Power w;
    w.low = load_fr_ldg(p.low, p.high ? e & ((1u << p.low_bits) - 1) : e);
    w.high = p.high ? load_fr_ldg(p.high, e >> p.low_bits) : fr_zero();
    return w;
}
FN Fr mul_power(const Fr &x, const Powers &p, const Power &w) {
    Fr y = mul(x, w.low);
    if (p.high) y = mul(y, w.high);
    return y;
}

FN void butterfly(Fr &a, Fr &b) {
    Fr s = add(a, b);
    b = sub(a, b);
    a = s;
}

// Transform of R neighbouring points; frequency f ends at place reversed(f, R).
template <int R>
FN void small_transform(Fr *x, const Constant *w8) {
    if (R == 8) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            butterfly(x[j], x[j + 4]);
            if (j > 0) x[j + 4] = mul_const(x[j + 4], w8[j - 1]);
        }
    }
    if (R >= 4) {
#pragma unroll
        for (int h = 0; h < R; h += 4) {
            butterfly(x[h], x[h + 2]);
            butterfly(x[h + 1], x[h + 3]);
            x[h + 3] = mul_const(x[h + 3], w8[1]);
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
    uint4 *at = plane + slot;
    at[0] = make_uint4(f.v[0], f.v[1], f.v[2], f.v[3]);
    at[PLANE] = make_uint4(f.v[4], f.v[5], f.v[6], f.v[7]);
}
FN Fr get_shared(const uint4 *plane, u32 slot) {
    Fr f;
    const uint4 *at = plane + slot;
    uint4 a = at[0], b = at[PLANE];
    f.v[0] = a.x, f.v[1] = a.y, f.v[2] = a.z, f.v[3] = a.w;
    f.v[4] = b.x, f.v[5] = b.y, f.v[6] = b.z, f.v[7] = b.w;
    return f;
}
#ifdef __CUDACC__
FN void copy_async(uint4 *to, const uint4 *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     (u32)__cvta_generic_to_shared(to)),
                 "l"(from));
}
FN void wait_async() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
FN void copy_async(uint4 *to, const uint4 *from) { *to = *from; }
FN void wait_async() {}
#endif

// Adds nothing, which neither compiler nor assembler can know: what is reckoned from the number has
// to be reckoned again, where it would be kept in registers that there are not.
FN void forget(u32 &number, const PassArgs &g) {
    number += g.rounds >> 8;
    asm volatile("" : "+r"(number));
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
    u64 column = q & ((1ull << g.inner_bits) - 1);
    if (kind == SCALE_TWIDDLE) return Exponent{0, column};
    return Exponent{column, 1ull << g.inner_bits};
}

// The transform of a column of a block; those that there are none for work on the first again.
FN u64 transform_of(const PassArgs &g, u32 block, u32 columns, u32 column) {
    u64 q = (u64)block * columns + column;
    return q < g.transforms ? q : 0;
}

// One pass of transforms of N = 2^LOG points: rounds of eight-point transforms, then one of two or
// four points if LOG asks for it. In a round with S points left behind it, thread t works on
// points p * 8S + u + S j, p = t / S, u = t mod S, and leaves frequency a in place of point j = a,
// so a thread reads and writes the same slots. The slots' digits end in reversed order:
// slot (a, b, c) holds frequency a + 8 b + 64 c.
template <int LOG>
FN void pass(const PassArgs &g) {
    const int N = 1 << LOG, COLS = NTT_POINTS / N, TH = N / 8;
    const int LAST = 1 << (LOG % 3), R = LAST > 1 ? LAST : 8, LAST_BITS = LAST > 1 ? LOG % 3 : 3;
    extern __shared__ uint4 plane[];
    u32 col = threadIdx.x % COLS, t = threadIdx.x / COLS;
    u64 q = transform_of(g, blockIdx.x, COLS, col);
#define SLOT(i) (((i) + ((i) >> 3)) * COLS + col)
    u64 from = walk(g.load, q);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const uint4 *p = g.in + 2 * (from + (t + TH * j) * g.load.step);
        copy_async(plane + SLOT(t + TH * j), p);
        copy_async(plane + SLOT(t + TH * j) + PLANE, p + 1);
    }
    wait_async();
    if (g.load_rows) {
#pragma unroll 1
        for (u32 i = t; i < N; i += TH) {
            Constant w = load_constant(g.load_rows, i);
            put_shared(plane, SLOT(i), mul_const(get_shared(plane, SLOT(i)), w));
        }
    }
    if (g.scale_load) {
        Exponent e = exponent(g, g.scale_load, q);
#pragma unroll 1
        for (u32 i = t; i < N; i += TH) {
            Power w = load_power(g.load_powers, e.first + i * e.step);
            put_shared(plane, SLOT(i), mul_power(get_shared(plane, SLOT(i)), g.load_powers, w));
        }
    }
    bool scales = g.scale_store || g.store_rows;
    Fr x[8];
#pragma unroll 1
    for (u32 round = 0; round < g.rounds; round++) {
        u32 log_s = LOG - 3 * (round + 1), s = 1u << log_s;
        u32 u = t & (s - 1), base = ((t >> log_s) << (log_s + 3)) + u;
#pragma unroll
        for (int j = 0; j < 8; j++) x[j] = get_shared(plane, SLOT(base + s * j));
        small_transform<8>(x, g.w8);
        if (log_s > 0) {
#pragma unroll
            for (int a = 1; a < 8; a++) {
                Constant w = load_constant(g.roots, (a * u) << (6 - log_s));
                x[reversed<8>(a)] = mul_const(x[reversed<8>(a)], w);
            }
        }
        if (log_s > 0 || scales) {
            forget(base, g);
            forget(s, g);
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
            if (scales) {
#pragma unroll
                for (int f = 0; f < R; f++) {
                    put_shared(plane, SLOT(base + f), x[s * R + reversed<R>(f)]);
                }
            }
        }
    }
    forget(col, g);
    q = transform_of(g, blockIdx.x, COLS, col);
    bool live = (u64)blockIdx.x * COLS + col < g.transforms;
    // Frequency of the slot (t + TH s) R + f.
#define FREQUENCY(s, f) (digits_reversed<LOG - LAST_BITS>(t + TH * (s)) + (f) * (N / R))
    u64 to = walk(g.store, q);
    if (!scales) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            u32 k = FREQUENCY(i / R, i % R);
            if (live) store_fr(g.out, to + k * g.store.step, x[i / R * R + reversed<R>(i % R)]);
        }
        return;
    }
    if (g.store_rows) {
#pragma unroll 1
        for (u32 i = 0; i < 8; i++) {
            u32 s = i / R, f = i % R, slot = SLOT((t + TH * s) * R + f);
            Constant w = load_constant(g.store_rows, FREQUENCY(s, f));
            put_shared(plane, slot, mul_const(get_shared(plane, slot), w));
        }
    }
    Exponent e = exponent(g, g.scale_store, q);
#pragma unroll 1
    for (u32 i = 0; i < 8; i++) {
        u32 s = i / R, f = i % R, k = FREQUENCY(s, f);
        Fr y = get_shared(plane, SLOT((t + TH * s) * R + f));
        if (g.scale_store) {
            y = mul_power(y, g.store_powers, load_power(g.store_powers, e.first + k * e.step));
        }
        if (live) store_fr(g.out, to + k * g.store.step, y);
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
    Fr square[32];    // base^(2^b), Montgomery form
    Fr row_square[9]; // rows^(2^b)
    Fr scale;
};

// out[i] = scale * base^(i * stride), canonical; with columns = 2^column_bits, column_bits < 64,
// scale * base^(row * column) * rows^row for i = row * columns + column.
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
    u64 row = column_bits < 64 ? i >> column_bits : 0;
#pragma unroll 1
    for (int b = 0; b < 9; b++) {
        if ((row >> b) & 1) r = mul(r, g.row_square[b]);
    }
    store_fr(out, i, canonical(r));
}

// Every value made the one below r; what leaves the device is canonical.
KERNEL fr_canonical(uint4 *data, u64 n) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) store_fr(data, i, canonical(load_fr(data, i)));
}

// Pointwise kernels of the quotient, the way out of the in-place order, and the product of a sparse
// matrix with a witness.
#include "memory.cuh"

// a[i] = a[i] * b[i].
KERNEL poly_mul(uint4 *a, const uint4 *b, u64 n) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    store_fr(a, i, mul(load_fr(a, i), canonical(load_fr(b, i))));
}

// out[i] = (c[i] - p[i]) * k, canonical; k below r.
KERNEL poly_sub_scale(uint4 *out, const uint4 *c, const uint4 *p, u64 n, Fr k) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    store_fr(out, i, canonical(mul(sub(load_fr(c, i), load_fr(p, i)), k)));
}

// The in-place order of a transform to the natural one, a transposition of the outer and the inner
// part of a number: in[(k0 * 2^middle + k1) * 2^last + k2] goes to
// out[k0 + k1 * 2^first + k2 * 2^(first + middle)]. A block moves a square of numbers of one k1
// through shared memory, so that what a warp reads, and what it writes, are 512 bytes in a row.
// Blocks: the squares of a k1 in x, all k1 in y; 256 threads.
#define SIDE 16
KERNEL __launch_bounds__(256) poly_natural(const uint4 *in, uint4 *out, u32 first, u32 middle,
                                           u32 last) {
    __shared__ uint4 tile[SIDE][2 * SIDE + 2]; // so many that no two of eight lanes share a bank
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    u64 k0 = (u64)(blockIdx.x & ((1u << first) / SIDE - 1)) * SIDE, k1 = blockIdx.y;
    u64 k2 = (u64)(blockIdx.x / ((1u << first) / SIDE)) * SIDE;
    for (u32 r = warp; r < SIDE; r += 8) {
        u64 from = ((((k0 + r) << middle) + k1) << last) + k2;
        tile[r][lane] = in[2 * from + lane];
    }
    __syncthreads();
    for (u32 c = warp; c < SIDE; c += 8) {
        u64 to = k0 + (k1 << first) + ((k2 + c) << (first + middle));
        out[2 * to + lane] = tile[lane >> 1][2 * c + (lane & 1)];
    }
}

// A matrix by rows, in the host's form: row i has the words from ends[i - 1] (`start` for the first
// row) to ends[i]; words[0] is the word number `start`. A word is a term: the variable's index, a
// bit for an auxiliary one, which stands behind the `inputs` inputs in the witness, and the kind of
// the coefficient: one, minus one, or number words[e + 1] of the table. Only a word with the bit
// TABLE has another behind it, and no such number has that bit.
#define INDEX 0x1fffffffu
#define AUX 0x20000000u
#define MINUS 0x40000000u
#define TABLE 0x80000000u
// A row of more words is summed by a warp.
#define LONG_ROW 64u

struct RowsArgs {
    const u32 *ends, *words;
    const uint4 *coefficients, *witness;
    uint4 *out;
    u64 rows;
    u32 start, inputs;
};

// sum += coefficient * value. Most values are bits: a look is cheaper than a product.
FN void add_term(Fr &sum, const RowsArgs &a, const u32 *at) {
    u32 word = at[0];
    Fr value = load_fr(a.witness, (word & INDEX) + (word & AUX ? a.inputs : 0));
    if (word & TABLE) {
        if (is_zero(value)) return;
        Fr coefficient = load_fr(a.coefficients, at[1]);
        value = is_one(value) ? coefficient : mul(value, coefficient);
    }
    sum = word & MINUS ? sub(sum, value) : add(sum, value);
}

// out[i] = row i times the witness, below 2r; witness and coefficients are canonical.
KERNEL __launch_bounds__(256, 3) rows_times(RowsArgs a) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 from = 0, to = 0, lane = threadIdx.x & 31;
    if (i < a.rows) {
        from = i > 0 ? a.ends[i - 1] - a.start : 0;
        to = a.ends[i] - a.start;
    }
    bool is_long = to - from > LONG_ROW;
    Fr sum = fr_zero();
    for (u32 e = is_long ? to : from; e < to; e += a.words[e] & TABLE ? 2 : 1) {
        add_term(sum, a, a.words + e);
    }
    for (u32 left = __ballot_sync(0xffffffffu, is_long); left; left &= left - 1) {
        int owner = __ffs(left) - 1;
        u32 first = __shfl_sync(0xffffffffu, from, owner);
        u32 end = __shfl_sync(0xffffffffu, to, owner);
        Fr part = fr_zero();
        for (u32 e = first + lane; e < end; e += 32) {
            bool is_number = e > first && a.words[e - 1] & TABLE;
            if (!is_number) add_term(part, a, a.words + e);
        }
        for (u32 d = 16; d > 0; d >>= 1) {
            Fr other;
            for (int j = 0; j < 8; j++) {
                other.v[j] = __shfl_xor_sync(0xffffffffu, part.v[j], d);
            }
            part = add(part, other);
        }
        if ((int)lane == owner) sum = part;
    }
    if (i < a.rows) store_fr(a.out, i, sum);
}

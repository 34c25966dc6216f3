// Pointwise kernels of the quotient, and the sparse matrix times witness product.
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

// How the in-place order of a transform of 2^(b0 + b1 + b2) points reads: place
// (k0 * 2^b1 + k1) * 2^b2 + k2 holds frequency k0 + k1 * 2^b0 + k2 * 2^(b0 + b1).
FN u64 frequency(u64 place, u32 b0, u32 b1, u32 b2) {
    u64 k2 = place & ((1ull << b2) - 1), k1 = (place >> b2) & ((1ull << b1) - 1);
    u64 k0 = place >> (b1 + b2);
    return k0 + (k1 << b0) + (k2 << (b0 + b1));
}

// out[frequency(i)] = in[i]: the in-place order to the natural one.
KERNEL poly_natural(const uint4 *in, uint4 *out, u64 n, u32 b0, u32 b1, u32 b2) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    store_fr(out, frequency(i, b0, b1, b2), load_fr(in, i));
}

// out[row] = sum of values[value[e]] * witness[column[e]] for e in row_start[row]..[row + 1].
// The distinct coefficients are few, so an entry names its coefficient; all are canonical.
KERNEL csr_times(const u64 *row_start, const u32 *column, const u32 *value, const uint4 *values,
                 const uint4 *witness, uint4 *out, u64 rows) {
    u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    Fr sum = fr_zero();
    u64 end = row_start[row + 1];
    for (u64 e = row_start[row]; e < end; e++) {
        sum = add(sum, mul(load_fr(witness, column[e]), load_fr(values, value[e])));
    }
    store_fr(out, row, sum);
}

// Multiples of one base from tables of its multiples by digits, as `srs/fixed_base.rs` has them.
#pragma once
#include "fr.cuh"
#include "xyzz.cuh"

// The lowest `bits` bits of `rest`, 1 to 24, as a digit above -2^(bits - 1) and at most 2^(bits - 1);
// they are shifted out. `carry` starts at zero and is taken up by the digit after.
FN int next_digit(Fr &rest, u32 &carry, u32 bits) {
    u32 digit = (rest.v[0] & ((1u << bits) - 1)) + carry;
#pragma unroll
    for (int j = 0; j < 7; j++) rest.v[j] = rest.v[j] >> bits | rest.v[j + 1] << (32 - bits);
    rest.v[7] >>= bits;
    carry = digit > 1u << (bits - 1) ? 1 : 0;
    return (int)digit - (int)(carry << bits);
}

// sum = scalar * base for a scalar out of Montgomery form. `entry` loads number i of the tables:
// k * 2^(bits * window) * base for k = 1, ..., 2^(bits - 1), window after window.
template <class F, class Entry>
FN void sum_digits(Xyzz<F> &sum, Fr rest, u32 bits, Entry entry) {
    u32 carry = 0;
    u64 table = 0;
    set_infinity(sum);
#pragma unroll 1
    for (u32 at = 0; at < 256; at += bits) {
        int digit = next_digit(rest, carry, bits);
        if (digit != 0) {
            Affine<F> p;
            entry(p, table + (u32)(digit < 0 ? -digit : digit) - 1);
            if (digit < 0) p.y = neg(p.y);
            if (!is_infinity(p)) add_affine(sum, p);
        }
        table += 1u << (bits - 1);
    }
}

// Fp2 = Fp[i] / (i^2 + 1), one element held by two neighbouring threads: the even one has the real
// part, the odd one the imaginary part. A product is two products and one reduction a thread.
// As plain C++ (no neighbours) the same lane functions run for both parts in turn.
#pragma once
#include "fp.cuh"

// This lane's part of a * b: real a0 b0 - a1 b1, imaginary a0 b1 + a1 b0.
FN Fp fp2_mul_lane(const Fp &a, const Fp &a_other, const Fp &b, const Fp &b_other, bool imag) {
    Fp first = select(imag, a_other, a);
    Fp second = select(imag, a, neg(a_other));
    return dot(first, b, second, b_other);
}

// This lane's part of a^2: real (a0 + a1)(a0 - a1), imaginary 2 a0 a1.
FN Fp fp2_sqr_lane(const Fp &a, const Fp &a_other, bool imag) {
    Fp u = add(a, select(imag, a, a_other));
    Fp v = select(imag, a_other, sub(a, a_other));
    return mul(u, v);
}

#ifdef __CUDACC__
struct Fp2 {
    Fp c;
};

FN bool fp2_imag() { return threadIdx.x & 1; }
FN u32 fp2_pair_mask() { return 3u << (threadIdx.x & 30); }

FN Fp fp2_other(const Fp &a) {
    u32 mask = fp2_pair_mask();
    Fp r;
#pragma unroll
    for (int j = 0; j < 12; j++) r.v[j] = __shfl_xor_sync(mask, a.v[j], 1);
    return r;
}

FN bool fp2_both(bool mine) {
    u32 other = __shfl_xor_sync(fp2_pair_mask(), (u32)mine, 1);
    return mine && other != 0;
}

FN Fp2 mul(const Fp2 &a, const Fp2 &b) {
    Fp2 r;
    r.c = fp2_mul_lane(a.c, fp2_other(a.c), b.c, fp2_other(b.c), fp2_imag());
    return r;
}
FN Fp2 sqr(const Fp2 &a) {
    Fp2 r;
    r.c = fp2_sqr_lane(a.c, fp2_other(a.c), fp2_imag());
    return r;
}
FN Fp2 add(const Fp2 &a, const Fp2 &b) { return Fp2{add(a.c, b.c)}; }
FN Fp2 sub(const Fp2 &a, const Fp2 &b) { return Fp2{sub(a.c, b.c)}; }
FN Fp2 neg(const Fp2 &a) { return Fp2{neg(a.c)}; }
FN Fp2 select(bool which, const Fp2 &a, const Fp2 &b) { return Fp2{select(which, a.c, b.c)}; }
FN bool is_blank(const Fp2 &a) { return fp2_both(is_blank(a.c)); }
FN bool is_zero(const Fp2 &a) { return fp2_both(is_zero(a.c)); }
FN Fp2 canonical(const Fp2 &a) { return Fp2{canonical(a.c)}; }
FN Fp2 fp2_one() { return Fp2{select(fp2_imag(), fp_zero(), fp_one())}; }
// 1 / (a0 + a1 i) = (a0 - a1 i) / (a0^2 + a1^2); both lanes invert the same norm.
FN Fp2 inverse(const Fp2 &a) {
    Fp other = fp2_other(a.c);
    Fp n = inverse(dot(a.c, a.c, other, other));
    return Fp2{mul(select(fp2_imag(), neg(a.c), a.c), n)};
}
#else
struct Fp2 {
    Fp c0, c1;
};

FN Fp2 mul(const Fp2 &a, const Fp2 &b) {
    return Fp2{fp2_mul_lane(a.c0, a.c1, b.c0, b.c1, false),
               fp2_mul_lane(a.c1, a.c0, b.c1, b.c0, true)};
}
FN Fp2 sqr(const Fp2 &a) {
    return Fp2{fp2_sqr_lane(a.c0, a.c1, false), fp2_sqr_lane(a.c1, a.c0, true)};
}
FN Fp2 add(const Fp2 &a, const Fp2 &b) { return Fp2{add(a.c0, b.c0), add(a.c1, b.c1)}; }
FN Fp2 sub(const Fp2 &a, const Fp2 &b) { return Fp2{sub(a.c0, b.c0), sub(a.c1, b.c1)}; }
FN Fp2 neg(const Fp2 &a) { return Fp2{neg(a.c0), neg(a.c1)}; }
FN Fp2 select(bool which, const Fp2 &a, const Fp2 &b) { return which ? a : b; }
FN bool is_blank(const Fp2 &a) { return is_blank(a.c0) && is_blank(a.c1); }
FN bool is_zero(const Fp2 &a) { return is_zero(a.c0) && is_zero(a.c1); }
FN Fp2 canonical(const Fp2 &a) { return Fp2{canonical(a.c0), canonical(a.c1)}; }
FN Fp2 fp2_one() { return Fp2{fp_one(), fp_zero()}; }
FN Fp2 inverse(const Fp2 &a) {
    Fp n = inverse(dot(a.c0, a.c0, a.c1, a.c1));
    return Fp2{mul(a.c0, n), mul(neg(a.c1), n)};
}
#endif

FN Fp2 fp2_zero() {
    Fp2 one = fp2_one();
    return sub(one, one);
}

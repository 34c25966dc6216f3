// Integers of 32-bit limbs: the carry-chain instructions and the loops that every field uses.
// On the device an instruction is one PTX instruction; compiled as plain C++ the same names
// emulate it with 64-bit integers and a carry flag, so that a machine without a GPU can test the
// arithmetic. Not here: anything that knows a modulus.
#pragma once

#ifdef __CUDACC__
#define FN static __device__ __forceinline__
#define RARE static __device__ __noinline__
#define KERNEL extern "C" __global__ void
#else
#define FN static inline
#define RARE static inline
#ifndef KERNEL
#define KERNEL static void
#endif
#endif

typedef unsigned int u32;
typedef unsigned long long u64;

#ifdef __CUDACC__
#define PTX3(name, op)                                                                    \
    FN u32 name(u32 a, u32 b) {                                                           \
        u32 r;                                                                            \
        asm volatile(op " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                       \
        return r;                                                                         \
    }
#define PTX4(name, op)                                                                    \
    FN u32 name(u32 a, u32 b, u32 c) {                                                    \
        u32 r;                                                                            \
        asm volatile(op " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));           \
        return r;                                                                         \
    }
PTX3(add_cc, "add.cc.u32")
PTX3(addc_cc, "addc.cc.u32")
PTX3(addc, "addc.u32")
PTX3(sub_cc, "sub.cc.u32")
PTX3(subc_cc, "subc.cc.u32")
PTX3(subc, "subc.u32")
PTX4(mad_lo_cc, "mad.lo.cc.u32")
PTX4(madc_lo_cc, "madc.lo.cc.u32")
PTX4(madc_hi_cc, "madc.hi.cc.u32")
PTX4(madc_hi, "madc.hi.u32")
#undef PTX3
#undef PTX4
FN u32 mul_lo(u32 a, u32 b) { return a * b; }
FN u32 mul_hi(u32 a, u32 b) { return __umulhi(a, b); }
#else
// The carry flag of the emulation; a borrow is kept as 1, as the emulated sub.cc/subc.cc need it.
static thread_local u32 carry_flag = 0;
FN u32 flag_out(u64 wide) {
    carry_flag = (u32)(wide >> 32) & 1u;
    return (u32)wide;
}
FN u32 add_cc(u32 a, u32 b) { return flag_out((u64)a + b); }
FN u32 addc_cc(u32 a, u32 b) { return flag_out((u64)a + b + carry_flag); }
FN u32 addc(u32 a, u32 b) { return a + b + carry_flag; }
FN u32 sub_cc(u32 a, u32 b) { return flag_out((u64)a - b); }
FN u32 subc_cc(u32 a, u32 b) { return flag_out((u64)a - b - carry_flag); }
FN u32 subc(u32 a, u32 b) { return a - b - carry_flag; }
FN u32 mul_lo(u32 a, u32 b) { return a * b; }
FN u32 mul_hi(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
FN u32 mad_lo_cc(u32 a, u32 b, u32 c) { return flag_out((u64)(a * b) + c); }
FN u32 madc_lo_cc(u32 a, u32 b, u32 c) { return flag_out((u64)(a * b) + c + carry_flag); }
FN u32 madc_hi_cc(u32 a, u32 b, u32 c) { return flag_out((u64)mul_hi(a, b) + c + carry_flag); }
FN u32 madc_hi(u32 a, u32 b, u32 c) { return mul_hi(a, b) + c + carry_flag; }
#endif

// acc[from..N] += a * b[from], b[from + 2], ..., each 64-bit product on a pair of limbs. The
// carry out stays in the flag; FIRST says that no carry comes in.
template <int N, bool FIRST>
FN void mad_pairs(u32 *acc, u32 a, const u32 *b, int from) {
#pragma unroll
    for (int j = 0; j < N; j += 2) {
        if (j < from) continue;
        acc[j] = (FIRST && j == from) ? mad_lo_cc(a, b[j], acc[j]) : madc_lo_cc(a, b[j], acc[j]);
        acc[j + 1] = madc_hi_cc(a, b[j], acc[j + 1]);
    }
}

// acc[0..N] = a * b[0], b[2], ...: products side by side, no carries between them.
template <int N>
FN void mul_pairs(u32 *acc, u32 a, const u32 *b) {
#pragma unroll
    for (int j = 0; j < N; j += 2) {
        acc[j] = mul_lo(a, b[j]);
        acc[j + 1] = mul_hi(a, b[j]);
    }
}

// r = a + b, the carry out returned.
template <int N>
FN u32 add_limbs(u32 *r, const u32 *a, const u32 *b) {
    r[0] = add_cc(a[0], b[0]);
#pragma unroll
    for (int j = 1; j < N; j++) r[j] = addc_cc(a[j], b[j]);
    return addc(0, 0);
}

// r = a - b, all ones returned if b > a, else zero.
template <int N>
FN u32 sub_limbs(u32 *r, const u32 *a, const u32 *b) {
    r[0] = sub_cc(a[0], b[0]);
#pragma unroll
    for (int j = 1; j < N; j++) r[j] = subc_cc(a[j], b[j]);
    return subc(0, 0);
}

// r = a - m if that is not negative, else a.
template <int N>
FN void sub_if_ge(u32 *r, const u32 *a, const u32 *m) {
    u32 t[N];
    u32 below = sub_limbs<N>(t, a, m);
#pragma unroll
    for (int j = 0; j < N; j++) r[j] = below ? a[j] : t[j];
}

// r = a - b mod m, for a, b < m.
template <int N>
FN void sub_mod(u32 *r, const u32 *a, const u32 *b, const u32 *m) {
    u32 t[N], k[N];
    u32 below = sub_limbs<N>(t, a, b);
#pragma unroll
    for (int j = 0; j < N; j++) k[j] = m[j] & below;
    add_limbs<N>(r, t, k);
}

// r = a + b mod m, for a, b < m; m may use all bits.
template <int N>
FN void add_mod(u32 *r, const u32 *a, const u32 *b, const u32 *m) {
    u32 s[N], t[N];
    u32 over = add_limbs<N>(s, a, b);
    u32 below = sub_limbs<N>(t, s, m);
    bool keep = below != 0 && over == 0;
#pragma unroll
    for (int j = 0; j < N; j++) r[j] = keep ? s[j] : t[j];
}

template <int N>
FN bool all_zero(const u32 *a) {
    u32 any = 0;
#pragma unroll
    for (int j = 0; j < N; j++) any |= a[j];
    return any == 0;
}

template <int N>
FN bool all_equal(const u32 *a, const u32 *b) {
    u32 any = 0;
#pragma unroll
    for (int j = 0; j < N; j++) any |= a[j] ^ b[j];
    return any == 0;
}

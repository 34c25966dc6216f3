// The arithmetic of the kernels as a plain C++ program, for tests on a machine without a GPU.
// A line in is an operation and its operands, numbers in hexadecimal; a line out is the result.
// A point is its coordinates, a coordinate over Fp2 its real part, then its imaginary part.
#include "../include/fr.cuh"
#include "../include/window.cuh"
#include "../include/xyzz.cuh"
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

typedef std::istringstream In;

static void read_limbs(In &in, u32 *v, int n) {
    std::string s;
    in >> s;
    s = std::string(8 * n - s.size(), '0') + s;
    for (int j = 0; j < n; j++) v[n - 1 - j] = (u32)std::stoul(s.substr(8 * j, 8), nullptr, 16);
}
static void write_limbs(const u32 *v, int n) {
    for (int j = n; j-- > 0;) std::printf("%08x", v[j]);
    std::printf(" ");
}
static void get(In &in, Fr &f) { read_limbs(in, f.v, 8); }
static void get(In &in, Fp &f) { read_limbs(in, f.v, 12); }
static void get(In &in, Fp2 &f) {
    get(in, f.c0);
    get(in, f.c1);
}
template <class F>
static void get(In &in, Affine<F> &p) {
    get(in, p.x);
    get(in, p.y);
}
template <class F>
static void get(In &in, Xyzz<F> &p) {
    get(in, p.x);
    get(in, p.y);
    get(in, p.zz);
    get(in, p.zzz);
}
static void put(const Fr &f) { write_limbs(f.v, 8); }
static void put(const Fp &f) { write_limbs(f.v, 12); }
static void put(const Fp2 &f) {
    put(f.c0);
    put(f.c1);
}
template <class F>
static void put(const Xyzz<F> &p) {
    put(p.x);
    put(p.y);
    put(p.zz);
    put(p.zzz);
}

template <class T, class Op>
static void unary(In &in, Op op) {
    T a;
    get(in, a);
    put(op(a));
}
template <class T, class Op>
static void binary(In &in, Op op) {
    T a, b;
    get(in, a);
    get(in, b);
    put(op(a, b));
}
template <class F>
static void add_points(In &in) {
    Xyzz<F> a, b;
    get(in, a);
    get(in, b);
    add_point(a, b);
    put(a);
}
template <class F>
static void add_mixed(In &in) {
    Xyzz<F> a;
    Affine<F> b;
    get(in, a);
    get(in, b);
    add_affine(a, b);
    put(a);
}
template <class F>
static void twice(In &in) {
    Xyzz<F> a;
    get(in, a);
    double_point(a);
    put(a);
}

static void by_constant(In &in) {
    Fr a;
    Constant b;
    get(in, a);
    get(in, b.w);
    get(in, b.quotient);
    put(mul_const(a, b));
}

static void dot_of_four(In &in) {
    Fp a, b, c, d;
    get(in, a);
    get(in, b);
    get(in, c);
    get(in, d);
    put(dot(a, b, c, d));
}

#define UNARY(T, f) [](In &in) { unary<T>(in, [](const T &a) { return f(a); }); }
#define BINARY(T, f) \
    [](In &in) { binary<T>(in, [](const T &a, const T &b) { return f(a, b); }); }

// Reads lines until there are none.
// A scalar in Montgomery form and a window: all its digits as 32-bit two's complement.
static void digits(In &in) {
    Fr rest;
    u32 bits, carry = 0;
    get(in, rest);
    read_limbs(in, &bits, 1);
    rest = from_mont(rest);
    for (u32 at = 0; at < 256; at += bits) {
        u32 digit = (u32)next_digit(rest, carry, bits);
        write_limbs(&digit, 1);
    }
    write_limbs(&carry, 1);
}

// A scalar in Montgomery form, a window and the tables of a base: the multiple.
template <class F>
static void fixed_base(In &in) {
    Fr rest;
    u32 bits;
    get(in, rest);
    read_limbs(in, &bits, 1);
    std::vector<Affine<F>> tables(((255 + bits) / bits) << (bits - 1));
    for (Affine<F> &p : tables) get(in, p);
    Xyzz<F> sum;
    sum_digits(sum, from_mont(rest), bits, [&](Affine<F> &p, u64 at) { p = tables[at]; });
    put(sum);
}

int main() {
    const std::map<std::string, void (*)(In &)> operations = {
        {"fr_mul", BINARY(Fr, mul)},
        {"fr_mul_const", by_constant},
        {"fr_add", BINARY(Fr, add)},
        {"fr_sub", BINARY(Fr, sub)},
        {"fr_canonical", UNARY(Fr, canonical)},
        {"fr_from_mont", UNARY(Fr, from_mont)},
        {"fp_mul", BINARY(Fp, mul)},
        {"fp_add", BINARY(Fp, add)},
        {"fp_sub", BINARY(Fp, sub)},
        {"fp_sqr", UNARY(Fp, sqr)},
        {"fp_inverse", UNARY(Fp, inverse)},
        {"fp_dot", dot_of_four},
        {"fp2_mul", BINARY(Fp2, mul)},
        {"fp2_sqr", UNARY(Fp2, sqr)},
        {"fp2_inverse", UNARY(Fp2, inverse)},
        {"digits", digits},
        {"g1_fixed", fixed_base<Fp>},
        {"g2_fixed", fixed_base<Fp2>},
        {"g1_add", add_points<Fp>},
        {"g1_add_affine", add_mixed<Fp>},
        {"g1_double", twice<Fp>},
        {"g2_add", add_points<Fp2>},
        {"g2_add_affine", add_mixed<Fp2>},
        {"g2_double", twice<Fp2>},
    };
    std::string line;
    while (std::getline(std::cin, line)) {
        In in(line);
        std::string name;
        in >> name;
        auto found = operations.find(name);
        if (found == operations.end()) return 1;
        found->second(in);
        std::printf("\n");
    }
}

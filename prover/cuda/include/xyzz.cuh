// Points of y^2 = x^3 + b in XYZZ coordinates, x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2, over Fp or
// Fp2 (formulas madd-2008-s, add-2008-s, dbl-2008-s-1, mdbl-2008-s-1 of the Explicit-Formulas
// Database). Infinity has all limbs of ZZ zero; an affine point with x = y = 0 stands for infinity.
#pragma once
#include "fp2.cuh"

template <class F>
struct Affine {
    F x, y;
};

template <class F>
struct Xyzz {
    F x, y, zz, zzz;
};

FN void set_one(Fp &a) { a = fp_one(); }
FN void set_one(Fp2 &a) { a = fp2_one(); }
FN void set_zero(Fp &a) { a = fp_zero(); }
FN void set_zero(Fp2 &a) { a = fp2_zero(); }

// a b - c d; over Fp with one reduction.
FN Fp mul_sub(const Fp &a, const Fp &b, const Fp &c, const Fp &d) { return dot(a, b, neg(c), d); }
FN Fp2 mul_sub(const Fp2 &a, const Fp2 &b, const Fp2 &c, const Fp2 &d) {
    return sub(mul(a, b), mul(c, d));
}

template <class F>
FN void set_infinity(Xyzz<F> &p) {
    set_zero(p.x);
    set_zero(p.y);
    set_zero(p.zz);
    set_zero(p.zzz);
}

template <class F>
FN bool is_infinity(const Xyzz<F> &p) {
    return is_blank(p.zz);
}

template <class F>
FN bool is_infinity(const Affine<F> &p) {
    return is_blank(p.x) && is_blank(p.y);
}

template <class F>
FN void from_affine(Xyzz<F> &r, const Affine<F> &p) {
    r.x = p.x;
    r.y = p.y;
    set_one(r.zz);
    set_one(r.zzz);
}

// What every addition ends with: from p = U2 - U1 and q = S2 - S1, both not zero.
template <class F>
FN void finish_add(Xyzz<F> &r, const F &u1, const F &s1, const F &p, const F &q) {
    F pp = sqr(p);
    F ppp = mul(p, pp);
    F v = mul(u1, pp);
    r.zz = mul(r.zz, pp);
    r.zzz = mul(r.zzz, ppp);
    r.x = sub(sub(sub(sqr(q), ppp), v), v);
    r.y = mul_sub(q, sub(v, r.x), s1, ppp);
}

// r = 2 p for an affine p.
template <class F>
FN void double_affine(Xyzz<F> &r, const Affine<F> &p) {
    F u = add(p.y, p.y);
    r.zz = sqr(u);
    r.zzz = mul(u, r.zz);
    F s = mul(p.x, r.zz);
    F m = sqr(p.x);
    m = add(add(m, m), m);
    r.x = sub(sub(sqr(m), s), s);
    r.y = mul_sub(m, sub(s, r.x), r.zzz, p.y);
}

// r = 2 r.
template <class F>
FN void double_point(Xyzz<F> &r) {
    F u = add(r.y, r.y);
    F v = sqr(u);
    F w = mul(u, v);
    F s = mul(r.x, v);
    F m = sqr(r.x);
    m = add(add(m, m), m);
    r.x = sub(sub(sqr(m), s), s);
    r.y = mul_sub(m, sub(s, r.x), w, r.y);
    r.zz = mul(r.zz, v);
    r.zzz = mul(r.zzz, w);
}

// The doubling that an addition of two sums meets by chance is rare: out of line it costs the
// common path neither registers nor instruction cache. (In `add_affine` it did not pay.)
template <class F>
RARE void double_point_at(Xyzz<F> *r) {
    double_point(*r);
}

// r += p for an affine p that is not infinity.
template <class F>
FN void add_affine(Xyzz<F> &r, const Affine<F> &p) {
    if (is_infinity(r)) {
        from_affine(r, p);
        return;
    }
    F u = sub(mul(p.x, r.zz), r.x);
    F s = sub(mul(p.y, r.zzz), r.y);
    if (is_zero(u)) {
        if (is_zero(s)) double_affine(r, p);
        else set_infinity(r);
        return;
    }
    finish_add(r, r.x, r.y, u, s);
}

// r += p.
template <class F>
FN void add_point(Xyzz<F> &r, const Xyzz<F> &p) {
    if (is_infinity(p)) return;
    if (is_infinity(r)) {
        r = p;
        return;
    }
    F u1 = mul(r.x, p.zz);
    F s1 = mul(r.y, p.zzz);
    F u = sub(mul(p.x, r.zz), u1);
    F s = sub(mul(p.y, r.zzz), s1);
    if (is_zero(u)) {
        Xyzz<F> twice = p;
        set_infinity(r);
        if (is_zero(s)) {
            double_point_at(&twice);
            r = twice;
        }
        return;
    }
    r.zz = mul(r.zz, p.zz);
    r.zzz = mul(r.zzz, p.zzz);
    finish_add(r, u1, s1, u, s);
}

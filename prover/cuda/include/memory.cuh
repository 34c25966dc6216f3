// How field elements and points lie in device memory, and their 16-byte loads and stores.
// A point over Fp2 is worked on by two neighbouring threads, each moving its own part.
#pragma once
#include "fr.cuh"
#include "xyzz.cuh"

template <class F>
struct Lanes;
template <>
struct Lanes<Fp> {
    static const int N = 1;
};
template <>
struct Lanes<Fp2> {
    static const int N = 2;
};

FN void load_words(u32 *v, const uint4 *p, int n) {
#pragma unroll
    for (int j = 0; j < n; j++) {
        uint4 q = p[j];
        v[4 * j] = q.x;
        v[4 * j + 1] = q.y;
        v[4 * j + 2] = q.z;
        v[4 * j + 3] = q.w;
    }
}

FN void store_words(uint4 *p, const u32 *v, int n) {
#pragma unroll
    for (int j = 0; j < n; j++) {
        p[j] = make_uint4(v[4 * j], v[4 * j + 1], v[4 * j + 2], v[4 * j + 3]);
    }
}

FN Fr load_fr(const uint4 *p, u64 i) {
    Fr f;
    load_words(f.v, p + 2 * i, 2);
    return f;
}
FN void store_fr(uint4 *p, u64 i, const Fr &f) { store_words(p + 2 * i, f.v, 2); }

// Coordinate number `slot` of an array of coordinates.
FN void load_coord(Fp &f, const uint4 *p, u64 slot) { load_words(f.v, p + 3 * slot, 3); }
FN void store_coord(uint4 *p, u64 slot, const Fp &f) { store_words(p + 3 * slot, f.v, 3); }
#ifdef __CUDACC__
FN void load_coord(Fp2 &f, const uint4 *p, u64 slot) {
    load_coord(f.c, p, 2 * slot + (threadIdx.x & 1));
}
FN void store_coord(uint4 *p, u64 slot, const Fp2 &f) {
    store_coord(p, 2 * slot + (threadIdx.x & 1), f.c);
}
#endif

template <class F>
FN void load_affine(Affine<F> &r, const uint4 *p, u64 i) {
    load_coord(r.x, p, 2 * i);
    load_coord(r.y, p, 2 * i + 1);
}
template <class F>
FN void store_affine(uint4 *p, u64 i, const Affine<F> &r) {
    store_coord(p, 2 * i, r.x);
    store_coord(p, 2 * i + 1, r.y);
}
template <class F>
FN void load_xyzz(Xyzz<F> &r, const uint4 *p, u64 i) {
    load_coord(r.x, p, 4 * i);
    load_coord(r.y, p, 4 * i + 1);
    load_coord(r.zz, p, 4 * i + 2);
    load_coord(r.zzz, p, 4 * i + 3);
}
template <class F>
FN void store_xyzz(uint4 *p, u64 i, const Xyzz<F> &r) {
    store_coord(p, 4 * i, r.x);
    store_coord(p, 4 * i + 1, r.y);
    store_coord(p, 4 * i + 2, r.zz);
    store_coord(p, 4 * i + 3, r.zzz);
}

// The number of this thread's piece of work, its lane over Fp2 not counted.
template <class F>
FN u64 work_index() {
    return ((u64)blockIdx.x * blockDim.x + threadIdx.x) / Lanes<F>::N;
}

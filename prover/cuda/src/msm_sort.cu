// Multi-scalar multiplication, first half: scalars to signed digits, and the (bucket, point) pairs
// sorted by bucket, the buckets by how many points they have. No curve arithmetic here.
//
// A *set* is one array of buckets. Without precomputed multiples each window has its set; with
// q tables of multiples, window set + sets * j reads table j, and a set has q * n entries.
// Bucket b of a set collects the digit b + 1. An entry is a table position, its top bit the sign.
#include "memory.cuh"

#define SORT_THREADS 512
#define TILE_ITEMS 16
#define TILE (SORT_THREADS * TILE_ITEMS)
#define RUN_MAX 32u
#define SCAN_ITEMS 8
#define SIGN 0x80000000u

// Counters of one multi-scalar multiplication, zeroed before it.
struct MsmCounters {
    u32 ones, items, partials, runs, groups, bigs;
};

// Scalar i is number i of `scalars`, or number indices[i] if there are indices.
struct DigitArgs {
    const uint4 *scalars;
    const u32 *indices;
    u32 *digits, *ones;
    MsmCounters *counters;
    u32 n, sets, tables, bits;
};

// digits[(set * tables + table) * n + i]: the digit's size and sign, 0 for none. Scalars are in
// Montgomery form, canonical or not. Those above r/2 are negated first; those that are then one go
// to the list `ones` instead.
KERNEL msm_digits(DigitArgs a) {
    const u32 modulus[8] = FR_R;
    const u32 half[8] = {0x80000000, 0x7fffffff, 0x7fff2dff, 0xa9ded201,
                         0x04d0ec02, 0x199cec04, 0x94cebea4, 0x39f6d3a9};
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    bool live = i < a.n;
    Fr s = fr_zero();
    if (live) s = from_mont(load_fr(a.scalars, a.indices ? a.indices[i] : i));
    u32 t[8];
    u32 sign = 0;
    if (sub_limbs<8>(t, half, s.v)) {
        sub_limbs<8>(s.v, modulus, s.v);
        sign = SIGN;
    }
    u32 rest = 0;
    for (int j = 1; j < 8; j++) rest |= s.v[j];
    bool one = live && rest == 0 && s.v[0] == 1;
    u32 vote = __ballot_sync(0xffffffffu, one);
    if (vote) {
        u32 lane = threadIdx.x & 31, base = 0;
        if (lane == 0) base = atomicAdd(&a.counters->ones, __popc(vote));
        base = __shfl_sync(0xffffffffu, base, 0);
        if (one) {
            a.ones[base + __popc(vote & ((1u << lane) - 1))] = i | sign;
            s.v[0] = 0;
        }
    }
    if (!live) return;
    u32 carry = 0, mask = (1u << a.bits) - 1, top = 1u << (a.bits - 1);
    for (u32 table = 0; table < a.tables; table++) {
        for (u32 set = 0; set < a.sets; set++) {
            u32 d = (s.v[0] & mask) + carry;
            carry = d > top;
            if (carry) d = (mask + 1) - d;
            u32 out = d == 0 ? 0 : d | ((carry ? SIGN : 0) ^ sign);
            a.digits[((u64)set * a.tables + table) * a.n + i] = out;
#pragma unroll
            for (int j = 0; j < 7; j++) s.v[j] = __funnelshift_r(s.v[j], s.v[j + 1], a.bits);
            s.v[7] >>= a.bits;
        }
    }
}

// hist[set][bin] += entries whose bucket's low bits are bin.
KERNEL msm_count(const u32 *digits, u32 *hist, u64 entries, u32 low_bits) {
    extern __shared__ u32 shared[];
    u32 bins = 1u << low_bits;
    for (u32 b = threadIdx.x; b < bins; b += blockDim.x) shared[b] = 0;
    __syncthreads();
    const u32 *mine = digits + blockIdx.y * entries;
    u64 first = (u64)blockIdx.x * TILE;
    for (u32 k = 0; k < TILE_ITEMS; k++) {
        u64 e = first + k * SORT_THREADS + threadIdx.x;
        u32 d = e < entries ? mine[e] & ~SIGN : 0;
        if (d) atomicAdd(&shared[(d - 1) & (bins - 1)], 1);
    }
    __syncthreads();
    for (u32 b = threadIdx.x; b < bins; b += blockDim.x) {
        if (shared[b]) atomicAdd(&hist[blockIdx.y * bins + b], shared[b]);
    }
}

// Exclusive sums of `count` shared words, at most SCAN_ITEMS a thread, in place. Returns the total.
FN u32 scan_shared(u32 *data, u32 count) {
    __shared__ u32 warps[32];
    u32 v[SCAN_ITEMS], sum = 0;
#pragma unroll
    for (u32 k = 0; k < SCAN_ITEMS; k++) {
        u32 j = threadIdx.x * SCAN_ITEMS + k;
        v[k] = j < count ? data[j] : 0;
        sum += v[k];
    }
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, run = sum;
    for (u32 d = 1; d < 32; d <<= 1) {
        u32 up = __shfl_up_sync(0xffffffffu, run, d);
        if (lane >= d) run += up;
    }
    if (lane == 31) warps[warp] = run;
    __syncthreads();
    if (warp == 0) {
        u32 w = lane < (blockDim.x >> 5) ? warps[lane] : 0;
        for (u32 d = 1; d < 32; d <<= 1) {
            u32 up = __shfl_up_sync(0xffffffffu, w, d);
            if (lane >= d) w += up;
        }
        warps[lane] = w;
    }
    __syncthreads();
    u32 before = (warp ? warps[warp - 1] : 0) + run - sum;
#pragma unroll
    for (u32 k = 0; k < SCAN_ITEMS; k++) {
        u32 j = threadIdx.x * SCAN_ITEMS + k;
        if (j < count) data[j] = before;
        before += v[k];
    }
    u32 total = warps[31];
    __syncthreads();
    return total;
}

// Where each bin's pairs begin: starts[set][bin], with the end of the last bin behind them, and a
// copy that the partition advances. One block a set.
KERNEL msm_offsets(const u32 *hist, u32 *starts, u32 *cursor, u64 entries, u32 low_bits) {
    extern __shared__ u32 shared[];
    u32 bins = 1u << low_bits, set = blockIdx.x;
    for (u32 b = threadIdx.x; b < bins; b += blockDim.x) shared[b] = hist[set * bins + b];
    __syncthreads();
    u32 total = scan_shared(shared, bins);
    u32 base = (u32)(set * entries);
    for (u32 b = threadIdx.x; b < bins; b += blockDim.x) {
        starts[set * (bins + 1) + b] = base + shared[b];
        cursor[set * bins + b] = base + shared[b];
    }
    if (threadIdx.x == 0) starts[set * (bins + 1) + bins] = base + total;
}

// Pairs (entry, high bits of the bucket) gathered by the bucket's low bits. A tile is sorted in
// shared memory first, so that neighbouring threads write neighbouring pairs. Shared: two words a
// bin, then the tile's pairs.
KERNEL msm_partition(const u32 *digits, u32 *cursor, uint2 *pairs, u64 entries, u32 low_bits) {
    extern __shared__ u32 shared[];
    u32 bins = 1u << low_bits;
    u32 *local = shared, *global = shared + bins;
    uint2 *staged = (uint2 *)(shared + 2 * bins);
    for (u32 b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
    __syncthreads();
    const u32 *mine = digits + blockIdx.y * entries;
    u64 first = (u64)blockIdx.x * TILE;
    u32 digit[TILE_ITEMS], rank[TILE_ITEMS];
#pragma unroll
    for (u32 k = 0; k < TILE_ITEMS; k++) {
        u64 e = first + k * SORT_THREADS + threadIdx.x;
        digit[k] = e < entries ? mine[e] : 0;
    }
#pragma unroll
    for (u32 k = 0; k < TILE_ITEMS; k++) {
        u32 d = digit[k] & ~SIGN;
        if (d) rank[k] = atomicAdd(&local[(d - 1) & (bins - 1)], 1);
    }
    __syncthreads();
    for (u32 b = threadIdx.x; b < bins; b += blockDim.x) {
        u32 count = local[b];
        global[b] = count ? atomicAdd(&cursor[blockIdx.y * bins + b], count) : 0;
    }
    u32 total = scan_shared(local, bins);
    for (u32 b = threadIdx.x; b < bins; b += blockDim.x) global[b] -= local[b];
#pragma unroll
    for (u32 k = 0; k < TILE_ITEMS; k++) {
        u32 d = digit[k] & ~SIGN;
        if (!d) continue;
        u32 e = (u32)(first + k * SORT_THREADS + threadIdx.x);
        staged[local[(d - 1) & (bins - 1)] + rank[k]] = make_uint2(e | (digit[k] & SIGN), d - 1);
    }
    __syncthreads();
    for (u32 s = threadIdx.x; s < total; s += blockDim.x) {
        uint2 p = staged[s];
        pairs[global[p.y & (bins - 1)] + s] = make_uint2(p.x, p.y >> low_bits);
    }
}

// The pairs of one bin sorted by bucket: entries in place, each bucket's start and count. A bin of
// at most `room` pairs is sorted in shared memory and written in a row. Shared: a word a bucket,
// then the room.
KERNEL __launch_bounds__(1024) msm_buckets(const uint2 *pairs, const u32 *bin_starts, u32 *sorted,
                                           u32 *starts, u32 *counts, u32 low_bits, u32 high_bits,
                                           u32 room) {
    extern __shared__ u32 shared[];
    u32 bins = 1u << low_bits, high = 1u << high_bits, bin = blockIdx.x, set = blockIdx.y;
    u32 *staged = shared + high;
    u32 from = bin_starts[set * (bins + 1) + bin], to = bin_starts[set * (bins + 1) + bin + 1];
    for (u32 b = threadIdx.x; b < high; b += blockDim.x) shared[b] = 0;
    __syncthreads();
#pragma unroll 4
    for (u32 e = from + threadIdx.x; e < to; e += blockDim.x) atomicAdd(&shared[pairs[e].y], 1);
    __syncthreads();
    u64 base = ((u64)set << (low_bits + high_bits)) + bin;
    for (u32 b = threadIdx.x; b < high; b += blockDim.x) {
        counts[base + ((u64)b << low_bits)] = shared[b];
    }
    __syncthreads();
    scan_shared(shared, high);
    for (u32 b = threadIdx.x; b < high; b += blockDim.x) {
        starts[base + ((u64)b << low_bits)] = from + shared[b];
    }
    __syncthreads();
    if (to - from > room) {
        for (u32 e = from + threadIdx.x; e < to; e += blockDim.x) {
            uint2 p = pairs[e];
            sorted[from + atomicAdd(&shared[p.y], 1)] = p.x;
        }
        return;
    }
#pragma unroll 4
    for (u32 e = from + threadIdx.x; e < to; e += blockDim.x) {
        uint2 p = pairs[e];
        staged[atomicAdd(&shared[p.y], 1)] = p.x;
    }
    __syncthreads();
    for (u32 k = threadIdx.x; k < to - from; k += blockDim.x) sorted[from + k] = staged[k];
}

// A piece of work for one thread: sum `len` sorted entries from `start` into `dest`, a bucket, or
// with the top bit set a partial sum; the same record sums partial sums into a bucket or a group.
struct Item {
    u32 start, len, dest, pad;
};

// A bucket with more than RUN_MAX pieces: its partial sums, their groups, its full pieces' slots.
struct Big {
    u32 bucket, partial, group, slot;
};

struct ItemArgs {
    u32 *starts, *counts;
    u32 *hist, *cursor;
    Item *items, *runs;
    Big *bigs;
    MsmCounters *counters;
    u32 buckets, piece, shift, ones_start;
};

#define LENGTHS 1024

FN u32 bucket_count(const ItemArgs &a, u32 b) {
    return b == a.buckets ? a.counters->ones : a.counts[b];
}

// hist[length] += pieces of that length; a bucket is cut into pieces of at most `piece`. Bucket
// number `buckets` is the list of ones.
KERNEL msm_lengths(ItemArgs a) {
    __shared__ u32 hist[LENGTHS];
    for (u32 j = threadIdx.x; j < LENGTHS; j += blockDim.x) hist[j] = 0;
    __syncthreads();
    for (u32 k = 0; k < 4; k++) {
        u32 b = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
        if (b > a.buckets) continue;
        u32 n = bucket_count(a, b), full = n / a.piece, rest = n % a.piece;
        if (full) atomicAdd(&hist[a.piece >> a.shift], full);
        if (rest || !full) atomicAdd(&hist[rest >> a.shift], 1);
    }
    __syncthreads();
    for (u32 j = threadIdx.x; j < LENGTHS; j += blockDim.x) {
        if (hist[j]) atomicAdd(&a.hist[j], hist[j]);
    }
}

// Slots by length, the longest first. One block of LENGTHS threads at least a quarter.
KERNEL msm_slots(ItemArgs a) {
    __shared__ u32 hist[LENGTHS];
    for (u32 j = threadIdx.x; j < LENGTHS; j += blockDim.x) hist[j] = a.hist[LENGTHS - 1 - j];
    __syncthreads();
    u32 total = scan_shared(hist, LENGTHS);
    for (u32 j = threadIdx.x; j < LENGTHS; j += blockDim.x) a.cursor[LENGTHS - 1 - j] = hist[j];
    if (threadIdx.x == 0) a.counters->items = total;
}

FN void emit_pieces(const ItemArgs &a, u32 b, u32 start, u32 n, u32 full_slot, u32 rest_slot) {
    u32 full = n / a.piece, rest = n % a.piece, pieces = full + (rest || !full);
    if (pieces == 1) {
        a.items[full ? full_slot : rest_slot] = Item{start, n, b, 0};
        return;
    }
    u32 partial = atomicAdd(&a.counters->partials, pieces);
    if (pieces > RUN_MAX) {
        u32 group = atomicAdd(&a.counters->groups, (pieces + RUN_MAX - 1) / RUN_MAX);
        a.bigs[atomicAdd(&a.counters->bigs, 1)] = Big{b, partial, group, full_slot};
    } else {
        a.runs[atomicAdd(&a.counters->runs, 1)] = Item{partial, pieces, b, 0};
        for (u32 k = 0; k < full; k++) {
            a.items[full_slot + k] =
                Item{start + k * a.piece, a.piece, (partial + k) | SIGN, 0};
        }
    }
    if (rest) {
        a.items[rest_slot] = Item{start + full * a.piece, rest, (partial + full) | SIGN, 0};
    }
}

// The pieces of all buckets into their slots, and the runs that join the pieces of a bucket.
KERNEL msm_items(ItemArgs a) {
    __shared__ u32 hist[LENGTHS];
    for (u32 j = threadIdx.x; j < LENGTHS; j += blockDim.x) hist[j] = 0;
    __syncthreads();
    u32 count[4], rank_full[4], rank_rest[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        u32 b = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
        if (b > a.buckets) continue;
        count[k] = bucket_count(a, b);
        u32 full = count[k] / a.piece, rest = count[k] % a.piece;
        if (full) rank_full[k] = atomicAdd(&hist[a.piece >> a.shift], full);
        if (rest || !full) rank_rest[k] = atomicAdd(&hist[rest >> a.shift], 1);
    }
    __syncthreads();
    for (u32 j = threadIdx.x; j < LENGTHS; j += blockDim.x) {
        if (hist[j]) hist[j] = atomicAdd(&a.cursor[j], hist[j]);
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        u32 b = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
        if (b > a.buckets) continue;
        u32 start = b == a.buckets ? a.ones_start : a.starts[b];
        emit_pieces(a, b, start, count[k], hist[a.piece >> a.shift] + rank_full[k],
                    hist[(count[k] % a.piece) >> a.shift] + rank_rest[k]);
    }
}

// The full pieces and the runs of the big buckets; blocks take them in turn.
KERNEL msm_big_items(ItemArgs a) {
    for (u32 g = blockIdx.x; g < a.counters->bigs; g += gridDim.x) {
        Big big = a.bigs[g];
        u32 n = bucket_count(a, big.bucket), full = n / a.piece;
        u32 pieces = full + (n % a.piece ? 1 : 0);
        u32 start = big.bucket == a.buckets ? a.ones_start : a.starts[big.bucket];
        for (u32 k = threadIdx.x; k < full; k += blockDim.x) {
            a.items[big.slot + k] =
                Item{start + k * a.piece, a.piece, (big.partial + k) | SIGN, 0};
        }
        u32 groups = (pieces + RUN_MAX - 1) / RUN_MAX;
        for (u32 k = threadIdx.x; k < groups; k += blockDim.x) {
            u32 left = pieces - k * RUN_MAX;
            a.runs[atomicAdd(&a.counters->runs, 1)] =
                Item{big.partial + k * RUN_MAX, left < RUN_MAX ? left : RUN_MAX,
                     (big.group + k) | SIGN, 0};
        }
    }
}

// A grid of threads on the CPU, so that a kernel without inline assembly runs as it is: a block's
// threads are threads of the host, blocks run one after the other.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

struct Dim {
    unsigned x, y, z;
};
static thread_local Dim threadIdx;
static Dim blockIdx, blockDim, gridDim;

struct uint2 {
    unsigned x, y;
};
struct uint4 {
    unsigned x, y, z, w;
};
static inline uint2 make_uint2(unsigned x, unsigned y) { return uint2{x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return uint4{x, y, z, w};
}

// Threads that wait for each other.
struct Meeting {
    std::mutex mutex;
    std::condition_variable all_here;
    unsigned here = 0, round = 0;
    void meet(unsigned count) {
        std::unique_lock<std::mutex> lock(mutex);
        unsigned mine = round;
        if (++here == count) {
            here = 0;
            round++;
            all_here.notify_all();
        } else {
            all_here.wait(lock, [&] { return round != mine; });
        }
    }
};

struct Warp {
    Meeting meeting;
    unsigned value[32];
};
static Meeting block_meeting;
static std::vector<Warp> *warps;

static inline void __syncthreads() { block_meeting.meet(blockDim.x); }

// What every lane of the warp gives, seen by `look`; all lanes come here.
template <class Look>
static unsigned exchange(unsigned value, Look look) {
    Warp &warp = (*warps)[threadIdx.x / 32];
    warp.value[threadIdx.x % 32] = value;
    warp.meeting.meet(32);
    unsigned seen = look(warp.value);
    warp.meeting.meet(32);
    return seen;
}
static inline unsigned __ballot_sync(unsigned, bool vote) {
    return exchange(vote, [](const unsigned *all) {
        unsigned votes = 0;
        for (int lane = 0; lane < 32; lane++) votes |= all[lane] << lane;
        return votes;
    });
}
static inline unsigned __shfl_sync(unsigned, unsigned value, int from) {
    return exchange(value, [=](const unsigned *all) { return all[from & 31]; });
}
static inline unsigned __shfl_xor_sync(unsigned, unsigned value, int mask) {
    unsigned lane = threadIdx.x % 32;
    return exchange(value, [=](const unsigned *all) { return all[lane ^ mask]; });
}
static inline unsigned __shfl_up_sync(unsigned, unsigned value, unsigned by) {
    unsigned lane = threadIdx.x % 32;
    return exchange(value, [=](const unsigned *all) { return lane < by ? value : all[lane - by]; });
}
template <class T>
static inline T __ldg(const T *at) {
    return *at;
}
static inline int __ffs(unsigned value) { return __builtin_ffs((int)value); }
static inline unsigned __popc(unsigned value) { return (unsigned)__builtin_popcount(value); }
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    unsigned long long both = (unsigned long long)high << 32 | low;
    return (unsigned)(both >> (by & 31));
}
static inline unsigned atomicAdd(unsigned *at, unsigned value) {
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}

// Runs `kernel` over the blocks; `threads` is a multiple of 32.
static void launch(unsigned x, unsigned y, unsigned threads, std::function<void()> kernel) {
    gridDim = Dim{x, y, 1};
    blockDim = Dim{threads, 1, 1};
    for (unsigned by = 0; by < y; by++) {
        for (unsigned bx = 0; bx < x; bx++) {
            blockIdx = Dim{bx, by, 0};
            std::vector<Warp> all(threads / 32);
            warps = &all;
            std::vector<std::thread> running;
            for (unsigned t = 0; t < threads; t++) {
                running.emplace_back([=] {
                    threadIdx = Dim{t, 0, 0};
                    kernel();
                });
            }
            for (std::thread &thread : running) thread.join();
        }
    }
}

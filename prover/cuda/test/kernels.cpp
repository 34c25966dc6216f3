// Kernels as a plain C++ program, for tests on a machine without a GPU: numbers of 32 bits in,
// numbers out, as the operation named asks.
#include "grid.h"
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static
#include "../src/poly.cu"
#undef __shared__
// Those that are not run here keep dynamic shared memory: nothing but a name.
#define __shared__
#include "../src/msm_sort.cu"
uint4 plane[2 * 2048 / 8 * 9]; // the dynamic shared memory of a pass
#include "../src/ntt.cu"
#include <cstdio>
#include <cstring>

static u32 word() {
    u32 value = 0;
    if (std::scanf("%u", &value) != 1) std::exit(2);
    return value;
}
static std::vector<u32> words(u64 count) {
    std::vector<u32> all(count);
    for (u32 &one : all) one = word();
    return all;
}
// As the kernels' loads want them: four words at a multiple of sixteen bytes.
static std::vector<uint4> wide(const std::vector<u32> &from) {
    std::vector<uint4> to(from.size() / 4 + 1);
    std::memcpy(to.data(), from.data(), from.size() * 4);
    return to;
}
static void print(const void *from, u64 count) {
    for (u64 j = 0; j < count; j++) std::printf("%u ", ((const u32 *)from)[j]);
    std::printf("\n");
}

// passes -> for each natural place the in-place one that it came from.
static void natural() {
    u32 first = word(), middle = word(), last = word();
    u64 n = 1ull << (first + middle + last);
    std::vector<uint4> in(2 * n), out(2 * n);
    for (u64 i = 0; i < n; i++) in[2 * i] = uint4{(u32)i, 0, 0, 0}, in[2 * i + 1].w = (u32)i;
    launch(1u << (first + last - 8), 1u << middle, 256,
           [&] { poly_natural(in.data(), out.data(), first, middle, last); });
    std::vector<u32> seen;
    for (u64 i = 0; i < n; i++) {
        u32 low = out[2 * i].x, high = out[2 * i + 1].w;
        seen.push_back(low == high ? low : ~0u);
    }
    print(seen.data(), n);
}

// rows, start, inputs, ends, words, coefficients, witness -> a value a row.
static void rows() {
    u32 rows = word(), start = word(), inputs = word();
    std::vector<u32> ends = words(rows), terms = words(word());
    std::vector<uint4> table = wide(words(8ull * word())), witness = wide(words(8ull * word()));
    std::vector<uint4> out(2 * rows + 2);
    RowsArgs a = {ends.data(), terms.data(), table.data(), witness.data(),
                  out.data(),  rows,         start,        inputs};
    launch((rows + 255) / 256, 1, 256, [&] { rows_times(a); });
    print(out.data(), 8ull * rows);
}

// n, sets, bits, indices (0 of them: none), scalars -> digits, number of ones, their list.
static void digits() {
    u32 n = word(), sets = word(), bits = word(), count = word();
    std::vector<u32> indices = words(count);
    std::vector<uint4> scalars = wide(words(8ull * word()));
    std::vector<u32> out((u64)n * sets), ones(n);
    MsmCounters counters = {};
    DigitArgs a = {scalars.data(), count ? indices.data() : nullptr, out.data(), ones.data(),
                   &counters,      n, sets, 1, bits};
    launch((n + 255) / 256, 1, 256, [&] { msm_digits(a); });
    print(out.data(), out.size());
    print(ones.data(), counters.ones);
}

// bits, load, store, inner bits, the factors' kinds, low bits of their tables (0: whole), then roots
// as constants, first and second table, constants by point and by frequency (0 of them: none),
// points -> the points after one block's pass.
static Walk read_walk() {
    u64 outer = word(), inner = word(), step = word();
    return Walk{outer, inner, step, word()};
}
static void pass_of_a_block() {
    u32 bits = word();
    PassArgs g = {};
    g.load = read_walk(), g.store = read_walk();
    g.inner_bits = word(), g.scale_load = word(), g.scale_store = word();
    u32 low_bits = word();
    g.rounds = bits / 3;
    std::vector<uint4> roots = wide(words(16 * 512)), low = wide(words(8ull * word()));
    std::vector<uint4> high = wide(words(8ull * word()));
    std::vector<u32> by_point = words(16ull * word()), by_frequency = words(16ull * word());
    std::vector<uint4> load_rows = wide(by_point), store_rows = wide(by_frequency);
    std::vector<uint4> data = wide(words(8ull * NTT_POINTS));
    g.roots = roots.data();
    g.load_rows = by_point.empty() ? nullptr : load_rows.data();
    g.store_rows = by_frequency.empty() ? nullptr : store_rows.data();
    g.in = data.data(), g.out = data.data();
    g.load_powers = Powers{low.data(), low_bits ? high.data() : nullptr, low_bits};
    g.store_powers = g.load_powers;
    g.transforms = NTT_POINTS >> bits;
    for (int j = 0; j < 3; j++) g.w8[j] = load_constant(roots.data(), 64 * (j + 1));
    void (*passes[])(PassArgs) = {ntt_pass_5, ntt_pass_6, ntt_pass_7, ntt_pass_8, ntt_pass_9};
    launch(1, 1, NTT_THREADS, [&] { passes[bits - 5](g); });
    print(data.data(), 8ull * NTT_POINTS);
}

// n, stride, column bits, squares of the base and of the rows' base, scale -> a table of powers.
static void table_of_powers() {
    u32 n = word(), stride = word(), column_bits = word();
    BitPowers g;
    std::vector<u32> all = words(8 * 42);
    std::memcpy(&g, all.data(), sizeof g);
    std::vector<uint4> out(2 * n);
    launch((n + 127) / 128, 1, 128, [&] { ntt_powers(out.data(), n, stride, column_bits, g); });
    print(out.data(), 8ull * n);
}

int main(int, char **argv) {
    if (!std::strcmp(argv[1], "natural")) return natural(), 0;
    if (!std::strcmp(argv[1], "rows")) return rows(), 0;
    if (!std::strcmp(argv[1], "digits")) return digits(), 0;
    if (!std::strcmp(argv[1], "pass")) return pass_of_a_block(), 0;
    if (!std::strcmp(argv[1], "powers")) return table_of_powers(), 0;
    return 1;
}

#!/usr/bin/env python3
"""Writes the log of a run of many partitions: make_regions.py PATH CALLS.

Two workers share one GPU, as phase8 prints it: six TIMELINE and eight CUZK_TIMING lines for each
partition, in order of time. The same arguments give the same bytes.
"""
import heapq
import sys


def call(i, free, lock):
    """Events of call i: (microseconds, serial, line), and when worker and lock are free again."""
    job, part, worker = f"bench-{i // 10:06d}", i % 10, i % 2
    wave = lambda period, size: i * 7919 % period * size // period
    split, prep, b_g2 = 1000 + wave(37, 90_000), 1_600_000 + wave(53, 700_000), 380_000
    ntt, batch, tail = 2_300_000 + wave(71, 200_000), 620_000 + wave(31, 40_000), 120_000
    synth = 29_000_000 + wave(101, 3_000_000)
    ready = max(free[worker] + 200, 30_000_000 + i * 3_050_000)
    asked = ready + 300 + split
    k_start = max(asked, lock + 900) + 4_000
    batch_start = max(k_start + ntt, asked + prep)
    k_end = batch_start + batch + tail
    released = k_end + 6_000
    end = max(released, asked + prep + b_g2) + 900
    ms = lambda us: us // 1000
    line = lambda us, event, detail: (us, f"TIMELINE,{ms(us)},{event},{job},{detail}")
    note = lambda us, text: (us, "CUZK_TIMING: " + text)
    begin = ready - synth - 500
    lines = [
        line(begin, "SYNTH_START", f"partition={part}"),
        line(begin + synth, "SYNTH_END", f"partition={part},synth_ms={ms(synth)}"),
        line(begin + synth + 60, "CHAN_SEND", f"partition={part}"),
        line(ready, "GPU_PICKUP", f"worker={worker},partition={part}"),
        line(ready + 150, "GPU_START", f"worker={worker},partition={part}"),
        note(asked, f"split_vectors_ms={ms(split)} setup_to_split_ms={ms(split)}"),
        note(asked + prep, f"prep_msm_ms={ms(prep)}"),
        note(asked + prep + b_g2, f"b_g2_msm_ms={ms(b_g2)} num_circuits=1"),
        note(k_start + ntt, f"gpu_tid=0 ntt_msm_h_ms={ms(ntt)}"),
        note(k_end - tail, f"gpu_tid=0 batch_add_ms={ms(batch)}"),
        note(k_end, f"gpu_tid=0 tail_msm_ms={ms(tail)} gpu_total_ms={ms(k_end - k_start)}"),
        note(end - 1, f"epilogue_ms=0 pre_destructor_ms={ms(end - ready - 300)}"),
        line(end, "GPU_END", f"worker={worker},partition={part},gpu_ms={ms(end - ready - 150)}"),
        note(end + 700_000, "async_dealloc_ms=700"),
    ]
    free[worker] = end
    return lines, released, begin


def main():
    path, calls = sys.argv[1], int(sys.argv[2])
    free, lock, heap, serial = [0, 0], 0, [], 0
    with open(path, "w", buffering=1 << 20) as out:
        for i in range(calls):
            lines, lock, begin = call(i, free, lock)
            for us, text in lines:
                serial += 1
                heapq.heappush(heap, (us, serial, text))
            # No later call has a line before the start of this one's synthesis.
            while heap and heap[0][0] < begin - 4_000_000:
                out.write(heapq.heappop(heap)[2] + "\n")
        while heap:
            out.write(heapq.heappop(heap)[2] + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the example logs of this folder: a small simulation of the predecessor's daemon.

    python3 docs/examples/make_examples.py

Seeded: the same files every time. The line formats are those of docs/trace-format.md; the
durations are drawn around published medians. No line is copied from a real log.

late-free.log      two workers on a 16 GiB card, d_bc freed after the unlock: every job fails
late-free.bench    what the benchmark client printed for it
two-workers.log    the same batch with d_bc freed under the lock: every job completes
killed.log         the fixed engine, killed in the middle of a line
"""

import datetime
import heapq
import itertools
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
EPOCH = datetime.datetime(2026, 2, 19, 4, 20, 17, 307000)
MS = 1000
CARD_MIB, BASE_MIB, DA_MIB, DBC_MIB = 16384, 1609, 4096, 8192


class Daemon:
    """One run: a clock, a queue of things to do, and the lines written so far."""

    def __init__(self, seed, jobs, partitions, concurrency, synth_slots, late_free):
        self.random = random.Random(seed)
        self.todo, self.count, self.lines = [], itertools.count(), []
        self.late_free = late_free
        self.waiting = [job_id(self.random) for _ in range(jobs)]
        self.partitions, self.slots = partitions, synth_slots
        self.jobs, self.ready, self.synth_queue = {}, [], []
        self.free_workers, self.lock_queue, self.lock_owner = [0, 1], [], None
        self.vram, self.last = BASE_MIB, 0
        self.submitted = []
        self.start(concurrency)

    def at(self, us, action, *args):
        heapq.heappush(self.todo, (int(us), next(self.count), action, args))

    def draw(self, median_ms, spread=0.04):
        return int(median_ms * MS * self.random.lognormvariate(0, spread))

    def write(self, us, text):
        self.lines.append((us, len(self.lines), text))

    def timeline(self, us, event, job, detail):
        self.write(us, f"TIMELINE,{us // MS},{event},{job},{detail}")

    def timing(self, us, text):
        self.write(us, f"CUZK_TIMING: {text}")

    def tracing(self, us, level, target, message, span="", **fields):
        stamp = (EPOCH + datetime.timedelta(microseconds=us)).isoformat(timespec="microseconds")
        colour = {"ERROR": 31, "WARN": 33, "INFO": 32}[level]
        pairs = "".join(f" \x1b[3m{k}\x1b[0m\x1b[2m=\x1b[0m{v}" for k, v in fields.items())
        self.write(us, f"\x1b[2m{stamp}Z\x1b[0m \x1b[{colour}m{level:>5}\x1b[0m {span}"
                       f"\x1b[2m{target}\x1b[0m\x1b[2m:\x1b[0m {message}{pairs}")

    def worker_span(self, worker, job, part):
        fields = {"worker_id": worker, "gpu": 0, "job_id": job, "proof_kind": "porep-c2",
                  "batch_size": 1, "partition": f"Some({part})"}
        pairs = " ".join(f"\x1b[3m{k}\x1b[0m\x1b[2m=\x1b[0m{v}" for k, v in fields.items())
        return f"\x1b[1mgpu_worker\x1b[0m\x1b[1m{{\x1b[0m{pairs}\x1b[1m}}\x1b[0m\x1b[2m:\x1b[0m "

    def start(self, concurrency):
        self.tracing(0, "INFO", "cuzk_daemon", "cuzk-daemon starting", listen="127.0.0.1:9820")
        self.tracing(30, "INFO", "cuzk_core::srs_manager", "loading SRS from disk",
                     circuit_id="porep-32g")
        ready = self.draw(21_800)
        self.tracing(ready, "INFO", "cuzk_core::srs_manager", "SRS loaded successfully",
                     circuit_id="porep-32g", elapsed_ms=ready // MS)
        for worker in self.free_workers:
            self.tracing(ready + 30, "INFO", "cuzk_core::engine", "pipeline GPU worker started",
                         worker_id=worker, gpu=0)
        for index in range(concurrency):
            self.at(ready + 300 * MS + 2 * MS * index, self.submit)

    def submit(self, now):
        if not self.waiting:
            return
        job = self.waiting.pop(0)
        self.submitted.append((job, now))
        self.jobs[job] = {"left": self.partitions, "failed": None, "start": now, "gpu_ms": 0}
        for message in ("job enqueued", "job dequeued for proving"):
            self.tracing(now, "INFO", "cuzk_core::scheduler", message, job_id=job,
                         proof_kind="porep-c2", priority="Normal")
        self.synth_queue += [(job, part) for part in range(self.partitions)]
        self.at(now + MS, self.feed_synthesis)

    def feed_synthesis(self, now):
        while self.slots and self.synth_queue:
            job, part = self.synth_queue.pop(0)
            if self.jobs[job]["failed"]:
                continue
            self.slots -= 1
            self.timeline(now, "SYNTH_START", job, f"partition={part}")
            took = self.draw(27_500, 0.06)
            self.at(now + took, self.synthesized, job, part, took)

    def synthesized(self, now, job, part, took):
        self.slots += 1
        self.timeline(now, "SYNTH_END", job, f"partition={part},synth_ms={took // MS}")
        self.timeline(now + 40, "CHAN_SEND", job, f"partition={part}")
        self.ready.append((job, part))
        self.at(now + 60, self.feed_synthesis)
        self.at(now + 80, self.feed_gpu)

    def feed_gpu(self, now):
        while self.free_workers and self.ready:
            worker, (job, part) = self.free_workers.pop(0), self.ready.pop(0)
            self.timeline(now, "GPU_PICKUP", job, f"worker={worker},partition={part}")
            span = self.worker_span(worker, job, part)
            self.tracing(now + 30, "INFO", "cuzk_core::engine",
                         "GPU worker picked up synthesized proof", span, partition=f"Some({part})")
            if self.jobs[job]["failed"]:
                self.tracing(now + 60, "WARN", "cuzk_core::engine",
                             "skipping GPU prove for failed job", span, job_id=job, partition=part)
                self.at(now + 100, self.give_back, worker)
                continue
            self.at(now + 300, self.prove, worker, job, part)

    def give_back(self, now, worker):
        self.free_workers.append(worker)
        self.feed_gpu(now)

    def prove(self, now, worker, job, part):
        self.timeline(now, "GPU_START", job, f"worker={worker},partition={part}")
        split = self.random.choice([0, 0, self.draw(380, 0.2)])
        call = {"worker": worker, "job": job, "part": part, "start": now}
        self.at(now + split + 50, self.say, f"split_vectors_ms={split // MS} "
                                            f"setup_to_split_ms={split // MS}")
        call["prep"] = now + split + self.draw(1_950, 0.08)
        self.at(call["prep"], self.say, f"prep_msm_ms={(call['prep'] - now - split) // MS}")
        g2 = self.draw(520, 0.1)
        call["g2"] = call["prep"] + g2
        self.at(call["g2"], self.say, f"b_g2_msm_ms={g2 // MS} num_circuits=1")
        self.at(now + split + self.draw(740), self.ask_lock, call)

    def say(self, now, text):
        self.timing(now, text)

    def ask_lock(self, now, call):
        self.lock_queue.append(call)
        self.grant(now)

    def grant(self, now):
        if self.lock_owner is None and self.lock_queue:
            self.lock_owner = self.lock_queue.pop(0)
            self.at(now + 3 * MS, self.prestage, self.lock_owner)

    def prestage(self, now, call):
        if self.late_free and self.vram + DA_MIB + DBC_MIB > CARD_MIB:
            self.timing(now, "prestage_setup=fallback err=2")
            self.at(now + 3 * MS, self.fail, call)
            return
        if not self.late_free:
            free = CARD_MIB - self.vram
            self.timing(now, f"prestage_vram free_mib={free} usable_mib={free - 512} "
                             f"need_da_mib={DA_MIB} need_dbc_mib={DBC_MIB} "
                             f"total_mib={DA_MIB + DBC_MIB}")
        self.vram += DA_MIB + DBC_MIB
        self.timing(now + 17 * MS, "prestage_setup=ok domain=134217728 lot_of_memory=1")
        begin = now + 19 * MS
        ntt = begin + self.draw(700)
        self.at(ntt, self.say, f"gpu_tid=0 ntt_msm_h_ms={(ntt - begin) // MS}")
        barrier = max(ntt, call["prep"]) + 50
        batch = barrier + self.draw(645)
        self.at(batch, self.say, f"gpu_tid=0 batch_add_ms={(batch - barrier) // MS}")
        tail = batch + self.draw(84)
        self.at(tail, self.say, f"gpu_tid=0 tail_msm_ms={(tail - batch) // MS} "
                                f"gpu_total_ms={(tail - begin) // MS}")
        self.at(tail + 6 * MS, self.unlock, call)

    def unlock(self, now, call):
        self.lock_owner = None
        self.vram -= DA_MIB if self.late_free else DA_MIB + DBC_MIB
        self.grant(now)
        self.at(max(now + self.draw(262), call["g2"]), self.finish, call)

    def fail(self, now, call):
        worker, job, part = call["worker"], call["job"], call["part"]
        self.write(now, "thread 'tokio-runtime-worker' panicked at supraseal-c2/src/lib.rs:151:9:")
        self.write(now, "cudaMalloc(&d_ptr, n * sizeof(T))@sppark-0.1.14/sppark/util/gpu_t.cuh:331"
                        " failed: \"out of memory\"")
        self.write(now, "note: run with `RUST_BACKTRACE=1` environment variable to display a "
                        "backtrace")
        self.tracing(now + 200, "ERROR", "cuzk_core::engine", "partition GPU proving task panicked",
                     self.worker_span(worker, job, part), job_id=job, partition=part,
                     error=f"task {100 + part} panicked")
        self.end_job(now + 300, job, f"partition {part} GPU task panicked")
        self.lock_owner = None
        self.grant(now)
        self.at(now + 400, self.give_back, worker)

    def finish(self, now, call):
        worker, job, part, start = (call[key] for key in ("worker", "job", "part", "start"))
        if self.late_free:
            self.vram -= DBC_MIB
        took = (now - start) // MS
        self.timing(now, f"epilogue_ms=0 pre_destructor_ms={took}")
        self.timeline(now + 20, "GPU_END", job, f"worker={worker},partition={part},gpu_ms={took}")
        self.at(now + self.draw(590), self.say, f"async_dealloc_ms={self.draw(585) // MS}")
        state = self.jobs[job]
        state["left"] -= 1
        state["gpu_ms"] += took
        if state["failed"]:
            self.tracing(now + 60, "WARN", "cuzk_core::engine",
                         "discarding GPU result for failed job", job_id=job, partition=part)
        elif state["left"] == 0:
            self.tracing(now + 60, "INFO", "cuzk_core::engine",
                         "Phase 7: all partitions complete, proof assembled", job_id=job,
                         proof_len=192 * self.partitions, total_ms=(now - state["start"]) // MS)
            self.end_job(now + 80, job, None)
        self.at(now + 100, self.give_back, worker)

    def end_job(self, now, job, error):
        state = self.jobs[job]
        if state["failed"] is None and "end" not in state:
            state["failed"], state["end"] = error, now
            self.at(now + 3 * MS, self.submit)

    def run(self):
        while self.todo:
            now, _, action, args = heapq.heappop(self.todo)
            action(now, *args)
        return [text for _, _, text in sorted(self.lines)]


def job_id(rng):
    digits = f"{rng.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20],
                     digits[20:]))


def bench_text(daemon, concurrency):
    out = ["=== Batch Benchmark ===", "proof type:  porep", f"count:       {len(daemon.submitted)}",
           f"concurrency: {concurrency}", ""]
    done = 0
    for index, (job, submitted) in enumerate(daemon.submitted, 1):
        state = daemon.jobs[job]
        failed, wall = state["failed"], (state["end"] - submitted) / 1e6
        status, prove = ("FAILED", 0) if failed else ("COMPLETED", state["gpu_ms"])
        done += not failed
        out.append(f"  [{index}/{len(daemon.submitted)}] {status} — {wall:.1f}s "
                   f"(prove={prove} ms, queue=0 ms)")
    total = (max(s["end"] for s in daemon.jobs.values()) - daemon.submitted[0][1]) / 1e6
    out += ["", "=== Batch Summary ===", f"total time:  {total:.1f}s", f"completed:   {done}",
            f"failed:      {len(daemon.submitted) - done}"]
    return "\n".join(out) + "\n"


def main():
    shape = {"jobs": 5, "partitions": 6, "concurrency": 3, "synth_slots": 8}
    sick = Daemon(1, late_free=True, **shape)
    (HERE / "late-free.log").write_text("\n".join(sick.run()) + "\n")
    (HERE / "late-free.bench").write_text(bench_text(sick, shape["concurrency"]))
    well = Daemon(2, late_free=False, **shape).run()
    (HERE / "two-workers.log").write_text("\n".join(well) + "\n")
    cut = "\n".join(well[: len(well) * 2 // 3])
    (HERE / "killed.log").write_text(cut[:-25])


if __name__ == "__main__":
    main()

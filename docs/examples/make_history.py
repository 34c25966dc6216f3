#!/usr/bin/env python3
"""Writes history.csv: ninety nightly runs of four phases, with a step that a commit made, one that
only the machine made, one that a commit won back, and a change of the work. Made up, seeded."""
import datetime
import os
import random

random.seed(5)
out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "history.csv")
start = datetime.date(2026, 1, 5)
commit = 0
with open(out, "w") as f:
    f.write("date,commit,phase,domain,ms\n")
    for night in range(90):
        # Between nights 56 and 66 nobody commits.
        if not 56 <= night <= 66:
            commit += 1
        day = start + datetime.timedelta(days=night)
        for phase, ms in (("ntt_msm_h", 845), ("batch_add", 656), ("tail_msm", 86), ("synth", 31000)):
            domain = 1 << 27
            level = ms
            if phase == "ntt_msm_h" and night >= 30:
                level *= 1.06
            if phase == "tail_msm" and night >= 45:
                level *= 0.91
            if night >= 60:
                level *= 1.03
            if phase == "synth" and night >= 75:
                domain, level = 1 << 26, level / 2.1
            value = level * random.gauss(1, 0.006)
            f.write(f"{day},{commit:07x},{phase},{domain},{value:.1f}\n")

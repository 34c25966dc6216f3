#!/usr/bin/env python3
"""Diagnoses every log of a folder of inputs and sets the result beside the truth.

    CUZK_INPUTS=inputs bench/diagnose_inputs.py target/release/cuzk > bench/results/NAME.txt

The folder holds `runs/*.log` with `*.truth.json` and `*.bench.txt` beside them, and `logs/*`.
A truth of `-` is a run without a failure; `replay` marks a cause that a log alone cannot show.
"""

import json
import os
import pathlib
import subprocess
import sys

REPLAY = {"vram.late_free", "host.stale_registration"}


def diagnose(cuzk, *args):
    command = [cuzk, "diagnose", "--format", "json", *map(str, args)]
    done = subprocess.run(command, capture_output=True, check=False)
    return json.loads(done.stdout), done.returncode


def root(said):
    for finding in said["findings"]:
        if finding["id"] == said["root"]:
            return f"{finding['code']} @ {finding['evidence'][0]['line']}"
    return "-"


def truth(path):
    cause = json.loads(path.read_text())["root_cause"]
    if not cause:
        return "-"
    mark = " (replay)" if cause["code"] in REPLAY else ""
    return f"{cause['code']} @ {cause['line']}{mark}"


def main():
    cuzk = sys.argv[1]
    folder = pathlib.Path(os.environ["CUZK_INPUTS"])
    print(f"{'log':28} {'verdict':20} exit  {'root @ line':28} truth")
    for log in sorted((folder / "runs").glob("*.log")):
        args = [log, log.with_suffix(".bench.txt")]
        if log.stem == "d05-head-slow_batch":
            args += ["--baseline", log.with_name("d05-head-base.log")]
        said, code = diagnose(cuzk, *args)
        known = truth(log.with_suffix(".truth.json"))
        print(f"{log.stem:28} {said['verdict']:20} {code:4}  {root(said):28} {known}")
    print()
    for log in sorted((folder / "logs").iterdir()):
        said, code = diagnose(cuzk, log)
        print(f"{log.stem[:28]:28} {said['verdict']:20} {code:4}  {root(said)}")


if __name__ == "__main__":
    main()

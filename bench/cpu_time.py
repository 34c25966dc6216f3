"""Runs commands in turn and prints the median CPU time of each.

`cpu_time.py ROUNDS [--per LINES] NAME=COMMAND...`

CPU time is user + system time of the whole process, as the kernel counts it for a child; the
commands take turns so that a noisy neighbour meets all of them. The first is the reference of the
ratios. Peak memory is the largest of all rounds.
"""

import os
import shlex
import statistics
import sys
import tempfile


def run(argv, environment):
    """User and system seconds and peak KiB of one run.

    Standard output goes to a file: grep stops at the first match when it is the null device.
    """
    output = tempfile.TemporaryFile()
    child = os.fork()
    if child == 0:
        os.dup2(output.fileno(), 1)
        os.execvpe(argv[0], argv, environment)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        sys.exit(f"{shlex.join(argv)} ended with {code}")
    return usage.ru_utime, usage.ru_stime, usage.ru_maxrss


def main():
    rounds = int(sys.argv[1])
    arguments = sys.argv[2:]
    lines = None
    if arguments[:1] == ["--per"]:
        lines = int(arguments[1])
        arguments = arguments[2:]
    commands = [argument.split("=", 1) for argument in arguments]
    environment = dict(os.environ, LC_ALL="C")
    results = {name: [] for name, _ in commands}
    for _ in range(rounds + 1):
        for name, command in commands:
            results[name].append(run(shlex.split(command), environment))
    reference = None
    heads = ["cpu s", "user s", "sys s", "least", "KiB", "ratio"]
    print(f"{'name':<12}", *(f"{head:>8}" for head in heads), "    M lines/s" if lines else "")
    for name, _ in commands:
        kept = results[name][1:]  # the first round warms the page cache
        cpu = statistics.median(u + s for u, s, _ in kept)
        least = min(u + s for u, s, _ in kept)
        user = statistics.median(u for u, _, _ in kept)
        system = statistics.median(s for _, s, _ in kept)
        peak = max(k for _, _, k in kept)
        reference = reference or cpu
        rate = f"{lines / cpu / 1e6:13.1f}" if lines else ""
        times = (f"{value:8.3f}" for value in (cpu, user, system, least))
        print(f"{name:<12}", *times, f"{peak:8d}", f"{cpu / reference:8.2f}", rate)


if __name__ == "__main__":
    main()

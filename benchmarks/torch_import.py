"""What anywarp adds to the start of Python and to `import torch`: plain against under `anywarp run`, alternated, many runs.

Prints milliseconds, of the clock and of processor time: the median of each side, and the median of the differences between
neighbours. On a busy machine only processor time tells, and it decides the exit code. Needs a CPU build of torch and its stand-in built (scripts/build).
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

from anywarp import settings
from anywarp.runtime import launch

CASES = {"python -c pass": ("pass", 100), "import torch": ("import torch", 20)}
LIMITS = {"python -c pass": 3.0, "import torch": 50.0}
"""Milliseconds that may be added."""


def seconds(code, environment):
    """Return the time on the clock and the processor time of one run."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", code], env=environment)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, f"python -c {code!r} ended with {child.returncode}"
    return time.perf_counter() - start, used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, help="pairs of runs per case")
    asked = parser.parse_args()
    plain = {
        k: v for k, v in settings.environment().items() if k != "PYTHONDONTWRITEBYTECODE"
    }  # as after an installation
    served = launch.environment("cpu", plain)
    print(f"{'':<16}{'':<12}{'plain ms':>10}{'anywarp ms':>12}{'added ms':>10}{'allowed':>9}{'ratio':>8}")
    too_slow = False
    for name, (code, runs) in CASES.items():
        seconds(code, served)  # compiled files, and a binary that was not compiled yet
        pairs = [(seconds(code, plain), seconds(code, served)) for _ in range(asked.runs or runs)]
        for which, kind in enumerate(("clock", "processor")):
            before, after = (statistics.median(each[which] for each in side) * 1e3 for side in zip(*pairs))
            added = statistics.median(b[which] - a[which] for a, b in pairs) * 1e3
            print(
                f"{name:<16}{kind:<12}{before:>10.1f}{after:>12.1f}{added:>10.1f}{LIMITS[name]:>9.0f}{after / before:>8.3f}"
            )
        too_slow |= added > LIMITS[name]
    return int(too_slow)


if __name__ == "__main__":
    sys.exit(main())

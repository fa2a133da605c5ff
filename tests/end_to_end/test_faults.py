"""A kernel that touches what is not there: the error code, who did it and where, in a process that lives."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

PROGRAM = Path(__file__).with_name("fault_at_lane.py")


@pytest.mark.parametrize("lane", [0, 1, 10, 17, 31])
def test_the_thread_of_a_fault_is_named(lane):
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, str(PROGRAM), str(lane)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    first, later, border = done.stdout.split()
    assert (first, later) == ("700", "700")  # the error sticks to the context
    assert f"kernel fill, block (0,0,0), thread ({lane},0,0): illegal memory access at {border}" in done.stderr

"""A kernel that touches what is not there: the error code, who did it and where, in a process that lives."""

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

PROGRAM = Path(__file__).with_name("fault_at_lane.py")


@pytest.mark.parametrize(
    "how, lane, threads",
    [
        *(("fill", lane, 32) for lane in (0, 1, 10, 17, 31)),
        *(("fill", lane, 256) for lane in (33, 100, 255)),
        *(("alone", lane, 128) for lane in (5, 40, 127)),
        *(("scattered", lane, 64) for lane in (5, 40, 63)),
        ("alone", 77, 96), ("scattered", 77, 96), ("scattered", 500, 512), ("flushing", 7, 64),
    ],
)  # fmt: skip
def test_the_thread_of_a_fault_is_named(how, lane, threads):
    border, said = run(how, lane, threads)
    assert f"kernel {how}, block (0,0,0), thread ({lane},0,0): illegal memory access at {border:#x}" in said


@pytest.mark.parametrize("which", ["first", "second", "third"])
@pytest.mark.parametrize("lane, threads", [(3, 256), (38, 256), (255, 256), (20, 77), (70, 77)])
def test_of_several_accesses_the_one_that_ran_over_the_end_is_named(which, lane, threads):
    """With a thread that did: those behind it do, too, and loads may be begun in any order."""
    border, said = run(which, lane, threads)
    found = re.search(rf"kernel {which}, block \(0,0,0\), thread \((\d+),0,0\): illegal memory access at (\w+)", said)
    assert found, said
    thread, address = int(found[1]), int(found[2], 16)
    assert lane <= thread < threads and address == border + 4 * (thread - lane)


def run(how, lane, threads):
    """Return the address that nothing may touch, and what was said."""
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, str(PROGRAM), how, str(lane), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    first, later, border = done.stdout.split()
    assert (first, later) == ("700", "700")  # the error sticks to the context
    return int(border, 16), done.stderr


@pytest.mark.parametrize("size", [16, 1 << 16, 1 << 24])
def test_an_assertion_fails_with_its_words_wherever_the_module_lies(size):
    """cuda.h: CUDA_ERROR_ASSERT is 710. The texts lie in the module's data, which may be far up."""
    program = Path(__file__).with_name("failed_assertion.py")
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, str(program), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "710\n", done.stderr
    assert "kernel.cu:42: check: block: [0,0,0]" in done.stderr
    assert "Assertion `n < 7` failed" in done.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names a rounding of x86")
def test_kernels_round_as_they_say_whatever_the_thread_has_set():
    """1/3 lies nearer to 0x3EAAAAAB than to the number below it."""
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, str(PROGRAM.with_name("float_control.py"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "3eaaaaab True\n" * 3, done.stderr

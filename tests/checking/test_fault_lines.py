"""A kernel that fails, without any checks, names the line of the source where it did."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

HERE = Path(__file__).parent
SOURCE = (HERE / "cases" / "failing.cu").read_text().splitlines()
PTX = (HERE / "cases" / "failing.ptx").read_text().splitlines()


def line_of(text):
    """Return the number of the one line of the source that holds `text`."""
    (found,) = [number for number, line in enumerate(SOURCE, 1) if text in line]
    return found


def run(kernel):
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, str(HERE / "run_failing.py")]
    done = subprocess.run(
        [*command, str(HERE / "cases"), kernel], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout.strip(), done.stderr


def in_ptx(words):
    """Return the line of PTX that a message names."""
    number = int(words.rpartition(", line ")[2].partition(" of the PTX)")[0])
    return PTX[number - 1].strip()


def test_a_load_that_faults_names_its_line_and_the_call_it_was_inlined_at():
    status, words = run("reads_nothing")
    assert status == "700"
    place = f"(failing.cu:{line_of('return p[i]')} (inlined at failing.cu:{line_of('// the call')}), line "
    assert place in words, words
    assert in_ptx(words).startswith("ld.global")


def test_a_store_that_faults_names_its_line():
    status, words = run("writes_nothing")
    assert status == "700"
    assert "illegal memory access at 0x" in words
    assert f"(failing.cu:{line_of('for (int i = 0')}, line " in words, words
    assert in_ptx(words).startswith("st.global")


def test_a_trap_names_its_line():
    status, words = run("traps")
    assert status == "719"
    assert f"trap (failing.cu:{line_of('__trap')}, line " in words, words
    assert "trap;" in in_ptx(words)


def test_a_deadlock_names_a_thread_that_waits_and_its_line():
    status, words = run("waits")
    assert status == "719"
    assert "thread (32,0,0): threads wait at barrier 2 that the others never reach" in words, words
    assert f"(failing.cu:{line_of('bar.sync 2')}, line " in words
    assert "bar.sync" in in_ptx(words)

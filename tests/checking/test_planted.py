"""Twenty-seven kernels with one mistake each, all run in one program: every mistake is found, at its line, and the program goes on."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

HERE = Path(__file__).parent
BUG = re.compile(r"// BUG (\w+): (.*)")
KERNEL = re.compile(r"__global__ void (\w+)")


def planted():
    """Yield (kernel, line, check, kind) for every mark in the source, which is where the mistakes are written down."""
    kernel = ""
    for number, line in enumerate((HERE / "cases" / "planted.cu").read_text().splitlines(), 1):
        found = KERNEL.search(line)
        kernel = found.group(1) if found else kernel
        mark = BUG.search(line)
        if mark:
            yield kernel, number, mark.group(1), mark.group(2)


PLANTED = list(planted())

FIRST = {  # the block and thread that come to the mistake first, from what each kernel computes
    "past_the_end_write": ("(1,0,0)", "(36,0,0)"),
    "past_the_end_read": ("(0,0,0)", "(99,0,0)"),
    "negative_index": ("(0,0,0)", "(0,0,0)"),
    "shared_overrun": ("(0,0,0)", "(56,0,0)"),
    "dynamic_shared_overrun": ("(0,0,0)", "(50,0,0)"),
    "variable_overrun": ("(0,0,0)", "(29,0,0)"),
    "atomic_out_of_bounds": ("(0,0,0)", "(16,0,0)"),
    "pitch_overrun": ("(0,0,0)", "(0,3,0)"),
    "partly_initialised": ("(0,0,0)", "(50,0,0)"),
    "plain_counter": ("(0,0,0)", "(32,0,0)"),
    "missing_syncwarp": ("(0,0,0)", "(0,0,0)"),
    "unready_counters": ("(0,0,0)", "(64,0,0)"),
}
THREADS = {  # how many threads do wrong at the place: counted by hand
    "past_the_end_write": 1, "past_the_end_read": 1, "negative_index": 1, "misaligned_vector": 32, "use_after_free": 32,
    "shared_overrun": 8, "dynamic_shared_overrun": 14, "variable_overrun": 3, "pitch_overrun": 20,
    "uninitialised_global": 64, "partly_initialised": 14, "missing_syncwarp": 32, "write_to_constant": 32,
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    report = tmp_path_factory.mktemp("checking") / "found.json"
    command = [sys.executable, "-m", "anywarp", "run", "--check", "memory,race", "--check", "init,sync"]
    command += ["--check-report", str(report), "--", sys.executable, str(HERE / "run_planted.py"), str(HERE / "cases")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done, json.loads(report.read_text())


def at(found, kernel, line):
    """Return the findings of a kernel at a line of the source, or inlined there."""
    place = f"planted.cu:{line}"
    return [
        f for f in found["findings"] if f["kernel"] == kernel and place in (f"{f['file']}:{f['line']}", f["inlined_at"])
    ]


def test_there_are_at_least_twenty():
    assert len(PLANTED) >= 20
    assert len({kernel for kernel, *_ in PLANTED}) == len(PLANTED)


@pytest.mark.parametrize(("kernel", "line", "check", "kind"), PLANTED, ids=[p[0] for p in PLANTED])
def test_a_planted_mistake_is_found_where_it_is(run, kernel, line, check, kind):
    found = [f for f in at(run[1], kernel, line) if f["check"] == check and f["kind"] == kind]
    assert len(found) == 1, run[0].stderr
    if kernel in FIRST:
        assert (found[0]["block"], found[0]["thread"]) == FIRST[kernel]
    if kernel in THREADS:
        assert found[0]["count"] == THREADS[kernel]


def test_nothing_else_is_found(run):
    """Every finding lies in a planted kernel and is of the check whose mistake it holds."""
    checks = {kernel: check for kernel, _, check, _ in PLANTED}
    for finding in run[1]["findings"]:
        assert finding["check"] == checks[finding["kernel"]], finding


def test_what_an_access_does_wrong_is_left_out_and_the_rest_done(run):
    assert "past_the_end_write True" in run[0].stdout
    assert "past_the_end_read True" in run[0].stdout


def test_the_exit_code_and_the_words_say_it(run):
    done = run[0]
    assert done.returncode == 1
    assert "right behind the end of the allocation of 400 bytes" in done.stderr
    assert "which was freed" in done.stderr
    assert re.search(r"anywarp: check \(init, memory, race, sync\): \d+ places", done.stderr)

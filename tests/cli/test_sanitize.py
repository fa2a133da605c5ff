"""`compute-sanitizer` inside `anywarp run`: its tools, words and exit codes, which scripts rely on."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from anywarp.cli import sanitize

pytestmark = pytest.mark.native

CHECKING = Path(__file__).resolve().parents[1] / "checking"
PLANTED = [
    sys.executable,
    CHECKING / "run_planted.py",
    CHECKING / "cases",
]  # wrong accesses end it where they are not checked
ONE_EACH = f"""
import sys
sys.path.insert(0, {str(CHECKING)!r})
from driver import Driver
d = Driver()
module, out = d.module({str(CHECKING / "cases/planted.ptx")!r}), d.upload(bytes(4096))
for name, arguments, threads in (
    ("missing_syncwarp", [out], 32), ("uninitialised_global", [d.allocate(256), out], 64), ("barrier_of_half_a_warp", [out], 64),
):
    d.launch(d.function(module, name), (1,), (threads,), arguments)
    d.call("cuCtxSynchronize")
"""


def sanitized(*arguments):
    command = [sys.executable, "-m", "anywarp", "run", "--", "compute-sanitizer", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    "tool, pattern, summary",
    [
        (
            "memcheck",
            r"========= Invalid __global__ write of size 4 bytes\n=========     at past_the_end_write in .*planted\.cu:\d+\n"
            r"=========     by thread \(36,0,0\) in block \(1,0,0\)\n=========     Address 0x[0-9a-f]+ is out of bounds\n",
            r"ERROR SUMMARY: [1-9]\d+ errors",
        ),
        (
            "initcheck",
            r"========= Uninitialized __global__ memory read of size 4 bytes\n=========     at uninitialised_global in ",
            r"ERROR SUMMARY: [1-9]\d+ errors",
        ),
        (
            "racecheck",
            r"========= Error: Race reported between (Read|Write) access at missing_syncwarp in .*planted\.cu:\d+\n",
            r"RACECHECK SUMMARY: 1 hazard displayed \(1 error, 0 warnings\)",
        ),
        (
            "synccheck",
            r"========= Barrier error detected\. .*\n=========     at barrier_of_half_a_warp in planted.cu:159\n",
            r"ERROR SUMMARY: 2 errors",
        ),
    ],
)
def test_each_tool_tells_of_its_mistakes(tool, pattern, summary):
    program = PLANTED if tool == "memcheck" else [sys.executable, "-c", ONE_EACH]
    done = sanitized("--tool", tool, "--target-processes", "all", "--error-exitcode", "99", *program)
    assert done.returncode == 99, done.stderr[-2000:]
    assert re.search(pattern, done.stdout), done.stdout[:3000]
    assert re.search(f"^========= {summary}$", done.stdout, re.MULTILINE)
    other = {"memcheck": "Uninitialized", "initcheck": "Invalid", "racecheck": "Invalid", "synccheck": "Race"}[tool]
    assert other not in done.stdout


def test_the_exit_code_is_the_programs_unless_one_is_asked_for(tmp_path):
    log = tmp_path / "log"
    done = sanitized("--log-file", log, "--print-limit", "1", "--kernel-name", "kns=overrun", *PLANTED)
    assert done.returncode == 0
    assert "=========" not in done.stdout  # it is in the file
    told = log.read_text()
    assert told.count("by thread") == 1
    assert "=========     at shared_overrun in" in told
    assert "more places are not shown" in told
    assert "in_bounds" not in told


def test_a_program_without_cuda_is_told():
    ended = [sys.executable, "-c", "raise SystemExit(3)"]
    done = sanitized(*ended)
    assert (done.returncode, done.stdout.splitlines()[1]) == (3, "========= Error: no process of the command used CUDA")
    assert sanitized("--error-exitcode", "7", *ended).returncode == 7
    done = sanitized("--require-cuda-init", "no", "--error-exitcode", "7", *ended)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (3, "========= ERROR SUMMARY: 0 errors")


LEAKS = f"""
import ctypes, sys
sys.path.insert(0, {str(CHECKING)!r})
from driver import Driver
d = Driver()
def got(function, *arguments):
    place = ctypes.c_uint64()
    d.call(function, ctypes.byref(place), *arguments)
    return place
size = ctypes.c_size_t
kept, given, again = got("cuMemAlloc_v2", size(1000)), got("cuMemAlloc_v2", size(2000)), got("cuMemAllocAsync", size(500), None)
for function, *arguments in (("cuMemAllocManaged", size(3000), 1), ("cuMemAllocAsync", size(4194304), None), ("cuMemHostAlloc", size(500), 0)):
    got(function, *arguments)
d.call("cuMemFree_v2", given)
d.call("cuMemFreeAsync", again, None)
d.call("cuCtxSynchronize")
if sys.argv[1:]:
    d.call("cuMemFree_v2", kept)
    if sys.argv[1] == "reset":
        d.call("cuDevicePrimaryCtxReset_v2", 0)
"""


@pytest.mark.parametrize("ending, least", [([], 1000), (["free"], None), (["reset"], None)])
def test_memory_that_is_not_given_back_is_told(ending, least):
    program = [sys.executable, "-c", LEAKS, *ending]
    done = sanitized("--leak-check", "full", "--error-exitcode", "9", *program)
    sizes = [
        int(size.replace(",", ""))
        for size in re.findall(r"^========= Leaked ([\d,]+) bytes at 0x", done.stdout, re.MULTILINE)
    ]
    assert sizes == [*([least] if least else []), 3000, 4194304, 500], done.stdout + done.stderr
    assert "Leaked 4,194,304 bytes at 0x" in done.stdout and "=========     allocated by cuMemAllocAsync" in done.stdout
    last = done.stdout.splitlines()[-2:]
    assert last == [
        f"========= LEAK SUMMARY: {sum(sizes)} bytes leaked in {len(sizes)} allocations",
        f"========= ERROR SUMMARY: {len(sizes)} errors",
    ]
    assert done.returncode == 9
    assert sanitized("--error-exitcode", "9", *program).returncode == 0


def test_no_leak_is_told_too_and_fewer_are_shown_than_counted():
    none = sanitized(
        "--leak-check",
        "full",
        "--error-exitcode",
        "9",
        sys.executable,
        "-c",
        LEAKS.partition("for function")[0].rpartition("kept")[0],
    )
    assert (none.returncode, none.stdout.splitlines()[-2:]) == (
        0,
        ["========= LEAK SUMMARY: 0 bytes leaked in 0 allocations", "========= ERROR SUMMARY: 0 errors"],
    )
    done = sanitized("--leak-check", "full", "--print-limit", "1", sys.executable, "-c", LEAKS)
    assert (done.returncode, done.stdout.count("Leaked"), "3 more allocations not shown" in done.stdout) == (0, 1, True)
    assert done.stdout.splitlines()[-1] == "========= ERROR SUMMARY: 4 errors"


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--leak-check", "full", "--tool", "racecheck"], "--tool memcheck"),
        (["--xml"], "--xml"),
        (["--kernel-regex", "regex=("], "is no pattern"),
        (["-k", "scale"], "none of kne=NAME"),
    ],
)
def test_what_is_not_served_is_refused_by_name(arguments, said):
    result = CliRunner().invoke(sanitize.command, [*arguments, "true"])
    assert result.exit_code == 2
    assert said in result.output


def test_another_device_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "anywarp", "sanitize", "true"],
        capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "ANYWARP_DEVICE": "hip"},
    )  # fmt: skip
    assert done.returncode == 2
    assert "R028" in done.stderr

"""The driver library, the compile service and the cache together: warm runs, damaged caches, services that die."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anywarp.runtime.cache import Cache
from fakes.services import services

pytestmark = pytest.mark.native

PROGRAM = Path(__file__).with_name("driver_program.py")


def ptx(kernels: int) -> str:
    body = """
.visible .entry add{n}(.param .u64 out) {{
    .reg .b64 %rd<4>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, {n};
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd2, %rd2, %rd3;
    st.global.u32 [%rd2], %r2;
    ret;
}}
"""
    return ".version 7.8\n.target sm_80\n.address_size 64\n" + "".join(body.format(n=n) for n in range(kernels))


@pytest.fixture
def file(place, monkeypatch):
    """A PTX file with three kernels, a fresh cache and the real compiler's identity."""
    monkeypatch.delenv("ANYWARP_BUILD_ID")
    path = place / "kernels.ptx"
    path.write_text(ptx(3))
    return path


def command(file, kernels=3, threads=48, *options):
    return [
        sys.executable,
        "-m",
        "anywarp",
        "run",
        *options,
        "--",
        sys.executable,
        PROGRAM,
        file,
        str(kernels),
        str(threads),
    ]


def run(file, *options, **environment):
    return subprocess.run(
        command(file, 3, 48, *options), capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


def kernels_of(report: Path) -> dict[str, tuple[int, int]]:
    return {k["name"]: (k["compiled"], k["cached"]) for k in json.loads(report.read_text())["kernels"]}


def test_a_warm_run_compiles_nothing_and_starts_no_interpreter(file, place):
    report = place / "report.json"
    cold = run(file, "--report", str(report))
    assert (cold.stdout, cold.stderr) == ("right\n", "")
    assert kernels_of(report) == {f"add{n}": (1, 0) for n in range(3)}
    warm = run(file, "--report", str(report), ANYWARP_PYTHON="/bin/false", XDG_RUNTIME_DIR="/nonexistent")
    assert (warm.stdout, warm.stderr) == ("right\n", "")
    assert kernels_of(report) == {f"add{n}": (0, 1) for n in range(3)}


def test_what_is_warmed_ahead_is_found_by_the_library(file, place):
    warm = [sys.executable, "-m", "anywarp", "cache", "warm", "--block", "48", file]
    done = subprocess.run(warm, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("3 compiled"), done.stderr
    report = place / "report.json"
    assert run(file, "--report", str(report)).stdout == "right\n"
    assert kernels_of(report) == {f"add{n}": (0, 1) for n in range(3)}


def test_damaged_entries_heal(file, place):
    assert run(file).stdout == "right\n"
    cache = Cache(place / "cache", 1 << 30)
    sizes = {entry.path: entry.size for entry in cache.entries()}
    for number, path in enumerate(sorted(sizes)):
        data = path.read_bytes()
        path.write_bytes((data[:60] + b"\xff" + data[61:], data[:-1], b"")[number % 3])
    assert run(file).stdout == "right\n"
    assert {entry.path for entry in cache.entries()} == set(sizes)
    assert all(cache.get(path.name) for path in sizes)


def test_without_a_place_for_the_cache_it_runs_and_says_so_once(file, place):
    (place / "cache").rmdir() if (place / "cache").exists() else None
    (place / "cache").write_text("in the way")
    done = run(file)
    assert done.stdout == "right\n"
    assert done.stderr.count("R001") == 1, done.stderr


@pytest.mark.parametrize(("option", "words"), [("size=8k", "No space left"), ("ro", "Read-only file system")])
def test_a_full_and_a_read_only_file_system_are_survived(file, place, option, words):
    (place / "cache").mkdir(mode=0o700, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"mode=700,{option}", "tmpfs", place / "cache"]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        done = run(file)
    finally:
        subprocess.run(["umount", "--lazy", place / "cache"], check=True)
    assert done.stdout == "right\n"
    assert done.stderr.count("R001") == 1 and words in done.stderr


def test_two_programs_at_once_share_the_work(file, place):
    reports = [place / "one.json", place / "two.json"]
    children = [
        subprocess.Popen(
            command(file, 3, 48, "--report", str(r)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for r in reports
    ]
    for child in children:
        out, err = child.communicate(timeout=120)
        assert (child.returncode, out, err) == (0, "right\n", "")
    assert len(list(Cache(place / "cache", 1 << 30).entries())) == 4  # three kernels and the module's description


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.2])
def test_a_service_killed_in_mid_flight_is_replaced(place, file, delay):
    file.write_text(ptx(24))
    child = subprocess.Popen(command(file, 24), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _kill_service_after_first_kernel(place, delay)
    out, err = child.communicate(timeout=120)
    assert (child.returncode, out) == (0, "right\n"), err


def _kill_service_after_first_kernel(place: Path, delay: float) -> None:
    cache, deadline = Cache(place / "cache", 1 << 30), time.monotonic() + 60
    while len(list(cache.entries())) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(delay)
    [lock] = (place / "run").resolve().rglob("*.lock")
    for pid in services(lock.with_suffix(".sock")):
        os.kill(pid, signal.SIGKILL)


def test_an_interpreter_that_cannot_compile_is_an_error_that_says_so(file, place):
    done = run(file, ANYWARP_PYTHON="/bin/false")
    assert done.returncode == 1 and "CUDA error" in done.stderr and "/bin/false" in done.stderr

"""The report of a run: files of several processes added up, damage counted and not believed."""

import json
import subprocess
import sys

import pytest

from anywarp.cli.summary import summary_text
from anywarp.runtime.report import read

FIRST = """process\t10\tpython train.py
device\tcpu: a processor
call\tcuInit\t1
call\tcuLaunchKernel\t5
kernel\tadd%09vector\t3\t1\t0\t120.5
kernel\tmul\t2\t0\t1\t0
absent\tcuTexRefCreate\t2
diagnostic\terror[C001]: no%0Ahelp: none
memory\t1048576
"""
SECOND = """process\t11\t./child --fast
device\tcpu: a processor
call\tcuLaunchKernel\t4
kernel\tmul\t4\t1\t0\t30
memory\t4194304
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "10-1.tsv").write_text(FIRST)
    (tmp_path / "11-2.tsv").write_text(SECOND)
    (tmp_path / "notes.txt").write_text("call\tcuInit\t99\n")
    return tmp_path


def test_processes_are_added_up(folder):
    report = read(folder)
    assert report.calls == {"cuInit": 1, "cuLaunchKernel": 9}
    assert report.absent == {"cuTexRefCreate": 2}
    assert (report.kernels["mul"].launches, report.kernels["mul"].compiled, report.kernels["mul"].cached) == (6, 1, 1)
    assert report.kernels["add\tvector"].compile_ms == 120.5
    assert report.peak_memory == 4 << 20
    assert report.processes == [(10, "python train.py"), (11, "./child --fast")]
    assert report.devices == ["cpu: a processor"] and report.damaged == 0


@pytest.mark.parametrize(
    "line", ["call\tcuInit", "call\tcuInit\tmany", "kernel\tk\t1\t2", "novelty\t1", "", "\x00\xff"]
)
def test_a_damaged_line_is_counted_and_the_rest_kept(folder, line):
    with open(folder / "10-1.tsv", "a") as file:
        file.write(f"{line}\ncall\tcuInit\t1\n")
    report = read(folder)
    assert report.damaged == 1 and report.calls["cuInit"] == 2


def test_the_json_form_is_json(folder):
    content = json.loads(json.dumps(read(folder).as_json()))
    assert content["unsupported"] == {"cuTexRefCreate": 2}
    assert content["kernels"][0] == {"name": "mul", "launches": 6, "compiled": 1, "cached": 1, "compile_ms": 30.0}


def test_the_summary_names_what_counts_and_fits_a_screen(folder):
    text = summary_text(read(folder), "cpu")
    for part in (
        "cpu: a processor",
        "2 compiled in 0.15 s, 1 from the cache, 9 launches",
        "cuTexRefCreate",
        "error[C001]",
        "4.0 MiB",
    ):
        assert part in text
    (folder / "12-3.tsv").write_text(
        "".join(f"call\tcu{n}\t1\nabsent\tcux{n}\t1\nkernel\tk{n}\t1\t1\t0\t1\n" for n in range(500))
    )
    assert len(summary_text(read(folder), "cpu").splitlines()) <= 45


def test_a_run_that_never_used_cuda_says_so(tmp_path):
    assert "no process" in summary_text(read(tmp_path), "cpu")


WRITER = """
import os, pathlib
pathlib.Path(os.environ["ANYWARP_REPORT_DIR"], f"{os.getpid()}-0.tsv").write_text("call\\tcuInit\\t1\\nprocess\\t1\\tx\\n")
"""


def test_run_writes_the_report_and_passes_the_exit_code(tmp_path, monkeypatch):
    (tmp_path / "libcuda.so.1").write_bytes(b"")
    monkeypatch.setenv("ANYWARP_LIBRARY_DIR", str(tmp_path))
    place = tmp_path / "report.json"
    script = f"{WRITER}\nraise SystemExit(3)"
    command = [
        sys.executable,
        "-m",
        "anywarp",
        "run",
        "--report",
        place,
        "--summary",
        "--",
        sys.executable,
        "-c",
        script,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 3 and "cuInit" in done.stderr
    content = json.loads(place.read_text())
    assert (content["exit_code"], content["calls"], content["device"]) == (3, {"cuInit": 1}, "cpu")


def test_a_report_without_a_place_fails_before_the_run(tmp_path, monkeypatch):
    (tmp_path / "libcuda.so.1").write_bytes(b"")
    monkeypatch.setenv("ANYWARP_LIBRARY_DIR", str(tmp_path))
    command = [
        sys.executable,
        "-m",
        "anywarp",
        "run",
        "--report",
        tmp_path / "no" / "r.json",
        "--",
        "touch",
        tmp_path / "ran",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "error[L001]" in done.stderr and not (tmp_path / "ran").exists()

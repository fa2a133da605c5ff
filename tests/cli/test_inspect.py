"""`anywarp inspect` prints what it found for people and for programs, and its exit code says whether all of it can run."""

import json
import time

import pytest

from anywarp.cli import inspect as verb
from anywarp.cli import main
from anywarp.ptx import inspect
from fakes.gpu_images import CUBIN, cubin, elf, fatbin, image, ptx


@pytest.fixture(autouse=True)
def only_wgmma_is_lacking(monkeypatch):
    monkeypatch.setattr(inspect, "supports", lambda opcode, modifiers: opcode != "wgmma")


def run(tmp_path, data, *options):
    path = tmp_path / "k.fatbin"
    path.write_bytes(data)
    return main.call(["inspect", str(path), *options])


def test_all_can_run(tmp_path, capsys):
    assert run(tmp_path, fatbin(image(ptx("one", "two"), compress="zstd"), image(cubin(["one", "two"]), CUBIN))) == 0
    streams = capsys.readouterr()
    assert streams.err == ""
    assert streams.out.splitlines() == [
        "k.fatbin: 2 kernels, 2 can run",
        "  kind   target  PTX version  compression  images  kernels",
        "  cubin  sm_80   -            none         1       2",
        "  ptx    sm_80   8.0          zstd         1       2",
    ]


def test_findings(tmp_path, capsys):
    data = fatbin(image(ptx("bad", body="wgmma.x;")), image(cubin(["bad", "sass"]), CUBIN))
    assert run(tmp_path, data, "--kernels") == 1
    out = capsys.readouterr().out
    assert "2 kernels, 0 can run; 1 need what anywarp lacks; 1 have machine code for NVIDIA only" in out
    assert "  wgmma.x  1\n" in out
    assert "  bad     sm_80  no    wgmma.x\n" in out and "  sass    -      no    -\n" in out


def test_json(tmp_path, capsys):
    assert run(tmp_path, fatbin(image(ptx("bad", body="wgmma.x;"))), "--format", "json") == 1
    (part,) = json.loads(capsys.readouterr().out)["parts"]
    assert part["missing"] == {"wgmma.x": 1} and part["kernels"] == 1 and part["run"] == 0
    assert part["details"] == [{"name": "bad", "sass": [], "ptx": "sm_80", "runs": False, "lacks": ["wgmma.x"]}]


def test_no_gpu_code_is_fine(tmp_path, capsys):
    assert run(tmp_path, elf({".text": b""})) == 0
    assert "no GPU code" in capsys.readouterr().out


def test_damage_is_told(tmp_path, capsys):
    assert run(tmp_path, fatbin(image(ptx("k")), image(b"garbage", arch=70)), "--format", "json") == 2
    streams = capsys.readouterr()
    assert "error[P007]" in streams.err
    assert json.loads(streams.out)["parts"][0]["problems"][0]["code"] == "P007"


def test_what_cannot_be_read(tmp_path, capsys):
    assert main.call(["inspect", str(tmp_path / "missing")]) == 2
    assert "error[P027]" in capsys.readouterr().err


def test_tables_in_a_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    verb._table(("kernel", "lacks"), [("[bold]k", "-")])
    out = capsys.readouterr().out
    assert "[bold]k" in out and "─" in out


def test_progress_waits(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    shown = []
    monkeypatch.setattr(verb.Bar, "update", lambda self, task, **kw: shown.append(kw["visible"]))
    with verb._progress("reading") as step:
        step(1, 10)
        now[0] = 3.0
        step(2, 10)
    assert shown == [False, True]

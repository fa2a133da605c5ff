"""`anywarp assess`: what it prints, writes and returns."""

import json
import os
import stat

import pytest

from anywarp.cli import assess as verb
from anywarp.cli import main


@pytest.fixture
def tree(tmp_path, monkeypatch):
    root = tmp_path / "tree"
    (root / "deploy").mkdir(parents=True)
    (root / "a.cu").write_text("#include <cuda_runtime.h>\nint main() { cudaFree(0); }\n")
    (root / "bad.cu").write_text("void f() { cudaGraphConditionalHandleCreate(0, 0, 0, 0); }\n")
    monkeypatch.chdir(tmp_path)
    return root


TARGET = ("--target", "hip:gfx942", "--rocm", "7.1")


def test_it_says_what_is_found_and_what_to_type_next(tree, capsys):
    assert main.call(["assess", "tree", *TARGET]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("anywarp assess: tree, for hip:gfx942, ROCm 7.1\n2 files")
    assert "cudaGraphConditionalHandleCreate: no path yet" in out and "tree/bad.cu:1" in out
    assert out.splitlines()[-1] == "  anywarp translate tree -o translated --target hip:gfx942 --rocm 7.1"
    assert all(line.startswith("anywarp assess: read ") for line in err.splitlines())  # progress, on a slow machine


def test_exit_codes(tree, capsys):
    assert main.call(["assess", "tree", *TARGET, "--fail-on", "no-path"]) == 1
    assert main.call(["assess", "tree", *TARGET, "--fail-on", "replace"]) == 0
    assert main.call(["assess", "tree", *TARGET, "--fail-on", "no-path", "--exclude", "bad.*"]) == 0
    assert main.call(["assess", "nowhere"]) == 2
    assert "M011" in capsys.readouterr().err
    assert main.call(["assess", "tree", "--target", "quantum"]) == 2
    assert "M001" in capsys.readouterr().err
    assert main.call(["assess"]) == 2


def test_only_what_a_baseline_lacks_fails(tree, capsys):
    assert main.call(["assess", "tree", *TARGET, "--format", "json", "-o", "base.json"]) == 0
    again = ["assess", "tree", *TARGET, "--fail-on", "no-path", "--baseline", "base.json"]
    assert main.call(again) == 0
    text = (tree / "bad.cu").read_text()
    (tree / "bad.cu").write_text("\n\n// moved\n" + text)
    assert main.call(again) == 0
    (tree / "new.cu").write_text(text)
    assert main.call(again) == 1
    assert "new findings: no path yet" in capsys.readouterr().err
    assert main.call(["assess", "tree", "--baseline", "tree/a.cu"]) == 2
    assert "M012" in capsys.readouterr().err


def test_reports_are_written_whole_and_replace_links_targets_not_links(tree, tmp_path, capsys):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    assert main.call(["assess", "tree", *TARGET, "--format", "json", "-o", "link.json", "--html", "r.html"]) == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["format"] == "anywarp-assess"
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.json", "r.html", "real.json", "tree"]
    assert capsys.readouterr() == ("", "")


def test_a_device_is_written_to_and_never_replaced(tree):
    before = os.stat("/dev/null")
    assert stat.S_ISCHR(before.st_mode)
    assert main.call(["assess", "tree", *TARGET, "-o", "/dev/null"]) == 0
    after = os.stat("/dev/null")
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


def test_a_report_that_cannot_be_written_is_an_error(tree, capsys):
    assert main.call(["assess", "tree", "-o", "no/such/folder.json"]) == 2
    assert "L001" in capsys.readouterr().err


def test_json_and_sarif_go_to_stdout_and_problems_to_stderr(tree, capsys):
    (tree / "huge.cu").touch()
    os.truncate(tree / "huge.cu", 200_000_000)
    assert main.call(["assess", "tree", *TARGET, "--format", "json"]) == 2
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert [p["code"] for p in report["problems"]] == ["M003"] and "M003" in err
    assert {f["path"] for f in report["findings"]} == {"tree/a.cu", "tree/bad.cu"}
    assert main.call(["assess", "tree", *TARGET, "--format", "sarif"]) == 2
    levels = {r["level"] for r in json.loads(capsys.readouterr().out)["runs"][0]["results"]}
    assert levels == {"note", "error"}


def test_nothing_to_find_is_said(tmp_path, capsys):
    (tmp_path / "x.txt").write_text("nothing")
    assert main.call(["assess", str(tmp_path), "--no-cache"]) == 0
    assert "nothing found that depends on CUDA" in capsys.readouterr().out


def test_long_reading_is_told_on_stderr(tree, capsys, monkeypatch):
    monkeypatch.setattr(verb, "_PATIENCE", -1.0)
    monkeypatch.setattr(verb, "_LINE_EVERY", 0.0)
    assert main.call(["assess", "tree", *TARGET, "-o", "out.txt"]) == 0
    out, err = capsys.readouterr()
    assert out == "" and err.splitlines()[-1] == "anywarp assess: read 2 of 2 files"


def test_a_file_that_could_not_be_looked_into_is_in_the_headline_and_the_exit_code(tree, capsys):
    (tree / "huge.cu").touch()
    os.truncate(tree / "huge.cu", 200_000_000)
    assert main.call(["assess", "tree", *TARGET]) == 2
    assert capsys.readouterr().out.splitlines()[2].startswith("could not look into 1 of them")
    assert main.call(["assess", "tree", *TARGET, "--fail-on", "no-path"]) == 1
    assert main.call(["assess", "tree", *TARGET, "--exclude", "huge.cu"]) == 0

"""The self-test: what it asks of the device `cpu`, and what it makes of wrong answers, refusals, and processes that are lost."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anywarp.check import answering, selftest, suites
from anywarp.check.machine import DriverError
from anywarp.check.selftest import Answer, Device
from anywarp.cli.main import call


@pytest.mark.native
def test_the_processor_answers_everything_right(tmp_path, capsys):
    report = tmp_path / "report.json"
    assert call(["selftest", "--device", "cpu", "--every", "150", "--report", str(report), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["passed"] and told["problems"] == []
    assert {suite: set(count) for suite, count in told["counts"].items()} == {
        suite: {"passed"} for suite in suites.SUITES
    }
    whole = json.loads(report.read_text())
    assert whole["counts"] == told["counts"] and whole["machine"] and whole["found"]["cuda"] >= 13000


@pytest.mark.native
def test_modules_of_the_working_folder_and_of_the_programs_path_are_not_ours(tmp_path):
    for name in ("numpy", "json", "selectors", "anywarp", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of the program')\n")
    command = [str(Path(sys.executable).with_name("anywarp")), "selftest", "--device", "cpu", "--every", "2000"]
    for path in ({}, {"PYTHONPATH": str(tmp_path)}):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | path
        if path:
            (tmp_path / "sitecustomize.py").unlink()  # it ends the command itself, before any of ours
            (tmp_path / "json.py").unlink()
            (tmp_path / "selectors.py").unlink()
            (tmp_path / "anywarp.py").unlink()
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.native
def test_a_device_without_a_driver_library_cannot_be_asked(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("ANYWARP_LIBRARY_DIR", str(tmp_path))
    assert call(["selftest", "--device", "cpu"]) == 2
    assert "R020" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(tmp_path, capsys):
    assert call(["selftest", "--report", str(tmp_path / "no" / "report.json")]) == 2
    assert "L001" in capsys.readouterr().err


def test_every_row_of_the_table_is_asked():
    asked = sum(q.count for q in suites.questions("instructions") if q.name.endswith("instructions"))
    assert asked == len(suites.ROWS)
    for question in suites.questions("instructions"):
        assert question.count == len(question.parts)


def question(ask, parts=()):
    return suites.Question("programs", "one", ask, max(1, len(parts)), parts)


def answers(asked, monkeypatch, first=0, part=-1):
    """What the child writes when its suite has these questions."""
    out = io.StringIO()
    machine = type("Machine", (), {"name": "toy", "memory": 1, "version": 13000})
    monkeypatch.setattr(answering, "Machine", machine)
    monkeypatch.setattr(answering, "questions", lambda suite, every: iter(asked))
    answering.main("programs", 1, first, part, out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def failing(code):
    def ask(machine):
        raise DriverError("cuLaunchKernel", code, "CUDA_ERROR")

    return ask


def test_a_wrong_value_a_refusal_and_a_right_answer_are_told_apart(monkeypatch):
    asked = [question(lambda m: ["1 differs"]), question(failing(801)), question(failing(1)), question(lambda m: [])]
    found = [line["answer"] for line in answers(asked, monkeypatch) if line["kind"] == "answer"]
    assert [a["outcome"] for a in found] == ["wrong", "refused", "wrong", "passed"]
    assert "1 differs" in found[0]["text"] and "801" in found[1]["text"]


def test_what_fails_as_a_whole_is_asked_in_parts(monkeypatch):
    parts = (question(lambda m: []), question(failing(801)), question(lambda m: []))
    lines = answers([question(failing(801), parts)], monkeypatch)
    assert [line["answer"]["outcome"] for line in lines if line["kind"] == "answer"] == ["passed", "refused", "passed"]


def test_parts_are_asked_from_the_one_that_was_named(monkeypatch):
    parts = (question(failing(700)), question(lambda m: ["wrong"]), question(lambda m: []))
    lines = answers([question(failing(700), parts), question(lambda m: [])], monkeypatch, 0, 1)
    assert [line["answer"]["outcome"] for line in lines if line["kind"] == "answer"] == ["wrong", "passed", "passed"]


def test_after_an_error_that_sticks_the_process_ends(monkeypatch):
    with pytest.raises(DriverError):
        answers([question(failing(700)), question(lambda m: [])], monkeypatch)


def answer(index, outcome="passed"):
    return "answer", {"answer": vars_of(outcome)}


def vars_of(outcome):
    return {"suite": "s", "name": "n", "outcome": outcome, "text": "", "count": 1, "seconds": 0.0}


def asking(index, part=-1, count=1):
    return {"asking": {"index": index, "part": part, "name": f"question {index}", "count": count}}


def run(monkeypatch, *children):
    """What the parent makes of children that say this; also where each of them began."""
    begun, left = [], list(children)

    def process(environment, suite, every, first, part):
        begun.append((first, part))
        yield from left.pop(0)

    monkeypatch.setattr(selftest, "_process", process)
    return list(selftest._suite({}, "s", 1)), begun


def test_a_lost_process_costs_the_question_that_it_was_asked(monkeypatch):
    device = ("device", {"name": "d", "memory": 5, "cuda": 13000})
    found, begun = run(
        monkeypatch,
        [device, answer(0), answer(1), ("died", {**asking(2), "text": "signal 11"})],
        [answer(3), ("silent", {**asking(4), "text": "no answer"})],
        [answer(5), ("end", {})],
    )
    assert begun == [(0, -1), (3, -1), (5, -1)] and found[0] == Device("d", 5, 13000)
    assert [a.outcome for a in found[1:]] == ["passed", "passed", "died", "passed", "silent", "passed"]


def test_many_rows_that_cost_a_process_are_asked_one_by_one(monkeypatch):
    found, begun = run(
        monkeypatch,
        [answer(0), ("died", {**asking(1, count=3), "text": "signal 11"})],
        [answer(1), ("died", {**asking(1, 1), "text": "signal 11"})],
        [answer(1), answer(2), ("end", {})],
    )
    assert begun == [(0, -1), (1, 0), (1, 2)]
    assert [a.outcome for a in found] == ["passed", "passed", "died", "passed", "passed"]


def test_a_device_that_never_answers_is_given_up(monkeypatch):
    found, begun = run(monkeypatch, [("died", {"text": "exit code 1: no device"})])
    assert begun == [(0, -1)] and [a.outcome for a in found] == ["died", "left"] and "no device" in found[0].text


def test_too_many_losses_end_the_suite(monkeypatch):
    children = [[("died", {**asking(n), "text": ""})] for n in range(selftest.KILLED_MOST)]
    found, begun = run(monkeypatch, *children)
    assert len(begun) == selftest.KILLED_MOST and found[-1].outcome == "left"


def test_a_result_counts_rows_and_keeps_only_problems():
    result = selftest.Result(
        "hip", None, (Answer("a", "x", "passed", "", 24, 0.1), Answer("a", "y", "wrong", "w", 1, 0)), 2
    )
    told = result.as_json()
    assert told["counts"] == {"a": {"passed": 24, "wrong": 1}} and not told["passed"]
    assert [problem["name"] for problem in told["problems"]] == ["y"]


def test_differences_show_where_and_what():
    (text,) = suites._differences(np.array([1, 2, 4]), np.array([1, 2, 3]))
    assert text == "1 of 3 differ; at (2,) 4, expected 3"

"""From a plan to a process: whatever a command line holds arrives in the task, and nothing of it is ever read by a shell."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anywarp.check.store import Run
from anywarp.deploy.fleet import outcome as outcomes
from anywarp.deploy.fleet.execution import execute
from anywarp.deploy.fleet.folder import Folder, read_batch
from anywarp.deploy.fleet.outcome import Outcome, named
from anywarp.deploy.fleet.plan import Slurm
from anywarp.deploy.fleet.runners.slurm import SlurmRunner
from anywarp.deploy.fleet.tasks import Task
from anywarp.diagnostics import AnywarpError

from .conftest import WORDS

WORD = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
NASTY = st.sampled_from(["$(touch x)", "`id`", "'", '"', "\\", "\n", "-x", "--", "%a", "$SLURM_ARRAY_TASK_ID", "a b", "", "*", "!", "\x7f", "\u202e"])  # fmt: skip
LINE = st.lists(WORD | NASTY, max_size=6)
ONCE = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def task(words, tmp_path, verb="bench", **other):
    given = {"entry": "e", "machine": "here", "folder": str(tmp_path), "seconds": 30.0, **other}
    return Task(key="a" * 32, verb=verb, words=(verb, *words), **given)


@given(lines=st.lists(LINE, min_size=1, max_size=5))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_batch_holds_every_command_line_unchanged(lines, tmp_path):
    folder = Folder(tmp_path / "f", make=True)
    batch = folder.add("here", [task(words, tmp_path) for words in lines])
    assert [each.words[1:] for each in read_batch(folder.batch_place(batch.id)).tasks] == [
        tuple(words) for words in lines
    ]


@given(words=LINE)
@ONCE
def test_a_command_line_arrives_in_the_task_unchanged(words, tmp_path):
    told = tmp_path / "told"
    done = execute(task([*words, f"dump {told}"], tmp_path), WORDS)
    assert json.loads(told.read_text()) == ["bench", *words, f"dump {told}"] and not done.failed


@given(name=st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=20) | NASTY.filter(bool), words=LINE)  # fmt: skip
@ONCE
def test_the_script_of_an_array_gives_anywarp_its_words_whatever_they_hold(name, words, tmp_path):
    folder = Folder(tmp_path / f"x{name}".replace("/", "_"), make=True)
    echo = (sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))")
    runner = SlurmRunner(Slurm(kind="slurm", anywarp=(*echo, *words)), folder)
    batch = folder.add("slurm", [task(words, tmp_path)])
    script = tmp_path / "script"
    script.write_text(runner.script(batch), encoding="utf-8", newline="")
    said = subprocess.run(
        ["/bin/sh", str(script)], env={"SLURM_ARRAY_TASK_ID": "7"}, cwd=tmp_path, capture_output=True, check=True
    )
    assert json.loads(said.stdout) == [*words, "fleet", "task", str(folder.batch_place(batch.id)), "7"]
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("order", "verb", "why"),
    [
        ("fine", "bench", ""),
        ("findings", "verify", ""),
        ("refuse", "bench", "exit code 2 and left no result: error[V036]: it may not be"),
        ("kill", "bench", "signal 9 (SIGKILL)"),
        ("nothing", "bench", "exit code 0 and left no result"),
    ],
)
def test_what_a_task_came_to_is_told(order, verb, why, tmp_path):
    done = execute(task([order], tmp_path, verb), WORDS)
    assert why in done.why and bool(why) == done.failed
    assert done.failed or [run.key for run in done.runs] == ["a" * 32]


def test_a_task_that_takes_too_long_is_ended_with_all_it_started(tmp_path):
    started = tmp_path / "started"
    text = f"import subprocess, time; open({str(started)!r}, 'w').write(str(subprocess.Popen(['sleep', '60']).pid)); time.sleep(60)"
    done = execute(task([], tmp_path, seconds=2.0), (sys.executable, "-c", text))
    assert "after 2 s" in done.why
    status = Path("/proc", started.read_text(), "stat")
    until = time.monotonic() + 20
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":  # a signal takes its time
        assert time.monotonic() < until
        time.sleep(0.05)


def test_what_cannot_be_started_is_told(tmp_path):
    assert "cannot be started" in execute(task([], tmp_path), ("/nowhere/anywarp",)).why


def result(**other):
    return named(Outcome("a" * 32, 0, "m", 1.0, 2.0, said="é\n"), [Run("bench", {"x": [1, 2.5]}, **other)])


@given(noise=st.lists(st.text(max_size=20), max_size=10), size=st.integers(0, 40_000))
@settings(max_examples=12, deadline=None)
def test_an_outcome_comes_out_of_a_log_as_it_went_in(noise, size):
    import random

    made = result(model=random.Random(size).randbytes(size // 2).hex())
    lines = outcomes.as_lines(made)
    assert max(map(len, lines)) < 8000
    mixed = [line for each in lines for line in (each, *noise)]
    assert outcomes.from_log(mixed, "log") == made
    assert outcomes.from_log(mixed[1:] if len(lines) == 1 else lines[:-1], "log") is None


def test_a_result_that_was_changed_is_refused():
    text = outcomes.as_text(result(model="net"))
    assert outcomes.from_text(text, "f").runs[0].model == "net"
    with pytest.raises(AnywarpError, match="was changed after it was written"):
        outcomes.from_text(text.replace("2.5", "2.6"), "f")
    for broken in ("", "[]", "{}", text[:-1], text.replace('"runs"', '"walks"')):
        with pytest.raises(AnywarpError):
            outcomes.from_text(broken, "f")

"""Handing out tasks: each gets one result however often whoever drives is killed; what fails is tried so often, and told."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from anywarp.check.store import Run, opened
from anywarp.cli.main import call
from anywarp.deploy.fleet.collecting import collect
from anywarp.deploy.fleet.driving import Drive
from anywarp.deploy.fleet.folder import Folder
from anywarp.deploy.fleet.outcome import Outcome, named
from anywarp.deploy.fleet.problems import RUNNER, problem
from anywarp.deploy.fleet.runners.runner import Seen
from anywarp.deploy.fleet.tasks import Task
from anywarp.diagnostics import AnywarpError


class Killed(BaseException):
    """kill -9, as far as files can tell."""


class Cluster:
    """A scheduler that goes on when whoever drives is killed: a task a look; `lose` are keys whose tasks end without a word."""

    settle = 0.0

    def __init__(self, folder, lose=(), fail=()):
        self.folder, self.lose, self.fail = folder, set(lose), set(fail)
        self.jobs, self.runs = {}, []

    def submit(self, batch):
        self.jobs[batch.id] = 0
        return batch.id

    def find(self, batch):
        return batch.id if batch.id in self.jobs else None

    def look(self, batch, ticket):
        at = self.jobs[ticket]
        if at < len(batch.tasks):
            key = batch.tasks[at].key
            self.runs.append(key)
            self.jobs[ticket] += 1
            self.do(key, batch.id)
        return {
            n: Seen("ended", "it was lost") if n < self.jobs[ticket] else Seen("waiting")
            for n in range(len(batch.tasks))
        }

    def do(self, key, batch):
        if key not in self.lose:
            why = "it is so" if key in self.fail else ""
            made = Outcome(key, 0, "m", 1.0, 0.1, why=why)
            self.folder.write(made if why else named(made, [Run("bench", {"key": key})]), batch)

    def close(self):
        pass


def tasks(count, machine="far"):
    return [Task(f"{n:032x}", f"e{n}", "bench", machine, ("bench",), "/", 1.0) for n in range(count)]


def driven(drive, most=200):
    for _ in range(most):
        if not drive.step():
            return
    raise AssertionError("it does not end")


@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after it"])
@pytest.mark.parametrize("at", range(14))
def test_killed_at_any_write_it_goes_on_and_each_task_runs_once(at, after, tmp_path, monkeypatch):
    folder, all_of_them = Folder(tmp_path, make=True), tasks(4)
    cluster, writes, put = Cluster(folder), 0, Folder._put

    def counted(self, place, text):
        nonlocal writes
        writes += 1
        if writes - 1 == at and not after:
            raise Killed
        put(self, place, text)
        if writes - 1 == at:
            raise Killed

    monkeypatch.setattr(Folder, "_put", counted)
    for _ in range(2):
        try:
            driven(Drive(all_of_them, 2, folder, {"far": cluster}))
        except Killed:
            continue
    assert folder.done() == {task.key for task in all_of_them}
    assert len(cluster.runs) - len(set(cluster.runs)) <= (
        1 if not after else 0
    )  # a result that was not written is made again
    assert folder.open_batches() == [] and len(folder.tried()) <= (
        0 if after else 1
    )  # a task that died before it wrote has failed once


def test_what_fails_and_what_is_lost_is_tried_so_often_and_told(tmp_path):
    folder, all_of_them = Folder(tmp_path, make=True), tasks(3)
    cluster, said = Cluster(folder, lose=[all_of_them[0].key], fail=[all_of_them[1].key]), []
    drive = Drive(all_of_them, 3, folder, {"far": cluster}, said.append)
    driven(drive)
    assert [cluster.runs.count(task.key) for task in all_of_them] == [3, 3, 1]
    assert drive.failed() == all_of_them[:2]
    assert "it was lost" in folder.failures(all_of_them[0].key)[-1].why
    assert [line for line in said if "failed (3 of 3)" in line and "it is so" in line]


def test_a_scheduler_that_is_away_for_a_while_is_asked_again_and_one_that_never_answers_is_an_error(tmp_path):
    folder = Folder(tmp_path, make=True)
    cluster = Cluster(folder)
    look, away = cluster.look, [False, True, True, True] + [False] * 20
    refuse = problem(RUNNER, "no answer")

    def sometimes(batch, ticket):
        if away.pop(0):
            raise refuse
        return look(batch, ticket)

    cluster.look = sometimes
    driven(Drive(tasks(3), 1, folder, {"far": cluster}))
    assert len(folder.done()) == 3

    def never(batch):
        raise refuse

    cluster.submit = never
    with pytest.raises(AnywarpError, match="no answer"):
        driven(Drive(tasks(5), 1, folder, {"far": cluster}))


def test_results_meet_in_the_store_once_and_a_damaged_file_is_told(tmp_path):
    folder, all_of_them = Folder(tmp_path / "f", make=True), tasks(3)
    driven(Drive(all_of_them, 1, folder, {"far": Cluster(folder)}))
    place = folder.place / "results" / f"{all_of_them[0].key}.json"
    place.write_text(place.read_text().replace('"bench"', '"verify"'))
    with opened() as store:
        first, again = collect(folder, store), collect(folder, store)
        assert (first.new, first.known, again.new, again.known) == (2, 0, 0, 2)
        assert [each.code for each in first.problems] == ["Y145"]
        assert store.latest(all_of_them[1].key).result == {"key": all_of_them[1].key}


def test_looking_makes_no_folder_and_others_folders_are_not_taken_for_a_fleets(tmp_path, capsys):
    (tmp_path / "p.yaml").write_text("version: 1\nname: n\nentries: [{name: a, verb: bench, command: [x]}]\n")
    assert call(["fleet", "status", str(tmp_path / "p.yaml")]) == 0 and "1 waiting" in capsys.readouterr().out
    (tmp_path / "other").mkdir()
    assert call(["fleet", "collect", str(tmp_path / "other")]) == 2 and "Y142" in capsys.readouterr().err
    assert not (tmp_path / "n.fleet").exists() and not list((tmp_path / "other").iterdir())


def test_two_do_not_drive_one_folder(tmp_path):
    with (
        Folder(tmp_path, make=True).driven(),
        pytest.raises(AnywarpError, match="another"),
        Folder(tmp_path, make=True).driven(),
    ):
        pass


PLAN = """
version: 1
name: n
attempts: 2
entries:
  - {name: fine, verb: bench, command: [fine], axes: {device: [host, cpu]}}
  - {name: once, verb: bench, command: ["once MARK"]}
  - {name: never, verb: bench, command: [refuse]}
"""


def test_a_plan_is_run_and_run_again_and_reported(tmp_path, capsys):
    (tmp_path / "p.yaml").write_text(PLAN.replace("MARK", str(tmp_path / "mark")))
    page = tmp_path / "p.html"
    assert call(["fleet", "run", str(tmp_path / "p.yaml"), "--format", "json", "--html", str(page)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {(row["entry"], row["state"], row["failures"]) for row in found["rows"]} == {
        ("fine", "done", 0),
        ("once", "done", 0),
        ("never", "failed", 2),
    }
    assert found["done"] == 3 and "it may not be" in page.read_text() and "<script" not in page.read_text()
    with opened() as store:
        assert store.count("bench") == 3 and store.count("fleet") == 1
    (tmp_path / "n.fleet").rename(tmp_path / "away")  # what is in the store is not run again, wherever the folder is
    assert call(["fleet", "run", str(tmp_path / "p.yaml"), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["done"] == 3
    assert not list((tmp_path / "n.fleet" / "results").iterdir())


@pytest.mark.long
def test_killed_for_real_it_goes_on(tmp_path):
    entries = [
        f"  - {{name: e{n}, verb: bench, command: ['count {tmp_path / 'ran'}'], seconds: 1.{n}}}\n" for n in range(6)
    ]
    (tmp_path / "p.yaml").write_text("version: 1\nname: n\nentries:\n" + "".join(entries))
    command = [sys.executable, "-m", "anywarp", "fleet", "run", str(tmp_path / "p.yaml")]
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    results = tmp_path / "n.fleet" / "results"
    while not results.is_dir() or len(list(results.glob("*.json"))) < 2:
        assert first.poll() is None
        time.sleep(0.05)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert len(list(results.glob("*.json"))) == 6
    assert len((tmp_path / "ran").read_text().split()) in (6, 7)  # the one that was under way is done anew

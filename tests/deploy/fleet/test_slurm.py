"""Job arrays of Slurm: what sbatch is given, what squeue and sacct say; with programs that answer as Slurm 22.05 does, and with Slurm itself where it is."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from anywarp.cli.main import call
from anywarp.deploy.fleet.folder import Folder
from anywarp.deploy.fleet.plan import Slurm
from anywarp.deploy.fleet.runners.slurm import SlurmRunner
from anywarp.deploy.fleet.tasks import Task
from anywarp.diagnostics import AnywarpError


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Programs called as Slurm's, which write down their arguments and answer what a test lays beside them."""
    place = tmp_path / "bin"
    place.mkdir()
    for name in ("sbatch", "squeue", "sacct"):
        program = place / name
        program.write_text(
            "#!/bin/sh\n"
            f'printf "%s\\0" "$@" >> "{place}/{name}.given"\n'
            f'[ -f "{place}/{name}.refuses" ] && {{ cat "{place}/{name}.refuses" >&2; exit 1; }}\n'
            f'cat "{place}/{name}.says" 2>/dev/null || true\n'
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    return place


def handed(tmp_path, count=4, **other):
    folder = Folder(tmp_path / "f", make=True)
    tasks = [Task(f"{n:032x}", "e", "bench", "slurm", ("bench",), "/", 9.0, "hip", 2) for n in range(count)]
    return SlurmRunner(Slurm(kind="slurm", **other), folder), folder.add("slurm", tasks), folder


def test_an_array_is_submitted_with_arguments_and_no_text_of_the_users(slurm, tmp_path):
    (slurm / "sbatch.says").write_text("4711;cluster\n")
    odd = "--comment=$(id); 'x\" %j"
    runner, batch, _ = handed(tmp_path, options=[odd, "--partition=gpu"], at_once=3)
    assert runner.submit(batch) == "4711"
    given = (slurm / "sbatch.given").read_text().split("\0")[:-1]
    assert given[:3] == ["--parsable", f"--job-name=anywarp-fleet-{batch.id}", "--array=0-3%3"]
    assert "--gres=gpu:2" in given and given[-3:-1] == [odd, "--partition=gpu"]
    assert odd not in Path(given[-1]).read_text()


def test_states_and_reasons_are_read(slurm, tmp_path):
    runner, batch, _ = handed(tmp_path)
    (slurm / "squeue.says").write_text("0|RUNNING\n1|PENDING\n2|OUT_OF_MEMORY\n")
    (slurm / "sacct.says").write_text("7_2|OUT_OF_MEMORY|0:125\n7_3|CANCELLED by 0|0:15\n7_[4-9]|PENDING|0:0\n")
    seen = runner.look(batch, "7")
    assert [seen[n].state for n in range(4)] == ["running", "waiting", "ended", "ended"]
    assert "OUT_OF_MEMORY, exit code 0:125" in seen[2].why and "CANCELLED by 0" in seen[3].why


def test_a_job_that_slurm_forgot_and_a_cluster_without_accounts(slurm, tmp_path):
    runner, batch, _ = handed(tmp_path)
    (slurm / "squeue.refuses").write_text("slurm_load_jobs error: Invalid job id specified\n")
    (slurm / "sacct.refuses").write_text("Slurm accounting storage is disabled\n")
    assert {seen.state for seen in runner.look(batch, "7").values()} == {"ended"}
    (slurm / "squeue.refuses").write_text(
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"
    )
    with pytest.raises(AnywarpError, match="Unable to contact") as caught:
        runner.look(batch, "7")
    assert caught.value.diagnostic.code == "Y144"


def test_an_array_whose_number_was_not_written_down_is_found_by_its_name(slurm, tmp_path):
    runner, batch, _ = handed(tmp_path)
    assert runner.find(batch) is None
    (slurm / "squeue.says").write_text("4712\n4712\n")
    assert runner.find(batch) == "4712"
    assert f"--name=anywarp-fleet-{batch.id}" in (slurm / "squeue.given").read_text()


def test_without_slurm_that_is_said(tmp_path, monkeypatch):
    runner, batch, _ = handed(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AnywarpError, match="there is no sbatch"):
        runner.submit(batch)


def answers():
    return shutil.which("sinfo") is not None and subprocess.run(["sinfo", "-h"], capture_output=True).returncode == 0


@pytest.mark.slow
def test_a_fleet_runs_in_slurm_itself(tmp_path, capsys, monkeypatch):
    if not answers():
        pytest.skip("no Slurm answers here")
    monkeypatch.setattr(SlurmRunner, "settle", 3.0)
    nasty = "$(touch EVIL) `id` 'a\" %j\n-x"
    (tmp_path / "p.yaml").write_text(
        "version: 1\nname: s\nmachines: [{kind: slurm, at_once: 2}]\nentries:\n"
        f"  - {{name: a, verb: bench, command: [{json.dumps(nasty)}, 'dump {tmp_path / 'told'}']}}\n"
        "  - {name: b, verb: bench, command: [refuse]}\n  - {name: c, verb: bench, command: [fine]}\n"
    )
    assert call(["fleet", "run", str(tmp_path / "p.yaml"), "--format", "json"]) == 1
    states = {row["entry"]: (row["state"], row["failures"]) for row in json.loads(capsys.readouterr().out)["rows"]}
    assert states == {"a": ("done", 0), "b": ("failed", 2), "c": ("done", 0)}
    assert nasty in json.loads((tmp_path / "told").read_text()) and not (tmp_path / "EVIL").exists()

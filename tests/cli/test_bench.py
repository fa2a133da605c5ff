"""`anywarp bench` and `anywarp results` as a user calls them: what is measured, kept, shown, compared and refused."""

import csv
import html.parser
import io
import json
import subprocess
import sys
import time

import pytest

from anywarp.check.store import Run, Store
from anywarp.cli.main import call

NET = """
import time
import torch

class Sleeper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(4, 2))
        self.calls = 0

    def forward(self, x):
        print("a model may print what it likes")
        self.calls += 1
        time.sleep(0.03 if self.calls <= 20 else 0.005)
        return x @ self.weight

def broken():
    raise RuntimeError("no such weights")

class Dies(torch.nn.Module):
    def forward(self, x):
        import os
        os.kill(os.getpid(), 9)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_RESULTS", str(tmp_path / "results.sqlite"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


def anywarp(capsys, *arguments):
    status = call(list(map(str, arguments)))
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def kept(place):
    with Store(place / "results.sqlite") as store:
        return store.list()


SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(0.05)"]


def test_a_command_is_timed_as_a_whole_and_kept(place, capsys):
    status, out, _ = anywarp(capsys, "bench", "--seconds", 0.1, "--format", "json", "-o", "r.json", "--", *SLEEP)
    (result,) = json.loads(out)
    assert status in (0, 1) and json.loads((place / "r.json").read_text()) == [result]
    p50 = result["result"]["latency_ms"]["p50"]
    assert 50 < p50["low"] <= p50["value"] <= p50["high"] and result["result"]["calls"] >= 5
    assert result["result"]["throughput"]["value"] < 20 and result["result"]["first_s"] > 0.05
    assert result["result"]["memory"]["peak_rss"] > 4 << 20
    assert [run.id for run in kept(place)] == [result["id"]]


def test_what_is_known_is_not_measured_again_until_it_changes(place, capsys):
    (place / "p.sh").write_text("exit 0")
    command = ["bench", "--seconds", 0.01, "--format", "json", "--", "sh", "p.sh"]
    first = json.loads(anywarp(capsys, *command)[1])[0]["id"]
    assert json.loads(anywarp(capsys, *command)[1])[0]["id"] == first
    assert json.loads(anywarp(capsys, "bench", "--fresh", *command[1:])[1])[0]["id"] != first
    (place / "p.sh").write_text("exit  0")
    assert json.loads(anywarp(capsys, *command)[1])[0]["id"] != first
    assert len(kept(place)) == 3


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["sh", "-c", "echo the reason >&2; exit 3"], "with exit code 3; it said last:\nthe reason"),
        (["sh", "-c", "kill -9 $$"], "by signal 9 (SIGKILL)"),
        (["./not-there"], "cannot be started: No such file"),
    ],
)
def test_a_command_that_fails_is_not_timed(place, capsys, command, said):
    status, out, err = anywarp(capsys, "bench", "--", *command)
    assert status == 2 and out == "" and "V034" in err and said in err and kept(place) == []


@pytest.mark.long  # what is steady, and where warm-up ends, other work on the machine decides
@pytest.mark.torch
def test_warm_up_is_found_and_left_out_of_a_models_times(place, capsys):
    arguments = ["net.py:Sleeper", "--input", "x:f32[batch,4]", "--batch", "1,3", "--seconds", 0.5, "--html", "r.html"]
    status, out, err = anywarp(capsys, "bench", *arguments, "--format", "json")
    results = [run["result"] for run in json.loads(out)]
    assert len(results) == 2 and "print what it likes" not in out + err
    for result, batch in zip(results, (1, 3)):
        assert result["cell"]["sizes"] == {"batch": batch}
        found = result["warm_up"][0]  # a busy machine may leave nothing steady; then all calls count, and that is said
        assert found["kind"] in ("warm-up", "not steady")
        assert 15 <= found["calls"] <= 30 if found["kind"] == "warm-up" else found["calls"] == 0 and result["marks"]
        assert result["latency_ms"]["p50"]["value"] > 5
        assert result["first_s"] > 0.03 and result["starts"][0]["ready_s"] > result["starts"][0]["import_s"] > 0
        per_second = batch * 1000 / result["mean_ms"]["value"]
        assert result["throughput"]["value"] == pytest.approx(per_second)
        assert result["memory"]["peak_rss"] > 50 << 20
    assert results[0]["alike"]["versions"]["torch"]
    page = (place / "r.html").read_text()
    html.parser.HTMLParser().feed(page)
    assert "http" not in page.replace("http-equiv", "") and "net.py:Sleeper" in page
    assert "warm-up" in page or all(result["warm_up"][0]["kind"] == "not steady" for result in results)
    status, out, _ = anywarp(capsys, "bench", *arguments)
    assert "2 of 2 were measured earlier" in out


@pytest.mark.torch
@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        ("net.py:broken", "V035", "no such weights"),
        ("net.py:Dies", "V034", "SIGKILL"),
    ],
)
def test_a_model_that_fails_is_said_with_its_reason(place, capsys, model, code, said):
    status, _, err = anywarp(capsys, "bench", model, "--input", "x:f32[2,4]")
    assert status == 2 and code in err and said in err and "Traceback" not in err


def test_two_commands_in_turns_give_their_ratio(place, capsys):
    wait = 'sleep "${LONGER:-0.02}"'
    arguments = ["--against", "env LONGER=0.06", "--precision", 0.5, "--format", "json"]
    status, out, _ = anywarp(capsys, "bench", *arguments, "--", "sh", "-c", wait)
    (run,) = json.loads(out)
    ratio, result = run["result"]["ratio"], run["result"]
    assert result["decided"] and status == 0
    assert 0.3 < ratio["low"] <= ratio["value"] <= ratio["high"] < 0.9  # 1/3, and what starting costs both
    assert len(result["units"]) >= 6 and len(result["a"]["units_ms"]) == len(result["units"])


def test_a_budget_that_ends_is_said(place, capsys):
    arguments = ["--against", "env A=1", "--precision", 0.0001, "--budget", 1]
    # Times from nothing to 90 ms: `env` takes a millisecond by itself, which is decided soon where all else is steady.
    status, out, _ = anywarp(capsys, "bench", *arguments, "--", "sh", "-c", "sleep 0.0$(($$ % 10))")
    assert status == 1 and "time was up before the ratio was known to 0.0%" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a MODEL"),
        (["net.py:Sleeper"], "a model needs its inputs"),
        (["net.py:Sleeper", "--input", "x:f32[2]", "--batch", "4"], "no input has an axis 'batch'"),
        (["net.py:Sleeper", "--input", "x:f32[batch]", "--batch", "four"], "is not NAME=N"),
        (["net.py:Sleeper", "--input", "x:f32[batch]", "--dtype", "int4"], "'int4' is no type"),
        (["--batch", "4", "--", "true"], "sizes and types are of models"),
        (["net.py:Sleeper", "--input", "x:f32[a,b]", "--axis", "a=" + ",".join(map(str, range(100))), "--axis", "b=" + ",".join(map(str, range(100)))], "too large"),
        (["-o", "/nowhere/r.json", "--", "true"], "cannot be written"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said(place, capsys, arguments, said):
    status, out, err = anywarp(capsys, "bench", *arguments)
    assert status == 2 and said in err and out == "" and "Traceback" not in err


def model_run(identity, times, **changed):
    alike = {"form": "model", "model": "d", "sizes": {"batch": 1}, **changed}
    latency = {f"p{p}": {"value": 1.0, "low": 0.9, "high": 1.1} for p in (50, 90, 95, 99)}
    done = {"value": 10.0, "low": 9.0, "high": 11.0, "unit": "inferences/s"}
    result = {
        "form": "model",
        "alike": alike,
        "times_ms": times,
        "latency_ms": latency,
        "throughput": done,
        "marks": [],
    }
    return Run("bench", result, id=identity, model="=evil()", time=time.time())


def test_results_of_two_times_are_compared_if_they_are_alike(place, capsys):
    with Store(place / "results.sqlite") as store:
        store.add(model_run("aaa1", [2.0, 2.1, 1.9, 2.05] * 50))
        store.add(model_run("bbb2", [1.0, 1.1, 0.9, 1.05] * 50))
        store.add(model_run("ccc3", [1.0] * 200, sizes={"batch": 2}))
    status, out, _ = anywarp(capsys, "results", "compare", "aaa", "bbb", "--format", "json")
    ratio = json.loads(out)["ratios"]["p50"]
    assert status == 0 and 1.7 < ratio["low"] <= ratio["value"] <= ratio["high"] < 2.3
    status, _, err = anywarp(capsys, "results", "compare", "aaa", "ccc")
    assert status == 2 and "V033" in err and "sizes batch: 1 and 2" in err
    status, out, _ = anywarp(capsys, "results", "compare", "aaa", "ccc", "--anyway")
    assert status == 0 and "not alike: sizes batch: 1 and 2" in out


def test_loads_on_two_endpoints_are_compared(place, capsys):
    def loaded(identity, whole, prompts="p"):
        alike = {"form": "endpoint", "prompts": prompts, "load": "4 clients"}
        done = {"value": 100.0 / whole, "low": 90.0 / whole, "high": 110.0 / whole}
        requests = {"first_token_s": [], "between_tokens_s": [], "whole_s": [whole, whole * 1.01, whole * 0.99] * 60}
        return Run(
            "bench", {"form": "endpoint", "alike": alike, "tokens_per_s": done, "requests": requests}, id=identity
        )

    with Store(place / "results.sqlite") as store:
        for run in (loaded("aaa1", 2.0), loaded("bbb2", 1.0), loaded("ccc3", 1.0, "q")):
            store.add(run)
    status, out, _ = anywarp(capsys, "results", "compare", "aaa", "bbb", "--format", "json")
    ratios = json.loads(out)["ratios"]
    assert status == 0 and ratios["whole_s p50"]["value"] == 2 and 1.9 < ratios["whole_s p50"]["low"] < 2.1
    assert ratios["tokens_per_s"] == {"value": 0.5, "low": pytest.approx(45 / 110), "high": pytest.approx(55 / 90)}
    status, _, err = anywarp(capsys, "results", "compare", "aaa", "ccc")
    assert status == 2 and "prompts: p and q" in err


@pytest.mark.torch
@pytest.mark.parametrize(
    ("arguments", "around", "said"),
    [
        (["net.py:Sleeper", "--input", "x:f32[2,4]"], {"WORLD_SIZE": "2"}, "--ranks N"),
        (["net.py:Sleeper", "--input", "x:f32[2,4]", "--against", "cpu"], {}, "no --against"),
        (["net.py:Sleeper", "--input", "x:f32[2,4]", "--ranks", "3"], {}, "has started 2 ranks"),
        (["--", "true"], {}, "anywarp bench -- torchrun"),
    ],
)
def test_what_cannot_be_measured_within_torchrun_is_said(place, capsys, monkeypatch, arguments, around, said):
    whole = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
    for name, value in (around or whole).items():
        monkeypatch.setenv(name, value)
    status, _, err = anywarp(capsys, "bench", *arguments)
    assert status == 2 and said in err


RANKED = """
import time
import torch
import torch.distributed as distributed

class Net(torch.nn.Module):
    def forward(self, x):
        time.sleep(0.002 + 0.01 * distributed.get_rank())
        distributed.all_reduce(x)
        return x

class Fails(torch.nn.Module):
    def __init__(self):
        super().__init__()
        if distributed.get_rank() == 1:
            raise RuntimeError("no such weights here")
"""


def under_torchrun(place, *arguments):
    (place / "ranked.py").write_text(RANKED)
    program = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        "-m",
        "anywarp",
        "bench",
    ]
    return subprocess.run([*program, *arguments], capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.torch
@pytest.mark.slow
def test_the_users_own_torchrun_measures_its_ranks_together(place):
    """Two sizes: the second meets anew in torchrun's store."""
    arguments = ["ranked.py:Net", "--input", "x:f32[batch]", "--batch", "2,3", "--seconds", "0.2", "--format", "json"]
    done = under_torchrun(place, *arguments)
    assert done.returncode in (0, 1), done.stderr
    one, other = json.loads(done.stdout)
    assert [run["result"]["cell"]["sizes"]["batch"] for run in (one, other)] == [2, 3] and len(kept(place)) == 2
    for run in (one, other):
        result = run["result"]
        assert result["alike"]["ranks"] == 2 and len(result["ranks_p50_ms"]) == 2
        assert result["latency_ms"]["p50"]["value"] >= 10, "a call takes as long as its slowest rank"


@pytest.mark.torch
@pytest.mark.long
def test_a_rank_that_fails_under_torchrun_ends_all(place):
    done = under_torchrun(place, "ranked.py:Fails", "--input", "x:f32[2]")
    assert done.returncode != 0 and "no such weights here" in done.stderr and kept(place) == []


def test_results_are_listed_shown_exported_and_removed(place, capsys):
    assert "no results yet" in anywarp(capsys, "results", "list")[2]
    with Store(place / "results.sqlite") as store:
        store.add(model_run("aaa1", [1.0] * 50))
    assert "aaa1" in anywarp(capsys, "results", "list")[1]
    assert json.loads(anywarp(capsys, "results", "show", "aaa", "--format", "json")[1])["id"] == "aaa1"
    (place / "all.json").write_text(anywarp(capsys, "results", "export")[1])
    assert json.loads((place / "all.json").read_text())[0]["id"] == "aaa1"
    (row,) = csv.DictReader(io.StringIO(anywarp(capsys, "results", "export", "--format", "csv")[1]))
    assert row["id"] == "aaa1" and row["model"] == "'=evil()" and float(row["per_second"]) == 10
    assert anywarp(capsys, "results", "remove", "aaa", "zzz")[0] == 2 and len(kept(place)) == 1
    assert anywarp(capsys, "results", "remove", "aaa")[0] == 0 and kept(place) == []


@pytest.mark.torch
@pytest.mark.slow
def test_ranks_are_measured_together_and_the_slowest_counts(place, capsys):
    (place / "ranked.py").write_text(
        "import time, torch\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        rank = torch.distributed.get_rank()\n"
        "        time.sleep(0.004 + 0.02 * rank)\n"
        "        torch.distributed.all_reduce(x) if False else None\n"
        "        return x\n"
    )
    arguments = ["ranked.py:Net", "--input", "x:f32[2]", "--ranks", 2, "--seconds", 0.3, "--format", "json"]
    status, out, err = anywarp(capsys, "bench", *arguments)
    assert status in (0, 1), err
    result = json.loads(out)[0]["result"]
    first, second = result["ranks_p50_ms"]
    assert 4 < first < 20 < second and result["latency_ms"]["p50"]["value"] == pytest.approx(second, rel=0.2)
    assert result["alike"]["ranks"] == 2

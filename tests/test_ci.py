"""Jobs of scripts/ci run and report; every skip in the tests has one, and a skip that a job is there to prevent fails."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skips

ROOT = Path(__file__).resolve().parents[1]
JOBS = sorted(path.name for path in (ROOT / "scripts/ci.d").iterdir() if path.suffix not in (".sh", ".md"))


@pytest.fixture
def project(tmp_path):
    """A project with scripts/ci and three jobs, of which one fails."""
    folder = tmp_path / "scripts/ci.d"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "scripts/ci", tmp_path / "scripts/ci")
    for name, status in (("good", 0), ("part-2", 0), ("part-10", 0), ("bad", 3)):
        (folder / name).write_text(f"#!/bin/sh\n# Checks {name}.\necho ran {name}\nexit {status}\n")
        (folder / name).chmod(0o755)
    return tmp_path


def ci(project, *names):
    command = [sys.executable, project / "scripts/ci", *names]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_jobs_are_listed_with_what_they_check(project):
    lines = ci(project).stdout.splitlines()
    assert [line.split(maxsplit=1) for line in lines] == [
        ["bad", "Checks bad."], ["good", "Checks good."], ["part-2", "Checks part-2."], ["part-10", "Checks part-10."],
    ]  # fmt: skip


def test_a_job_that_fails_fails_the_run_and_the_next_is_not_run(project):
    done = ci(project, "good", "bad", "part-2")
    assert done.returncode == 1
    assert "ran good" in done.stdout and "ran part-2" not in done.stdout
    ends = [line.split()[:2] for line in done.stdout.splitlines()[-3:]]
    assert ends == [["good", "passed"], ["bad", "failed"], ["part-2", "not"]]
    assert ci(project, "--keep-going", "bad", "good").stdout.count("ran ") == 2


def test_a_job_that_passes_passes(project):
    assert ci(project, "good").returncode == 0


def test_a_job_that_is_not_there_is_named(project):
    done = ci(project, "good", "nothing")
    assert done.returncode == 2 and "nothing" in done.stderr and "ran good" not in done.stdout


@pytest.mark.parametrize("name", JOBS)
def test_a_job_can_be_run_and_stands_on_the_page(name):
    path = ROOT / "scripts/ci.d" / name
    assert os.access(path, os.X_OK)
    assert f"| `{name}` |" in (ROOT / "docs/ci.md").read_text() or name.startswith(("long-", "python-"))


def test_rows_name_jobs_that_there_are():
    assert {row.job for row in skips.rows()} <= {*JOBS, skips.NONE}


def reasons(tree):
    """Yield the reasons of skips in a file of tests; what is put in when it runs stands as `X`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        given = [word.value for word in node.keywords if word.arg == "reason"]
        if name == "pytest.skip" or (name.endswith("mark.skip") and not given):
            given += node.args[:1]
        if name not in ("pytest.skip", "pytest.importorskip") and not name.endswith(("mark.skip", "mark.skipif")):
            continue
        for text in given:
            if isinstance(text, ast.Constant):
                yield text.value
            elif isinstance(text, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "X" for part in text.values)


FILES = sorted(path for path in (ROOT / "tests").rglob("*.py") if "cases" not in path.parts)


def test_every_reason_to_skip_has_a_row():
    found = {reason: path.name for path in FILES for reason in reasons(ast.parse(path.read_text(encoding="utf-8")))}
    assert len(found) > 30
    assert {reason: name for reason, name in found.items() if skips.covered(reason) is None} == {}


def pytest_on(tmp_path, text, *options):
    (tmp_path / "test_it.py").write_text("import pytest\n" + text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "skips", "-q", *options, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests"), "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("reason", "options", "outcome"),
    [
        ("this machine has no nvcc", (), "1 skipped"),
        ("this machine has no nvcc", ("--job", "triton"), "1 skipped"),
        ("this machine has no nvcc", ("--job", "triton", "--job", "nvcc"), "1 failed"),
        ("it rains", (), "1 failed"),
    ],
)
@pytest.mark.spread("how")
@pytest.mark.parametrize("how", ["pytest.skip(REASON)", "pytest.mark.skip(reason=REASON)"])
def test_a_skip_needs_a_job_and_fails_in_that_job(reason, options, outcome, how, tmp_path):
    inside, mark = (how, "") if "mark" not in how else ("pass", f"@{how}\n")
    outcome = outcome.replace("failed", "error") if mark else outcome  # pytest's word for what fails before the test
    done = pytest_on(tmp_path, f"REASON = {reason!r}\n{mark}def test_it():\n    {inside}\n", *options)
    assert outcome in done.stdout, done.stdout + done.stderr


def test_a_file_that_is_skipped_needs_a_job(tmp_path):
    done = pytest_on(tmp_path, "pytest.skip('it rains', allow_module_level=True)\n")
    assert done.returncode != 0 and "it rains" in done.stdout


def test_shares_are_disjoint_and_everything(tmp_path):
    text = "@pytest.mark.parametrize('n', range(50))\ndef test_it(n):\n    pass\n"
    shares = [pytest_on(tmp_path, text, "--share", f"{k}/3", "-vv").stdout for k in (1, 2, 3)]
    ran = [{line.split()[0] for line in share.splitlines() if "PASSED" in line} for share in shares]
    assert sum(map(len, ran)) == len(set.union(*ran)) == 50 and all(ran)

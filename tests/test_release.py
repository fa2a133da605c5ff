"""What decides whether a release is made: two builds are compared member by member, and hosted CI runs the jobs that there are."""

import importlib.util
import io
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def build():
    """Return scripts/releasing/build.py, which is no part of the package."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        yield importlib.import_module("releasing.build")
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def wheel(path: Path, members: dict[str, bytes], date=(2026, 1, 2, 3, 4, 6)) -> Path:
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as files:
        for name, content in members.items():
            files.writestr(zipfile.ZipInfo(name, date), content)
    return path


def test_equal_wheels_do_not_differ(build, tmp_path):
    members = {"a.py": b"1", "lib/b.so": b"2"}
    assert build.differences(wheel(tmp_path / "1/w.whl", members), wheel(tmp_path / "2/w.whl", members)) == []


def test_members_that_differ_are_named(build, tmp_path):
    one = wheel(tmp_path / "1/w.whl", {"a.py": b"1", "b.so": b"2", "c": b""})
    other = wheel(tmp_path / "2/w.whl", {"a.py": b"1", "b.so": b"3", "d": b""})
    assert build.differences(one, other) == ["b.so: differs", "c: in one only", "d: in one only"]


def test_a_time_alone_is_a_difference(build, tmp_path):
    one = wheel(tmp_path / "1/w.whl", {"a": b"1"})
    other = wheel(tmp_path / "2/w.whl", {"a": b"1"}, date=(2026, 1, 2, 3, 4, 8))
    assert build.differences(one, other) == ["w.whl: the members are equal, their order, times or modes are not"]


def test_source_archives_are_compared_too(build, tmp_path):
    archives = []
    for content in (b"1", b"2"):
        archives.append(tmp_path / f"{content.decode()}.tar.gz")
        with tarfile.open(archives[-1], "w:gz") as files:
            member = tarfile.TarInfo("a/b.py")
            member.size = len(content)
            files.addfile(member, io.BytesIO(content))
    assert build.differences(*archives) == ["a/b.py: differs"]


def test_a_build_knows_nothing_of_its_surroundings(build, tmp_path, monkeypatch):
    toolchain = importlib.import_module("releasing.toolchain")
    monkeypatch.setenv("CFLAGS", "-march=native")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    made = build.environment(toolchain.Tools(tmp_path / "tools", "x86_64"), tmp_path, 1234)
    assert "CFLAGS" not in made and "PYTHONPATH" not in made
    assert made["SOURCE_DATE_EPOCH"] == "1234"


def test_tools_are_exact():
    lines = (ROOT / "scripts/releasing/requirements.txt").read_text().splitlines()
    assert [each for each in lines if not re.fullmatch(r"#.*|[\w.-]+==[\w.]+", each)] == []


def workflow(name):
    return YAML(typ="safe").load(ROOT / ".github/workflows" / name)


def test_hosted_ci_runs_each_executable_of_the_folder_of_jobs():
    steps = workflow("ci.yml")["jobs"]["list"]["steps"]
    (script,) = (step["run"] for step in steps if "run" in step)
    found = shlex.split(script.partition("|")[0])
    assert found[:2] == ["find", "scripts/ci.d"]
    listed = subprocess.run(found, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    named = [path for path in (ROOT / "scripts/ci.d").iterdir() if path.suffix not in (".sh", ".md")]
    assert sorted(listed) == sorted(path.name for path in named)
    assert {"wheel", "reproducible", "aarch64", "python-3.10", "python-3.14"} <= set(listed)


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_workflows_start_with_the_least_rights(name):
    assert workflow(name)["permissions"] == {"contents": "read"}

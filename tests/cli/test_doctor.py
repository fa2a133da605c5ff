"""`anywarp doctor`: each fact by itself, the verdict, and that nothing heavy is imported to find out."""

import importlib
import json
import subprocess
import sys

import pytest

from anywarp.cli.doctor import advice, exit_code
from anywarp.runtime import checkup
from anywarp.runtime.checkup import Fact
from anywarp.runtime.installed import installed


def doctor(*arguments, env=None):
    return subprocess.run(
        [sys.executable, "-m", "anywarp", "doctor", *arguments], capture_output=True, text=True, timeout=120, env=env
    )


def facts_of(done):
    return {(f["part"], f["name"]): f for f in json.loads(done.stdout)["facts"]}


@pytest.fixture
def no_library(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_LIBRARY_DIR", str(tmp_path))


def test_missing_libraries_make_it_2_and_say_what_to_do(no_library):
    done = doctor("--format", "json")
    assert done.returncode == json.loads(done.stdout)["exit_code"] == 2
    facts = facts_of(done)
    assert facts["library", "libcuda.so.1"]["status"] == "error"
    assert facts["device", "cpu"]["status"] == "ok"
    assert any("libcuda.so.1" in step for step in json.loads(done.stdout)["next"])


def test_the_report_has_the_facts_and_what_the_machine_says_of_amd_gpus(no_library, tmp_path):
    report = tmp_path / "machine.json"
    done = doctor("--format", "json", "--report", str(report))
    found = json.loads(report.read_text())
    assert found["machine"] == json.loads(done.stdout)["facts"]
    assert set(found["amd"]) == {"kernel", "distribution", "driver", "firmware", "rocm", "gpus"}


def test_a_library_that_does_not_load_is_told_with_the_loaders_words(tmp_path, monkeypatch):
    (tmp_path / "libcuda.so.1").write_text("not a library")
    monkeypatch.setenv("ANYWARP_LIBRARY_DIR", str(tmp_path))
    [fact] = checkup._library()
    assert fact.status == "error" and "libcuda.so.1" in fact.text


@pytest.mark.native
def test_the_built_library_answers():
    [fact] = checkup._library()
    assert fact.status == "ok" and "1 device(s)" in fact.text, fact


@pytest.mark.native
def test_a_kernel_is_compiled_and_run():
    fact = checkup._kernel()
    assert fact.status == "ok" and "compiled, run and right" in fact.text, fact


@pytest.mark.native
@pytest.mark.parametrize(
    ("instruction", "words"),
    [
        ("mad.lo.u32 %r3, %r1, %r1, 8;", "wrong results"),
        ("call nowhere;", "nowhere"),
        ("trap;", "returned 719"),
    ],
)
def test_a_kernel_that_fails_is_an_error(monkeypatch, instruction, words):
    right = "mad.lo.u32 %r3, %r1, %r1, 7;"
    assert right in checkup._TRY
    monkeypatch.setattr(checkup, "_TRY", checkup._TRY.replace(right, instruction))
    fact = checkup._kernel()
    assert fact.status == "error" and words in fact.text, fact


def test_a_cache_that_cannot_be_written_is_a_warning(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "file"))
    fact = checkup._cache()
    assert fact.status == "warning" and "ANYWARP_CACHE_DIR" in fact.help


def test_an_interpreter_without_anywarp_is_an_error(monkeypatch):
    monkeypatch.setenv("ANYWARP_PYTHON", "/bin/false")
    monkeypatch.setenv("ANYWARP_BUILD_ID", "nobody")
    fact = checkup._service()
    assert fact.status == "error" and "/bin/false" in fact.text


def test_the_service_answers():
    assert checkup._service().status == "ok"


def test_in_a_pipe_the_lines_are_plain(no_library):
    out = doctor().stdout
    assert "\x1b" not in out and "error   library   libcuda.so.1" in out


def test_the_verdict_follows_the_worst_fact():
    def fact(status):
        return Fact("part", "name", status, "text", "mend it")

    assert exit_code([fact("ok"), fact("absent")]) == 0
    assert exit_code([fact("ok"), fact("warning")]) == 1
    assert exit_code([fact("warning"), fact("error")]) == 2
    assert advice([fact("error")]) == ["part name: mend it"]
    assert advice([fact("ok")])[0].startswith("anywarp run")


@pytest.mark.parametrize(
    ("name", "version", "source", "flavour", "runs"),
    [
        ("torch", "2.9.1", "cuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n", "cuda 12.8", False),
        ("torch", "2.9.1+cpu", "cuda: Optional[str] = None\nhip = None\n", "cpu", True),
        ("torch", "2.9.1", "cuda = None\nhip: Optional[str] = '6.4.2'\n", "rocm 6.4.2", None),
        ("cupy-cuda13x", "14.2", "", "cuda 13", True),
        ("jax-cuda12-plugin", "0.9", "", "cuda 12", False),
    ],
)
def test_the_flavour_of_a_framework_is_read_without_importing_it(
    tmp_path, monkeypatch, name, version, source, flavour, runs
):
    info = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    package = tmp_path / "torch"
    package.mkdir()
    (package / "version.py").write_text(source)
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    [found] = [f for f in installed() if f.name == name]
    assert (found.version, found.flavour, found.runs) == (version, flavour, runs)


def test_no_framework_is_imported():
    script = (
        "import sys; from anywarp.runtime.checkup import examine; list(examine())\n"
        "print([m for m in ('tinygrad', 'numba', 'torch', 'cuda.bindings.driver') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[]\n", done.stderr

"""Which binary a torch gets: the one that fits, one that is compiled once, or none and a message; never one for another torch."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.frameworks.torch import binary, build, found, scope

pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parents[3]


def fake_torch(place, version="2.9.0+cpu", extra=""):
    """A package that looks like a torch and is none: enough for all that happens before one is loaded."""
    folder = place / "torch"
    (folder / "lib").mkdir(parents=True)
    (folder / "version.py").write_text(f"__version__ = '{version}'\ndebug = False\n{extra}\ngit_version = 'c0ffee'\n")
    (folder / "__init__.py").write_text("class cuda: is_available = staticmethod(lambda: False)\n")
    for name in ("libtorch_cpu.so", "libc10.so"):
        (folder / "lib" / name).write_bytes(b"")
    return folder


def code_of(function, *arguments):
    with pytest.raises(AnywarpError) as caught:
        function(*arguments)
    return caught.value.diagnostic.code


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A fake torch, with a cache of its own and nothing shipped; the sources are two lines that need no header."""
    native = tmp_path / "native"
    (native / "torch").mkdir(parents=True)
    (native / "cuda").mkdir()
    for header in build.HEADERS:
        (native / header).touch()
    (native / "torch" / "version.cpp").write_text((ROOT / "native" / "torch" / "version.cpp").read_text())
    for name, value in {
        "ANYWARP_CACHE_DIR": str(tmp_path / "cache"),
        "ANYWARP_LIBRARY_DIR": str(tmp_path / "none"),
        "ANYWARP_TORCH_LIBRARY": "",
        "CXX": "",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(build, "native_folder", lambda: native)
    # the linker is told not to look for torch's libraries, which are empty
    command = tmp_path / "c++"
    command.write_text(
        '#!/bin/sh\necho "$@" >> ' + str(tmp_path / "calls") + "\n"
        'for each; do shift; case $each in -lc10 | -ltorch_cpu) ;; *) set -- "$@" "$each" ;; esac; done\nexec g++ "$@"\n'
    )
    command.chmod(0o755)
    monkeypatch.setenv("CXX", str(command))
    return tmp_path


def calls(place):
    return (place / "calls").read_text().splitlines() if (place / "calls").exists() else []


class TestWhichTorch:
    """What is read from torch's own files."""

    @pytest.mark.parametrize(
        ("version", "extra", "expected"),
        [
            ("2.13.0+cpu", "cuda: Optional[str] = None\nhip: Optional[str] = None", ("2.13.0", "")),
            ("2.6.0", "cuda = None", ("2.6.0", "")),
            ("2.9.1", "cuda: Optional[str] = '12.8'", ("2.9.1", "CUDA")),
            ("2.4.0+rocm6.1", "cuda = None\nhip = '6.1.40091'", ("2.4.0", "ROCm")),
            ("2.10.0a0+git123", "", ("2.10.0a0", "")),
        ],
    )
    def test_version_and_vendor(self, tmp_path, version, extra, expected):
        torch = found.read(fake_torch(tmp_path, version, extra))
        assert (torch.version, torch.vendor) == expected and torch.commit == "c0ffee"

    def test_a_vendors_build_is_left_alone_and_an_old_one_refused(self, tmp_path):
        assert code_of(found.check, found.read(fake_torch(tmp_path / "a", extra="hip = '6.2'"))) == "F001"
        assert code_of(found.check, found.read(fake_torch(tmp_path / "b", "2.3.1"))) == "F002"
        assert code_of(found.read, fake_torch(tmp_path / "c", "nonsense")) == "F002"

    @pytest.mark.parametrize(("version", "cuda"), [("2.10.0+cu128", "12.8"), ("2.15.0+cu132", "13.2")])
    def test_a_cuda_build_between_those_that_were_run_is_served(self, tmp_path, monkeypatch, version, cuda):
        monkeypatch.delenv("ANYWARP_TORCH_CUDA_BUILD", raising=False)
        torch = found.read(fake_torch(tmp_path / "a", version, extra=f"cuda: Optional[str] = '{cuda}'"))
        found.check(torch)
        monkeypatch.setenv("ANYWARP_TORCH_CUDA_BUILD", "0")
        assert code_of(found.check, torch) == "F001"
        monkeypatch.setenv("ANYWARP_TORCH_CUDA_BUILD", "1")
        monkeypatch.setenv("ANYWARP_DEVICE", "hip")
        assert code_of(found.check, torch) == "F001"
        rocm = found.read(fake_torch(tmp_path / "b", extra="hip = '6.2'"))
        monkeypatch.setenv("ANYWARP_DEVICE", "cpu")
        assert code_of(found.check, rocm) == "F001"

    def test_another_version_of_a_cuda_build_is_refused_in_words_or_tried_where_it_is_asked_for(
        self, tmp_path, monkeypatch
    ):
        monkeypatch.delenv("ANYWARP_TORCH_CUDA_BUILD", raising=False)
        torch = found.read(fake_torch(tmp_path / "a", "2.9.1+cu128", extra="cuda: Optional[str] = '12.8'"))
        with pytest.raises(AnywarpError) as refused:
            found.check(torch)
        said = refused.value.diagnostic
        assert said.code == "F001" and "2.15" in said.message and "ANYWARP_TORCH_CUDA_BUILD=1" in (said.help or "")
        monkeypatch.setenv("ANYWARP_TORCH_CUDA_BUILD", "1")
        found.check(torch)

    def test_a_cuda_build_and_a_cpu_build_get_binaries_of_their_own(self, tmp_path):
        cpu = found.read(fake_torch(tmp_path / "a", "2.14.1+cpu"))
        cuda = found.read(fake_torch(tmp_path / "b", "2.14.1+cu130", extra="cuda: Optional[str] = '13.0'"))
        assert cpu.identity != cuda.identity and binary.key(cpu) != binary.key(cuda)
        assert (cpu.runtime, cuda.runtime) == ("", "libcudart.so.13")
        own, over = (set(build.sources(build.native_folder(), build.kind_for(each))) for each in (cpu, cuda))
        assert {path.parent.name for path in own - over} == {"backend"} and {
            path.parent.name for path in over - own
        } == {"cuda_build"}

    def test_something_else_of_that_name_is_no_torch(self, tmp_path):
        assert not found.is_torch(tmp_path)


class TestCompiling:
    """A first use."""

    def test_it_is_compiled_once_and_found_again(self, place, capfd):
        torch = found.read(fake_torch(place))
        made = binary.fitting(torch)
        assert binary.built_for(made) == "2.9.0 c0ffee" and made.is_relative_to(place / "cache" / "torch")
        said = capfd.readouterr().err.splitlines()
        assert [line.partition(" the stand-in")[0] for line in said] == ["anywarp: compiling", "anywarp: compiled"]
        before = len(calls(place))
        assert binary.fitting(torch) == made and len(calls(place)) == before and not capfd.readouterr().err

    def test_another_commit_of_the_same_version_gets_its_own(self, place):
        first, other = found.read(fake_torch(place)), found.read(fake_torch(place / "other"))
        other = found.Torch(other.folder, other.version, "decaf", other.vendor)
        assert binary.built_for(binary.fitting(first)) != binary.built_for(binary.fitting(other))

    def test_of_two_processes_one_compiles(self, place):
        fake_torch(place)
        both = [self.process(place) for _ in range(2)]
        said = [each.communicate(timeout=100)[1] for each in both]
        assert [each.returncode for each in both] == [0, 0], said
        assert sum(text.count("anywarp: compiling") for text in said) == 1
        assert sum("-c" in line.split() for line in calls(place)) == 1

    def test_a_process_that_is_killed_leaves_nothing_in_the_way(self, place):
        fake_torch(place)
        slow = place / "slow"
        slow.write_text(f"#!/bin/sh\ntouch {place}/started\nsleep 60\n")
        slow.chmod(0o755)
        first = self.process(place, CXX=str(slow), start_new_session=True)
        deadline = time.monotonic() + 60
        while not (place / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
        second = self.process(place)
        assert second.communicate(timeout=100)[0].strip().endswith(build.NAME) and second.returncode == 0

    def process(self, place, start_new_session=False, **env):
        code = (
            f"from pathlib import Path; from anywarp.frameworks.torch import binary, build, found; place = Path({str(place)!r})\n"
            "build.native_folder = lambda: place / 'native'; print(binary.fitting(found.read(place / 'torch')))"
        )
        pipe, env = subprocess.PIPE, {**os.environ, **env}
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=pipe,
            stderr=pipe,
            text=True,
            env=env,
            start_new_session=start_new_session,
        )

    def test_no_compiler_is_told_with_the_torch_that_needs_it(self, place, monkeypatch):
        monkeypatch.setenv("CXX", "no-such-compiler -O1")
        with pytest.raises(AnywarpError) as caught:
            binary.fitting(found.read(fake_torch(place)))
        told = caught.value.diagnostic
        assert (
            told.code == "F003"
            and "torch 2.9.0" in told.message
            and "'no-such-compiler'" in told.message
            and "g++" in told.help
        )

    def test_what_does_not_compile_is_not_tried_again_by_the_same_compiler(self, place):
        (place / "native" / "torch" / "broken.cpp").write_text("int x = nonsense;\n")
        torch = found.read(fake_torch(place))
        with pytest.raises(AnywarpError) as caught:
            binary.fitting(torch)
        assert caught.value.diagnostic.code == "F004" and "nonsense" in caught.value.diagnostic.message
        before = sum("-c" in line.split() for line in calls(place))
        assert code_of(binary.fitting, torch) == "F004"
        assert sum("-c" in line.split() for line in calls(place)) == before
        (place / "native" / "torch" / "broken.cpp").write_text("int x = 1;\n")
        assert binary.built_for(binary.fitting(torch)) == torch.identity

    @pytest.mark.parametrize("why", ["full", "no directory"])
    def test_a_place_that_takes_nothing_is_told(self, place, monkeypatch, why):
        torch = found.read(fake_torch(place))
        if why == "full":
            script = place / "full"
            script.write_text('#!/bin/sh\necho "cannot write: No space left on device" >&2\nexit 1\n')
            script.chmod(0o755)
            monkeypatch.setenv("CXX", str(script))
        else:
            (place / "file").touch()
            monkeypatch.setenv("ANYWARP_CACHE_DIR", str(place / "file"))
        assert code_of(binary.fitting, torch) == "F005"


class TestNeverAnother:
    """A binary is for one torch."""

    def test_a_binary_that_is_named_must_be_for_this_torch(self, place, monkeypatch):
        torch = found.read(fake_torch(place))
        made = binary.fitting(torch)
        monkeypatch.setenv("ANYWARP_TORCH_LIBRARY", str(made))
        assert binary.fitting(torch) == made
        other = found.Torch(torch.folder, "2.9.1", torch.commit, "")
        assert code_of(binary.fitting, other) == "F006"

    def test_a_shipped_binary_for_another_torch_is_passed_over(self, place, monkeypatch):
        torch = found.read(fake_torch(place))
        made = binary.fitting(torch)
        shipped = place / "none" / "torch" / "2.9.0" / build.NAME
        shipped.parent.mkdir(parents=True)
        shipped.write_bytes(made.read_bytes().replace(b"2.9.0 c0ffee", b"2.9.0 decafs"))
        assert binary.fitting(torch) == made
        shipped.write_bytes(made.read_bytes())
        assert binary.fitting(torch) == shipped

    def test_what_is_shipped_is_for_each_build_of_one_version(self, place):
        shipped = place / "none" / "torch" / "2.9.0" / build.NAME
        shipped.parent.mkdir(parents=True)
        shipped.write_bytes(binary.MARK + b"2.9.0 c0ffee\0")
        builds = [
            found.read(fake_torch(place / version, version))
            for version in ("2.9.0", "2.9.0+cpu", "2.9.1+cpu", "2.10.0")
        ]
        assert [binary.ready(each) for each in builds] == [shipped, shipped, None, None]

    @pytest.mark.parametrize("content", [b"", b"\x7fELF", binary.MARK, binary.MARK + b"\xff" * 5000])
    def test_files_that_are_no_stand_in_are_for_no_torch(self, tmp_path, content):
        (tmp_path / "x").write_bytes(content)
        assert binary.built_for(tmp_path / "x") != "2.9.0 c0ffee"
        assert binary.built_for(tmp_path) is None and binary.built_for(tmp_path / "absent") is None


class TestMessages:
    """A program goes on without `cuda`, and it is said once in a run."""

    @pytest.mark.parametrize(
        ("version", "extra", "code"), [("2.9.1", "cuda = '12.8'", "note[F001]"), ("2.3.0+cpu", "", "error[F002]")]
    )
    def test_once_for_all_processes(self, under_anywarp, tmp_path, version, extra, code):
        fake_torch(tmp_path, version, extra)
        say = "import torch; print(torch.cuda.is_available())"
        twice = f"import subprocess, sys; {say}; subprocess.run([sys.executable, '-c', {say!r}])"
        done = under_anywarp("-c", twice, env={"PYTHONPATH": str(tmp_path), "ANYWARP_RUN": ""})
        assert (done.returncode, sorted(done.stdout.split())) == (0, ["False", "False"])
        assert done.stderr.count(code) == 1 and f"torch {version.partition('+')[0]} in {tmp_path}" in done.stderr

    def test_without_a_compiler_the_program_goes_on(self, under_anywarp, tmp_path):
        fake_torch(tmp_path)
        env = {"PYTHONPATH": str(tmp_path), "CXX": "no-such-compiler", "ANYWARP_TORCH_LIBRARY": "", "ANYWARP_RUN": ""}
        done = under_anywarp("-c", "import torch; print(torch.cuda.is_available())", env=env)
        assert (done.returncode, done.stdout) == (0, "False\n") and "error[F003]" in done.stderr

    def test_a_binary_that_does_not_load_is_told_with_the_loaders_words(self, under_anywarp, tmp_path):
        fake_torch(tmp_path)
        (tmp_path / "x.so").write_bytes(binary.MARK + b"2.9.0 c0ffee\0")
        env = {"PYTHONPATH": str(tmp_path), "ANYWARP_TORCH_LIBRARY": str(tmp_path / "x.so"), "ANYWARP_RUN": ""}
        done = under_anywarp("-c", "import torch; print(torch.cuda.is_available())", env=env)
        assert (done.returncode, done.stdout) == (0, "False\n") and "error[F007]" in done.stderr


class TestLists:
    """Scope and block list."""

    @pytest.mark.parametrize(
        ("words", "names"),
        [
            (["python", "-m", "torch.distributed.run", "--nproc", "2", "train.py"], ("torch.distributed.run",)),
            (["python", "-u", "-X", "dev", "-m", "pytest"], ("pytest",)),
        ],
    )
    def test_the_names_of_a_program(self, words, names):
        assert scope.program(words) == names

    @pytest.mark.parametrize(
        ("entry", "name", "held"),
        [("a", "a", True), ("a", "a.b", True), ("a.b", "a", False), ("a", "ab", False), ("", "a", False)],
    )
    def test_an_entry_holds_itself_and_what_is_in_it(self, entry, name, held):
        assert scope.covers(entry, name) is held

    def test_changes_of_a_blocked_package_are_not_made(self, monkeypatch):
        monkeypatch.setenv("ANYWARP_TORCH_BLOCK", "transformers, torch._inductor")
        assert not scope.changes_module("transformers.utils") and not scope.changes_module("torch._inductor")
        assert scope.changes_module("torch.cuda")

"""Starting programs: what they find in their environment, and that exit codes and signals are theirs."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.runtime import launch

FAKES = Path(__file__).resolve().parents[1] / "fakes"
RUN = [sys.executable, "-m", "anywarp", "run"]


@pytest.fixture
def libraries(tmp_path, monkeypatch):
    """A folder that looks like ours; the file in it is no library, so only programs that load none are run with it."""
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "libcuda.so.1").write_bytes(b"")
    monkeypatch.setenv("ANYWARP_LIBRARY_DIR", str(folder))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    return folder


def test_our_libraries_come_first_and_the_rest_stays(libraries):
    env = launch.environment("cpu", {"LD_LIBRARY_PATH": "/a:/b", "HOME": "/h", "PYTHONPATH": "/p"})
    assert env["LD_LIBRARY_PATH"] == f"{libraries}:/a:/b"
    assert (env["HOME"], env["PYTHONPATH"], env["ANYWARP_DEVICE"]) == ("/h", f"{launch.SITE}:/p", "cpu")
    assert "LD_PRELOAD" not in env
    assert len(env["ANYWARP_BUILD_ID"]) == 16 and env["ANYWARP_PYTHON"] == sys.executable


@pytest.mark.parametrize(("device", "code"), [("abacus", "D001"), ("paper", "R023")])
def test_a_device_that_cannot_run_programs_is_refused(libraries, monkeypatch, device, code):
    monkeypatch.syspath_prepend(str(FAKES))
    with pytest.raises(AnywarpError) as caught:
        launch.environment(device, {})
    assert caught.value.diagnostic.code == code


def test_a_run_within_a_run_adds_nothing_twice(libraries):
    (libraries / "libnvJitLink.so.13").write_bytes(b"")
    once = launch.environment("cpu", {"LD_PRELOAD": "/x.so"})
    assert once["LD_PRELOAD"] == f"{libraries}/libnvJitLink.so.13:/x.so"
    assert launch.environment("cpu", once) == once


def test_build_systems_find_a_compiler_where_there_is_no_nvcc_and_ours_has_its_clang(libraries, tmp_path, monkeypatch):
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
    (tmp_path / "with/nvcc").write_text("#!/bin/sh\n")
    (tmp_path / "with/nvcc").chmod(0o755)

    def nvcc(folder):
        env = launch.environment("cpu", {"PATH": str(tmp_path / folder)})
        return shutil.which("nvcc", path=env["PATH"])

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert nvcc("with") == str(tmp_path / "with/nvcc") and nvcc("without") == str(launch.COMPILERS / "nvcc")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.delenv("ANYWARP_CLANG", raising=False)
    assert nvcc("without") is None


def test_on_hip_its_own_driver_and_libraries_come_first_and_python_finds_packages_for_it(libraries):
    own = libraries / "hip"
    own.mkdir()
    for name in ("libcuda.so.1", "libcublas.so.13", "libcufft.so.12"):
        (own / name).write_bytes(b"")
    env = launch.environment("hip", {"LD_LIBRARY_PATH": "/a", "PYTHONPATH": "/p"})
    assert env["LD_LIBRARY_PATH"] == f"{own}:{libraries}:/a" and env["ANYWARP_DEVICE"] == "hip"
    assert "LD_PRELOAD" not in env and "LD_AUDIT" not in env and env["PYTHONPATH"] == f"{launch.SITE}:/p"
    assert launch.environment("hip", env) == env
    assert "ANYWARP_OVERLAYS" not in launch.environment("cpu", env)
    pure = launch.environment("hip", env, pure=True)
    assert pure["PYTHONPATH"] == "/p" and "ANYWARP_OVERLAYS" not in pure


@pytest.mark.parametrize("device", ["cpu", "hip"])
def test_where_the_loader_can_be_told_nothing_is_loaded_before_it_is_asked_for(libraries, device):
    own = libraries / "hip" if device == "hip" else libraries
    own.mkdir(exist_ok=True)
    for name in ("libcuda.so.1", "libcublas.so.13", "libnccl.so.2", "libnvrtc.so.13", launch.SEARCH):
        (own / name).write_bytes(b"")
    env = launch.environment(device, {"LD_AUDIT": "/x.so"})
    assert "LD_PRELOAD" not in env and env["LD_AUDIT"] == f"{own}/{launch.SEARCH}:/x.so"
    assert launch.environment(device, env) == env


TOY_DRIVER = """
int cuInit(unsigned flags) { return flags ? 1 : 0; }
int cuDriverGetVersion(int *version) { *version = 4321; return 0; }
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="a device's driver library is compiled here")
def test_a_program_runs_on_a_device_of_another_package(libraries, tmp_path):
    """All that it takes is an entry point and a folder with a driver."""
    own = tmp_path / "toy"
    own.mkdir()
    (own / "driver.c").write_text(TOY_DRIVER)
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        "-Wl,-soname,libcuda.so.1",
        "-o",
        str(own / "libcuda.so.1"),
        str(own / "driver.c"),
    ]
    subprocess.run(command, check=True, timeout=60)
    program = (
        "import ctypes; driver = ctypes.CDLL('libcuda.so.1'); version = ctypes.c_int(); "
        "print(driver.cuInit(0), driver.cuDriverGetVersion(ctypes.byref(version)), version.value)"
    )
    path = os.pathsep.join(each for each in (str(FAKES), os.environ.get("PYTHONPATH")) if each)
    done = subprocess.run(
        [sys.executable, "-m", "anywarp", "run", "--device", "toy", "--", sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, "ANYWARP_TOY_LIBRARIES": str(own)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("0 0 4321\n", 0), done.stderr


def test_hip_without_its_driver_library_is_told(libraries):
    with pytest.raises(AnywarpError) as caught:
        launch.environment("hip", {})
    assert caught.value.diagnostic.code == "R020" and "hip" in caught.value.diagnostic.message


@pytest.mark.parametrize("before", [None, "", "/a", ":/a", "/a::/b"])
def test_the_python_path_keeps_what_was_there_to_the_letter(libraries, before):
    base = {} if before is None else {"PYTHONPATH": before}
    served = launch.environment("cpu", base)
    assert served["PYTHONPATH"] == (f"{launch.SITE}:{before}" if before else str(launch.SITE))
    assert launch.environment("cpu", served) == served
    assert launch.environment("cpu", served, pure=True).get("PYTHONPATH") == (before or "")
    assert launch.environment("cpu", base, pure=True).get("PYTHONPATH") == before


def test_each_run_has_a_name_that_runs_within_keep(libraries):
    one, other = (launch.environment("cpu", {})["ANYWARP_RUN"] for _ in range(2))
    assert one != other and launch.environment("cpu", {"ANYWARP_RUN": one})["ANYWARP_RUN"] == one


def test_every_python_waits_for_torch_and_none_imports_anything_for_it(libraries):
    """As in a process of another environment: only the folder is on the path."""
    code = "import sys; print(type(sys.meta_path[0]).__name__, [m for m in sys.modules if m.startswith('anywarp')])"
    command = [sys.executable, "-S", "-c", f"import sitecustomize; {code}"]
    done = subprocess.run(command, env=launch.environment("cpu", {}), capture_output=True, text=True, timeout=60)
    assert done.stdout == "Door []\n", done.stderr


def test_missing_libraries_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_LIBRARY_DIR", str(tmp_path))
    with pytest.raises(AnywarpError) as caught:
        launch.environment("cpu", {})
    assert caught.value.diagnostic.code == "R020"


@pytest.mark.parametrize("extra", [[], ["--summary"]], ids=["becomes", "watches"])
class TestRun:
    """Both ways of running a command look alike from outside."""

    def run(self, extra, *command, **options):
        return subprocess.run([*RUN, *extra, "--", *command], capture_output=True, text=True, timeout=60, **options)

    def test_the_exit_code_is_the_programs(self, libraries, extra):
        assert self.run(extra, "sh", "-c", "exit 37").returncode == 37

    def test_output_and_input_are_the_programs(self, libraries, extra):
        done = self.run(extra, "sh", "-c", "cat; echo words >&2", input="some text")
        assert done.stdout == "some text" and done.stderr.startswith("words\n")

    def test_children_inherit_the_environment(self, libraries, extra):
        done = self.run(extra, "sh", "-c", 'sh -c "echo \\$LD_LIBRARY_PATH"')
        assert done.stdout.split(":")[0].strip() == str(libraries)

    def test_a_signal_that_ends_the_program_shows(self, libraries, extra):
        done = self.run(extra, "sh", "-c", "kill -SEGV $$")
        assert done.returncode in (-signal.SIGSEGV, 128 + signal.SIGSEGV)
        assert (done.returncode < 0) == (extra == [])

    def test_a_missing_command_is_127(self, libraries, extra):
        done = self.run(extra, "no-such-command-here")
        assert done.returncode == 127 and "error[R021]" in done.stderr and "no-such-command-here" in done.stderr

    def test_a_file_that_is_no_program_is_126(self, libraries, extra, tmp_path):
        (tmp_path / "text").write_text("words")
        done = self.run(extra, str(tmp_path / "text"))
        assert done.returncode == 126 and "error[R022]" in done.stderr

    def test_options_of_the_command_are_left_alone(self, libraries, extra):
        assert self.run(extra, "echo", "--device", "x", "--", "--help").stdout == "--device x -- --help\n"

    def test_an_interrupt_reaches_the_program_and_its_answer_counts(self, libraries, extra):
        script = "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"
        child = subprocess.Popen(
            [*RUN, *extra, "--", "sh", "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell in the background ignores it
        )
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        time.sleep(0.1)
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does
        out, err = child.communicate(timeout=30)
        assert child.returncode == 5 and out == b"caught\n" and b"Traceback" not in err

    def test_a_request_to_end_reaches_the_program(self, libraries, extra):
        script = "trap 'echo ending; exit 6' TERM; echo ready; while :; do sleep 0.05; done"
        child = subprocess.Popen(
            [*RUN, *extra, "--", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        time.sleep(0.1)
        child.terminate()
        out, _ = child.communicate(timeout=30)
        assert child.returncode == 6 and out == b"ending\n"


@pytest.mark.skipif(shutil.which("cc") is None, reason="this machine has no C compiler")
def test_a_native_program_and_a_python_program_load_our_library(tmp_path, monkeypatch):
    """A real library that tells its own place; the program asks for it by the name CUDA programs use."""
    folder = tmp_path / "lib"
    folder.mkdir()
    (tmp_path / "lib.c").write_text('const char *whose(void) { return "ours"; }\n')
    (tmp_path / "main.c").write_text(
        "#include <dlfcn.h>\n#include <stdio.h>\n"
        'int main(void) { void *h = dlopen("libcuda.so.1", RTLD_NOW);\n'
        'const char *(*f)(void) = h ? (const char *(*)(void))dlsym(h, "whose") : 0; puts(f ? f() : "none"); return !f; }\n'
    )
    library = folder / "libcuda.so.1"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library, tmp_path / "lib.c"], check=True
    )
    subprocess.run(["cc", "-o", tmp_path / "main", tmp_path / "main.c", "-ldl"], check=True)
    monkeypatch.setenv("ANYWARP_LIBRARY_DIR", str(folder))
    python = "import ctypes; f = ctypes.CDLL('libcuda.so.1').whose; f.restype = ctypes.c_char_p; print(f().decode())"
    for command in ([tmp_path / "main"], [sys.executable, "-c", python]):
        done = subprocess.run([*RUN, "--", *command], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "ours\n"), done.stderr


def test_triton_finds_our_driver_and_our_ptxas(libraries):
    (libraries / "ptxas").write_bytes(b"")
    env = launch.environment("cpu", {"TRITON_PTXAS_PATH": "/usr/local/cuda/bin/ptxas"})
    assert env["TRITON_LIBCUDA_PATH"] == str(libraries)
    assert env["TRITON_PTXAS_PATH"] == env["TRITON_PTXAS_BLACKWELL_PATH"] == f"{libraries}/ptxas"

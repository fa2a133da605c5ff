"""What the loader is told of NVIDIA's libraries: ours, by whatever path they are asked for, and only when they are."""

import os
import subprocess
import sys

import pytest

from anywarp import settings
from anywarp.runtime import launch

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        not (settings.LIBRARY_DIR.get() / launch.SEARCH).exists(), reason="the loader is asked on x86-64 only"
    ),
]

MAPPED = "import ctypes, sys; [ctypes.CDLL(p) for p in sys.argv[1:]]; print(open('/proc/self/maps').read())"


def mapped(device, *asked, program=(sys.executable, "-c", MAPPED)):
    """The files of our folder that a process has mapped when it has asked for some libraries."""
    env = launch.environment(device, dict(os.environ))
    done = subprocess.run([*program, *asked], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    files = {line.split()[-1] for line in done.stdout.splitlines() if line.count("/") > 1 and ".so" in line}
    ours = str(settings.LIBRARY_DIR.get().resolve())
    return {f[len(ours) + 1 :] for f in files if f.startswith(ours)}, files


@pytest.fixture
def wheel(tmp_path):
    """A folder as NVIDIA's wheels have it: libraries that do nothing, and one that needs them by RPATH."""
    (tmp_path / "empty.c").write_text("int nothing(void) { return 0; }")
    for name in ("libcublas.so.12", "libcudart.so.12", "libnccl.so.2", "libother.so.1"):
        command = ["gcc", "-shared", "-fPIC", "empty.c", "-o", name, f"-Wl,-soname,{name}"]
        subprocess.run(command, check=True, cwd=tmp_path)
    needed = [
        "-Wl,--no-as-needed",
        "./libcudart.so.12",
        "./libother.so.1",
        f"-Wl,--disable-new-dtags,-rpath,{tmp_path}",
    ]
    subprocess.run(["gcc", "-shared", "-fPIC", "empty.c", "-o", "client.so", *needed], check=True, cwd=tmp_path)
    return tmp_path


@pytest.mark.parametrize("device", ["cpu", "hip"])
def test_a_process_that_asks_for_nothing_loads_nothing(device):
    own = f"hip/{launch.SEARCH}" if device == "hip" else launch.SEARCH
    assert mapped(device)[0] == {own}
    assert mapped(device, program=("/bin/cat", "/proc/self/maps"))[0] == {own}


@pytest.mark.parametrize("device", ["cpu", "hip"])
def test_a_library_asked_for_by_path_or_needed_by_rpath_is_ours(device, wheel):
    ours, files = mapped(device, str(wheel / "client.so"))
    assert "libcudart.so.12" in ours
    assert str(wheel / "libcudart.so.12") not in files and str(wheel / "libother.so.1") in files
    assert "libcudart.so.12" in mapped(device, str(wheel / "libcudart.so.12"))[0]


def test_each_device_has_a_library_of_its_own_and_the_one_in_the_wheel_is_not_loaded(wheel):
    asked = str(wheel / "libcublas.so.12")
    for device, name in (("hip", "hip/libcublas.so.12"), ("cpu", "libcublas.so.12")):
        ours, files = mapped(device, asked)
        assert name in ours and asked not in files


def test_names_of_rccl_stay_its_own_beside_our_nccl(tmp_path):
    """A program for ROCm that is linked to RCCL calls RCCL: our libnccl has the same names, and is not in its process."""
    (tmp_path / "rccl.c").write_text("int ncclGetVersion(int *v) { *v = 4242; return 0; }")
    (tmp_path / "main.c").write_text(
        "int ncclGetVersion(int *); int printf(const char *, ...);"
        'int main(void) { int v = 0; ncclGetVersion(&v); return printf("%d\\n", v) < 0; }'
    )
    library = ["gcc", "-shared", "-fPIC", "rccl.c", "-o", "librccl.so.1", "-Wl,-soname,librccl.so.1"]
    subprocess.run(library, check=True, cwd=tmp_path)
    program = ["gcc", "main.c", "./librccl.so.1", "-o", "main", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(program, check=True, cwd=tmp_path)
    env = launch.environment("hip", dict(os.environ))
    done = subprocess.run([tmp_path / "main"], env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout == "4242\n"


@pytest.mark.parametrize("release", ["13.0", "12.8"])
def test_the_other_half_of_nvrtc_is_ours_too(release, wheel):
    builtins = f"libnvrtc-builtins.so.{release}"
    (wheel / "libother.so.1").rename(wheel / builtins)
    ours, files = mapped("cpu", str(wheel / builtins))
    assert f"libnvrtc.so.{release.partition('.')[0]}" in ours and str(wheel / builtins) not in files


@pytest.mark.parametrize("name", ["libnvrtc-builtins.so.99.1", "libnvrtc-builtins.alt.so.13.0"])
def test_of_a_release_that_we_have_not_and_of_another_name_it_is_not(name, wheel):
    (wheel / "libother.so.1").rename(wheel / name)
    assert str(wheel / name) in mapped("cpu", str(wheel / name))[1]

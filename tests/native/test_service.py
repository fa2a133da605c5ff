"""The cache and the compile service as the driver uses them: damaged, read-only or foreign caches, a killed service, reports."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fakes.services import services
from native import kernels
from native.by_hand import build_id, container, device_identity

pytestmark = pytest.mark.native

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry NAME(.param .u64 out)
{
 .reg .b32 %r<2>; .reg .b64 %rd<2>;
 ld.param.u64 %rd1,[out]; mov.u32 %r1,77; st.global.u32 [%rd1],%r1; ret;
}
"""

# Loads the PTX given as argument, runs its kernel, prints the codes and the word stored.
PROGRAM = """
import ctypes, os, sys
sys.path.insert(0, sys.argv[1])
from native.by_hand import Driver
d = Driver(); d.cuInit(0); d.out('cuCtxCreate_v2', 0, 0)
image, name = open(sys.argv[2], 'rb').read(), sys.argv[3].encode()
module, function = ctypes.c_void_p(), ctypes.c_void_p()
code = d.code('cuModuleLoadData', ctypes.byref(module), image)
if not code: code = d.code('cuModuleGetFunction', ctypes.byref(function), module, name)
out = d.out('cuMemAlloc_v2', 64); held = ctypes.c_uint64(out)
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(held))
if not code: code = d.code('cuLaunchKernel', function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, None)
if not code: code = d.code('cuCtxSynchronize')
print(code, ctypes.c_uint32.from_address(out).value)
"""


@pytest.fixture
def place(tmp_path, same_compiler):
    """A cache of its own, with an image in it: (environment, cache, run)."""
    cache = tmp_path / "cache"
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    image = tmp_path / "image.ptx"
    image.write_text(PTX.replace("NAME", "stores77"))
    environment = dict(os.environ, ANYWARP_CACHE_DIR=str(cache), XDG_RUNTIME_DIR=str(runtime), ANYWARP_SERVICE_IDLE="5")

    def run(path=image, name="stores77", **more):
        command = [sys.executable, "-c", PROGRAM, "tests", str(path), name]
        return subprocess.run(command, env={**environment, **more}, capture_output=True, text=True, timeout=120)

    return environment, cache, run


def entries(cache):
    return sorted(p for p in cache.glob("objects/*/*") if len(p.name) == 64)


def test_a_warm_start_asks_no_service(place):
    environment, cache, run = place
    cold = run()
    assert cold.stdout.split() == ["0", "77"], cold.stderr
    assert len(entries(cache)) == 2
    warm = run(ANYWARP_PYTHON="/nonexistent", XDG_RUNTIME_DIR=str(cache / "elsewhere"))
    assert warm.stdout.split() == ["0", "77"], warm.stderr


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "longer"])
def test_a_damaged_entry_is_made_anew(place, damage):
    _, cache, run = place
    assert run().stdout.split() == ["0", "77"]
    for path in entries(cache):
        data = bytearray(path.read_bytes())
        if damage == "flip":
            data[len(data) // 2] ^= 0x40
        data = {"cut": data[:-7], "empty": bytearray(), "longer": data + b"x"}.get(damage, data)
        path.write_bytes(data)
    again = run()
    assert again.stdout.split() == ["0", "77"], again.stderr


def test_without_a_service_the_error_names_what_to_do(place):
    _, _, run = place
    done = run(ANYWARP_PYTHON="/nonexistent")
    assert done.stdout.split()[0] == "999" and "ANYWARP_PYTHON" in done.stderr
    done = run(ANYWARP_PYTHON="/bin/false")
    assert done.stdout.split()[0] == "999" and "/bin/false cannot start it" in done.stderr


def test_a_cache_that_others_may_write_is_not_used(place):
    _, cache, run = place
    assert run().stdout.split() == ["0", "77"]
    cache.chmod(0o777)
    done = run()
    assert "other users may write to it" in done.stderr and done.stdout.split() == ["0", "77"]


def test_a_cache_that_cannot_be_made_only_costs_time(place, tmp_path):
    _, _, run = place
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = run(ANYWARP_CACHE_DIR=str(blocked / "cache"))
    assert done.stdout.split() == ["0", "77"], done.stderr


def test_a_killed_service_is_replaced(place, tmp_path):
    environment, _, run = place
    assert run().stdout.split() == ["0", "77"]
    for process in services(environment["XDG_RUNTIME_DIR"]):
        os.kill(process, signal.SIGKILL)
    other = tmp_path / "other.ptx"
    other.write_text(PTX.replace("NAME", "other77"))
    done = run(other, "other77")
    assert done.stdout.split() == ["0", "77"], done.stderr


def test_an_object_that_makes_no_sense_is_an_error(driver, context, handmade):
    """Whatever is wrong with an object whose digest is right (an older compiler, a full disk of the service's)."""
    good = handmade.module(kernels.LIMITED)
    from native.by_hand import PRELUDE, compile_c

    whole = compile_c(PRELUDE + kernels.STORES.source, "-fPIC")
    tried = 0
    for at in [*range(64), *range(len(whole) - 64 * 12, len(whole), 5)]:
        data = bytearray(whole)
        data[at] ^= 0xFF
        name = f"broken{at}"
        image = f"// {name}".encode()
        write_module(handmade, image, name, bytes(data))
        module = driver.out("cuModuleLoadData", image)
        function = driver.out("cuModuleGetFunction", module, name.encode())
        value = ctypes.c_int()
        code = driver.code("cuFuncGetAttribute", ctypes.byref(value), 1, function)
        assert code in (0, 2, 999)
        tried += code == 999
        driver.cuModuleUnload(module)
    assert tried > 30 and good
    for cut in (0, 1, 63, 64, 200, len(whole) // 2):
        name = f"cut{cut}"
        image = f"// {name}".encode()
        write_module(handmade, image, name, whole[:cut])
        function = driver.out("cuModuleGetFunction", driver.out("cuModuleLoadData", image), name.encode())
        assert driver.code("cuFuncGetAttribute", ctypes.byref(ctypes.c_int()), 1, function) == 999


def write_module(handmade, image, name, code):
    import hashlib

    head = f"{build_id()}\n{device_identity()}\n{hashlib.sha256(image).hexdigest()}\n"
    lines = [("kind", "module"), ("ptx", "8.0", "sm_80"), ("data", 0, 1), ("entry", name, 0, 0, 0, 0, 0)]
    handmade.put(f"module\n{head}", container(lines, b""))
    lines = [("kind", "kernel"), ("abi", 1), ("name", name), ("symbol", "stores"), ("block", 0, 0, 0), ("frame", 0, 0), ("local", 0),
             ("shared", 0), ("param", 0)]  # fmt: skip
    handmade.put(f"kernel\n{head}{name}\n256 1 1\n\n", container(lines, code))


@pytest.mark.parametrize(
    "lines",
    [
        [("entry", "k", "many", 0, 0, 0, 0)],
        [("entry", "k")],
        [("entry", "k", 8, 0, 0, 0, 0), ("param", "k", 4, 8, 8)],
        [("param", "unknown", 0, 8, 8)],
        [("data", 16, 3)],
        [("data", 1 << 60, 16)],
        [("data", 8, 8), ("global", "g", "global", 4, 8, 4)],
        [("data", 8, 8), ("address", 4, 0, "data", 8, 0)],
        [("data", 8, 8), ("address", 0, 9, "data", 8, 0)],
        [("data", 8, 8), ("address", 0, 0, "data", 9, 0)],
        [("data", -8, 8)],
    ],
)
def test_a_description_that_contradicts_itself_is_refused(driver, context, handmade, lines):
    import hashlib

    image = f"// contradiction {lines}".encode()
    head = f"{build_id()}\n{device_identity()}\n{hashlib.sha256(image).hexdigest()}\n"
    handmade.put(f"module\n{head}", container([("kind", "module"), *lines], b""))
    assert driver.code("cuModuleLoadData", ctypes.byref(ctypes.c_void_p()), image) == 200


def test_a_report_tells_what_a_process_did(place, tmp_path):
    _, _, run = place
    folder = tmp_path / "reports"
    folder.mkdir()
    assert run(ANYWARP_REPORT_DIR=str(folder)).stdout.split() == ["0", "77"]
    (path,) = folder.glob("*.tsv")
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    process = next(line for line in lines if line[0] == "process")
    assert path.name.startswith(process[1] + "-") and "python" in process[2]
    assert ["call", "cuLaunchKernel", "1"] in lines and ["call", "cuInit", "1"] in lines
    kernel = next(line for line in lines if line[0] == "kernel")
    assert kernel[1:5] == ["stores77", "1", "1", "0"] and float(kernel[5]) > 0
    assert int(next(line for line in lines if line[0] == "memory")[1]) == 64
    assert run(ANYWARP_REPORT_DIR=str(folder)).stdout.split() == ["0", "77"]
    newest = max(folder.glob("*.tsv"), key=lambda p: p.stat().st_mtime_ns)
    assert "kernel\tstores77\t1\t0\t1\t0.000" in newest.read_text().splitlines()


def test_logging_can_be_turned_off(place):
    _, _, run = place
    done = run(ANYWARP_PYTHON="/nonexistent", ANYWARP_LOG="off")
    assert done.stdout.split()[0] == "999" and "anywarp:" not in done.stderr


def test_two_processes_may_want_the_same_kernel_at_once(place):
    environment, _, run = place
    image = Path(environment["ANYWARP_CACHE_DIR"]).parent / "image.ptx"
    command = [sys.executable, "-c", PROGRAM, "tests", str(image), "stores77"]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [p.communicate(timeout=120)[0].split() for p in both] == [["0", "77"]] * 2


def test_the_service_ends_by_itself(place):
    environment, _, run = place
    assert run(ANYWARP_SERVICE_IDLE="1").stdout.split() == ["0", "77"]
    deadline = time.monotonic() + 20
    while services(environment["XDG_RUNTIME_DIR"]) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not services(environment["XDG_RUNTIME_DIR"])

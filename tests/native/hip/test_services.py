"""printf, assertions, traps and the heap of kernels through the whole way: driver, compiler, code object, emulator, and back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from native.hip.rig import PRELUDE, environment

pytestmark = [pytest.mark.native, pytest.mark.amd_emulator]

ROOT = Path(__file__).parents[3]
PTX = ROOT / "tests/emulator/cases/services.ptx"
START = f"""
context()
module = made("cuModuleLoadData", open({str(PTX)!r}, "rb").read())
def launch(name, grid, block, *values):
    pointers = (c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    kernel = made("cuModuleGetFunction", module, name.encode())
    call("cuLaunchKernel", kernel, *map(c_uint, (grid, 1, 1, block, 1, 1)), c_uint(0), None, pointers, None)
    return cuda.cuCtxSynchronize()
data = memory(4096)
call("cuMemcpyHtoD_v2", data, b"one\\0two\\0tri\\0fou\\0fiv\\0", c_size_t(20))
"""


def run(code, folder, arch):
    """Run a program with the emulator behind the fake runtime; returns its lines and its standard error."""
    if "TINYGRAD" not in os.environ:
        pytest.skip("TINYGRAD does not name a work tree of tinygrad")
    more = {
        "FAKE_HIP_DEVICES": arch,
        "FAKE_HIP_EXECUTE": str(ROOT / "tests/fakes/rocm/execute.py"),
        "FAKE_HIP_PYTHON": sys.executable,
    }
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + START + code], env=environment(folder, **more), capture_output=True, text=True, timeout=200
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_prints_come_out_when_the_program_waits(tmp_path, same_compiler, arch):
    code = 'assert launch("prints", 2, 64, data, ctypes.c_double(1.5)) == 0\nprint("after")'
    lines, _ = run(code, tmp_path, arch)
    texts = ["one", "two", "tri", "fou", "fiv"]
    wanted = [
        f"{t}: {texts[t % 5]} {1.5 * t:5.2f} {t << 33} {chr(97 + t % 26)} 0x{0x1000 + t:x} 100%"
        for t in range(128)
        if t % 3 == 1
    ]
    assert lines[-1] == "after"
    assert sorted(lines[:-1]) == sorted([*wanted, "plain", f"[{-41:6d}|{'one':8}|ne]"])


@pytest.mark.parametrize("kernel, limit, code, words", [
    ("asserts", 40, 710, ("services.cu:10: void asserts", "thread: [40,0,0]", "`(int)threadIdx.x < limit` failed")),
    ("traps", 37, 719, ("a trap in block (0,0,0), thread (37,0,0)", "of the PTX")),
])  # fmt: skip
def test_a_kernel_that_stops_is_told_and_loses_the_context(tmp_path, same_compiler, kernel, limit, code, words):
    program = f"""
print(launch({kernel!r}, 1, 64, c_int({limit}), data))
print(cuda.cuCtxSynchronize(), cuda.cuMemAlloc_v2(byref(c_uint64()), c_size_t(8)))
"""
    lines, errors = run(program, tmp_path, "gfx942")
    assert lines == [str(code), f"{code} {code}"]
    assert "R031" in errors and all(word in errors for word in words)


def test_the_heap_serves_launches_one_after_the_other(tmp_path, same_compiler):
    program = """
for _ in range(2):
    assert launch("allocates", 1, 64, data, c_int(40), c_int(3)) == 0
found = (c_uint64 * 64)()
call("cuMemcpyDtoH_v2", found, data, c_size_t(512))
print(list(found) == [3 * sum(t * 1000 + i for i in range(10)) for t in range(64)])
"""
    assert run(program, tmp_path, "gfx942")[0] == ["True"]

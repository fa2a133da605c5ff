"""What this machine has for running CUDA software with us, and what stands in the way: the facts behind `anywarp doctor`.

Each fact is looked up on its own and a look-up that fails is itself a fact, so that one broken part does not hide the others.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from anywarp import settings
from anywarp.compiler.simd.tuning import read_tuning
from anywarp.devices import device as devices
from anywarp.devices.cpu.target import host_target
from anywarp.devices.cuda import driver as nvidia
from anywarp.devices.facts import Fact
from anywarp.devices.hip.checkup import examine_driver
from anywarp.devices.hip.software import examine_rocm, examine_torch
from anywarp.devices.hip.topology import processors
from anywarp.diagnostics import AnywarpError
from anywarp.runtime import launch
from anywarp.runtime.build_id import build_id
from anywarp.runtime.cache import Cache
from anywarp.runtime.client import connected
from anywarp.runtime.installed import Installed, installed
from anywarp.runtime.measured import read_record

LOAD_LIMIT = 30.0
"""Seconds that loading our library in a process of its own may take."""

_HELP = "install the package again: pip install --force-reinstall anywarp"

_TRY = """
import ctypes, sys
ptx = b'''// doctor @NONCE@
.version 7.0
.target sm_50
.address_size 64
.visible .entry doctor(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 96, %r1;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; mad.lo.u32 %r3, %r1, %r1, 7; st.global.u32 [%rd1], %r3;
  ret;
}'''
driver = ctypes.CDLL(sys.argv[1])
def check(name, status):
    if status:
        print(name, "returned", status)
        sys.exit()
context, module, kernel, out = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
check("cuInit", driver.cuInit(0))
check("cuCtxCreate", driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
check("cuModuleLoadData", driver.cuModuleLoadData(ctypes.byref(module), ptx))
check("cuModuleGetFunction", driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"doctor"))
check("cuMemAlloc", driver.cuMemAlloc_v2(ctypes.byref(out), 768))
given = (ctypes.c_void_p * 1)(ctypes.addressof(out))
check("cuLaunchKernel", driver.cuLaunchKernel(kernel, 2, 1, 1, 96, 1, 1, 0, None, given, None))
check("cuCtxSynchronize", driver.cuCtxSynchronize())
found = (ctypes.c_uint32 * 192)()
check("cuMemcpyDtoH", driver.cuMemcpyDtoH_v2(found, out, 768))
print("right" if list(found) == [n * n + 7 for n in range(192)] else "wrong")
"""

_LOAD = """
import ctypes, sys
driver = ctypes.CDLL(sys.argv[1])
status = driver.cuInit(0)
count, version = ctypes.c_int(), ctypes.c_int()
status = status or driver.cuDriverGetVersion(ctypes.byref(version)) or driver.cuDeviceGetCount(ctypes.byref(count))
print(status, version.value, count.value)
"""


def examine() -> Iterator[Fact]:
    """Yield every fact about this machine, in the order in which they are shown."""
    yield _machine()
    yield from _devices()
    library = list(_library())
    yield from library
    yield _cache()
    yield _service()
    yield _speed()
    if all(fact.status == "ok" for fact in library):
        yield _kernel()
    yield from _cuda()
    yield from _rocm()
    yield from map(_framework, installed())


def _machine() -> Fact:
    text = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    supported = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    if supported:
        return Fact("machine", "system", "ok", text)
    return Fact("machine", "system", "error", text, "anywarp runs on Linux, on x86-64 first")


def _devices() -> Iterator[Fact]:
    for name in devices.names():
        try:
            found = devices.find(name).probe()
        except AnywarpError as error:
            yield Fact("device", name, "warning", error.diagnostic.message, error.diagnostic.help)
            continue
        for info in found:
            features = f", {' '.join(info.features)}" if info.features else ""
            yield Fact("device", name, "ok", f"{info.name}, {info.memory / 2**30:.1f} GiB{features}")
        if not found:
            yield Fact("device", name, "absent", "this machine has none")
    if not devices.names():
        yield Fact("device", "cpu", "error", "no device is installed", "install the package again: pip install anywarp")


def _library() -> Iterator[Fact]:
    place = settings.LIBRARY_DIR.get() / launch.DRIVER
    if not place.exists():
        yield Fact("library", launch.DRIVER, "error", f"not in {place.parent}", "in a checkout, run scripts/build")
        return
    command = [sys.executable, "-c", _LOAD, str(place)]
    try:
        env = launch.environment(settings.DEVICE.get(), settings.environment())
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LOAD_LIMIT)
    except subprocess.TimeoutExpired:
        yield Fact("library", launch.DRIVER, "error", f"did not load within {LOAD_LIMIT:g} seconds", "install it again")
        return
    words = done.stdout.split()
    if done.returncode or len(words) != 3 or words[0] != "0":
        last = done.stderr.strip().rpartition("\n")[2] or f"cuInit returned {words[0] if words else 'nothing'}"
        yield Fact("library", launch.DRIVER, "error", last, "install it again; in a checkout, run scripts/build")
        return
    version = int(words[1])
    text = f"answers as CUDA {version // 1000}.{version % 1000 // 10} with {words[2]} device(s), in {place.parent}"
    yield Fact("library", launch.DRIVER, "ok", text)


def _cache() -> Fact:
    cache = Cache(settings.CACHE_DIR.get(), settings.CACHE_LIMIT.get())
    problem = cache.usable()
    if problem is not None:
        text = f"{cache.root} cannot be used: {problem.strerror or problem}"
        return Fact("cache", "kernels", "warning", text, "kernels compile again in each run; set ANYWARP_CACHE_DIR")
    entries = list(cache.entries())
    size = sum(entry.size for entry in entries) / 2**20
    return Fact("cache", "kernels", "ok", f"{len(entries)} entries, {size:.1f} MiB, in {cache.root}")


def _service() -> Fact:
    try:
        with connected(build_id(), settings.CACHE_DIR.get()) as client:
            return Fact("compiler", "service", "ok", f"answers (compiler {client.ping()})")
    except AnywarpError as error:
        return Fact("compiler", "service", "error", error.diagnostic.message, error.diagnostic.help)


def _speed() -> Fact:
    """What was measured of the processor, which is measured now if nobody has."""
    try:
        with connected(build_id(), settings.CACHE_DIR.get()) as client:
            reply = client.measure(devices.find("cpu").identity())
        record = read_record(reply.payload) if reply.value("status") == "ok" else None
    except (AnywarpError, ValueError) as error:
        return Fact(
            "compiler", "speed", "warning", f"the processor cannot be measured: {error}", "code goes by what is usual"
        )
    if record is None or not record.figures:
        return Fact("compiler", "speed", "absent", "nothing is measured of this processor: code goes by what is usual")
    tuning = read_tuning(record.tuning)
    width = f", in vectors of {tuning.vector} bits" if "fma512" in record.figures else ""
    lanes = f", lanes anywhere {'by gathers' if tuning.gathers else 'one by one'}" if "gather" in record.figures else ""
    beside = " and of the next block" if host_target(record.tuning).machine.asks_beside else ""
    text = f"measured: stores past the caches from {tuning.stream} MiB, loads {tuning.ahead} KiB ahead{beside}{lanes}{width}"
    return Fact("compiler", "speed", "ok", text)


def _kernel() -> Fact:
    """Have a kernel compiled that no cache knows, run it, and look at what it computed."""
    place = settings.LIBRARY_DIR.get() / launch.DRIVER
    program = _TRY.replace("@NONCE@", f"{os.getpid()} {time.time_ns()}")
    env = launch.environment(settings.DEVICE.get(), settings.environment())
    started = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, str(place)], env=env, capture_output=True, text=True, timeout=LOAD_LIMIT
        )
    except subprocess.TimeoutExpired:
        return Fact("compiler", "kernel", "error", f"a small kernel was not done within {LOAD_LIMIT:g} seconds", _HELP)
    said = done.stdout.strip()
    if done.returncode == 0 and said == "right":
        milliseconds = (time.monotonic() - started) * 1000
        return Fact("compiler", "kernel", "ok", f"compiled, run and right, in {milliseconds:.0f} ms with its process")
    if said == "wrong":
        return Fact("compiler", "kernel", "error", "a small kernel computes wrong results", _HELP)
    # Our diagnostics come first on stderr; anything else that ends a process (an exception of Python's) has its reason last.
    lines = [each for each in done.stderr.splitlines() if each.strip()]
    reason = next((each for each in lines if each.startswith("anywarp: ")), lines[-1] if lines else "")
    text = "; ".join(filter(None, (said, reason))) or f"the process ended with {done.returncode}"
    return Fact("compiler", "kernel", "error", text, _HELP)


def _cuda() -> Iterator[Fact]:
    driver = Path("/proc/driver/nvidia/version")
    if driver.exists():
        yield Fact("cuda", "driver", "ok", driver.read_text(errors="replace").partition("\n")[0].strip())
    else:
        yield Fact("cuda", "driver", "absent", "no NVIDIA driver; none is needed")
    for card in nvidia.cards():
        yield Fact("cuda", card.features[0], "ok", f"{card.name}; anywarp run --device cuda passes through to it")
    yield _tool("cuda", "toolkit", "nvcc", "no nvcc; only needed to build CUDA programs")


def _rocm() -> Iterator[Fact]:
    yield from examine_driver()
    found = processors()
    yield from examine_rocm(found)
    yield from examine_torch(found, _folder_of("torch"))
    yield _tool("rocm", "toolkit", "hipcc", "no hipcc; none is needed")


def _folder_of(package: str) -> Path | None:
    """Return where a package lies, without importing it."""
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent if found is not None and found.origin else None


def _tool(part: str, name: str, program: str, otherwise: str) -> Fact:
    found = shutil.which(program, path=settings.environment().get("PATH", os.defpath))
    return Fact(part, name, "ok" if found else "absent", found or otherwise)


def _framework(found: Installed) -> Fact:
    version = f"{found.version} ({found.flavour})" if found.flavour else found.version
    text = f"{version}: {found.remark}" if found.remark else version
    return Fact("software", found.name, "absent" if found.runs is False else "ok", text)

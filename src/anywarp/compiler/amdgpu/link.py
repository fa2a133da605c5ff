"""From a relocatable object to a code object that ROCm loads: a shared object, made by LLD or by ROCm's own comgr.

LLD is looked for where the setting says, in ROCm's folder, on the path and in the package ziglang; a machine with ROCm has comgr.
"""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anywarp import settings
from anywarp.compiler import codes

_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Linker:
    """What links: a name for the artifact's notes, and how an object becomes a code object of a kernel for an ISA's name."""

    name: str
    link: Callable[[bytes, str], bytes]


def link(code: bytes, isa: str) -> tuple[bytes, str]:
    """Return the code object of an object and the linker's name. Raises AnywarpError C103 (no linker), C105 (it failed)."""
    linker = find_linker()
    if linker is None:
        raise codes.problem(
            codes.NO_LINKER,
            "an AMD GPU's code object needs a linker, and none was found",
            help="install the package ziglang (pip install anywarp[amd]), ROCm, or LLD; ANYWARP_LLD names an ld.lld elsewhere",
        )
    return linker.link(code, isa), linker.name


def find_linker() -> Linker | None:
    """Return the first linker of this machine, or None."""
    return _find(settings.LLD.get())


@cache
def _find(named: str) -> Linker | None:
    if named:
        return _lld(named, [named])
    rocm = sorted(glob.glob("/opt/rocm*/llvm/bin/ld.lld"))
    found = rocm[-1] if rocm else shutil.which("ld.lld")
    if found:
        return _lld(found, [found])
    if importlib.util.find_spec("ziglang") is not None:
        return _lld("LLD of ziglang", settings.python_command(sys.executable, "ziglang", "ld.lld"))
    library = _comgr()
    return None if library is None else Linker("comgr", lambda code, isa: _link_by_comgr(library, code, isa))


# --- LLD --------------------------------------------------------------------------------------------------------------


def _lld(name: str, command: list[str]) -> Linker:
    def run(code: bytes, isa: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="anywarp-link-") as folder:
            source, target = Path(folder, "kernel.o"), Path(folder, "kernel.hsaco")
            source.write_bytes(code)
            arguments = ["-shared", "--no-undefined", str(source), "-o", str(target)]
            try:
                done = subprocess.run([*command, *arguments], capture_output=True, timeout=_SECONDS, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise _failed(name, str(error)) from None
            if done.returncode or not target.exists():
                raise _failed(name, done.stderr.decode(errors="replace"))
            return target.read_bytes()

    return Linker(name, run)


def _failed(name: str, text: str) -> Exception:
    return codes.problem(codes.LINKER_FAILED, f"{name} cannot link a code object: {' '.join(text.split())[:400]}")


# --- comgr: the handles are structures of one 64-bit number, passed by value (amd_comgr.h) ---------------------------


class _Handle(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_uint64)]


_RELOCATABLE, _EXECUTABLE = 7, 8  # AMD_COMGR_DATA_KIND_*
_LINK = {2: 9, 3: 7}  # AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, by major version


def _comgr() -> ctypes.CDLL | None:
    names = ["libamd_comgr.so.3", "libamd_comgr.so.2", *sorted(glob.glob("/opt/rocm*/lib/libamd_comgr.so*"))]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _link_by_comgr(library: ctypes.CDLL, code: bytes, isa: str) -> bytes:
    made: list[tuple[str, _Handle]] = []

    def call(name: str, *arguments: object) -> None:
        if getattr(library, f"amd_comgr_{name}")(*arguments):
            raise _failed("comgr", name)

    def create(name: str, *arguments: object) -> _Handle:
        handle = _Handle()
        call(f"create_{name}", *arguments, ctypes.byref(handle))
        made.append((name, handle))
        return handle

    major, minor = ctypes.c_size_t(), ctypes.c_size_t()
    library.amd_comgr_get_version(ctypes.byref(major), ctypes.byref(minor))
    if major.value not in _LINK:
        raise _failed("comgr", f"version {major.value} is not known")
    try:
        data = create("data", ctypes.c_int(_RELOCATABLE))
        call("set_data", data, ctypes.c_size_t(len(code)), code)
        call("set_data_name", data, b"kernel.o")
        given, got = create("data_set"), create("data_set")
        call("data_set_add", given, data)
        action = create("action_info")
        call("action_info_set_isa_name", action, isa.encode())
        call("do_action", ctypes.c_int(_LINK[major.value]), action, given, got)
        out = _Handle()
        call("action_data_get_data", got, ctypes.c_int(_EXECUTABLE), ctypes.c_size_t(0), ctypes.byref(out))
        made.append(("data", out))
        size = ctypes.c_size_t(0)
        call("get_data", out, ctypes.byref(size), None)
        buffer = ctypes.create_string_buffer(size.value)
        call("get_data", out, ctypes.byref(size), buffer)
        return buffer.raw
    finally:
        for name, handle in reversed(made):
            getattr(library, "amd_comgr_destroy_data_set" if name == "data_set" else f"amd_comgr_{_END[name]}")(handle)


_END = {"data": "release_data", "action_info": "destroy_action_info"}

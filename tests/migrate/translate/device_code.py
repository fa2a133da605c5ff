"""From a translated kernel to a code object that an emulator runs: compiled by clang for HIP, linked by LLD, nothing of ROCm needed."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

from anywarp.migrate.translate import hip_compiler
from emulator import client, code_object

LIBRARY = Path(__file__).with_name("device_library.inc")
_HIDDEN = {
    "hidden_block_count_x": "<I", "hidden_block_count_y": "<I", "hidden_block_count_z": "<I",
    "hidden_group_size_x": "<H", "hidden_group_size_y": "<H", "hidden_group_size_z": "<H",
    "hidden_remainder_x": "<H", "hidden_remainder_y": "<H", "hidden_remainder_z": "<H", "hidden_grid_dims": "<H",
}  # fmt: skip


def translate(source: Path, output: Path, architecture: str) -> subprocess.CompletedProcess[str]:
    """Translate a file into a folder as a user would."""
    command = [
        sys.executable,
        "-m",
        "anywarp",
        "translate",
        str(source),
        "-o",
        str(output),
        "--target",
        f"hip:{architecture}",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def code_object_of(source: Path, architecture: str) -> bytes:
    """Compile the device side of a source and link it into a code object."""
    compiler = hip_compiler.find()
    whole = source.with_name(f"whole_{source.stem}.hip")
    whole.write_text(f'#include "{source.name}"\n{LIBRARY.read_text()}')
    source = whole
    assembly, linked = source.with_suffix(f".{architecture}.s"), source.with_suffix(f".{architecture}.hsaco")
    headers = [word for path in compiler.includes for word in ("-isystem", str(path))]
    _run(*compiler.command, "-x", "hip", f"--offload-arch={architecture}", "--cuda-device-only", "-S", "-O2", "-w", *headers, "-o", str(assembly), str(source))  # fmt: skip
    clang = compiler.command[:2] if compiler.command[1:2] == ("clang",) else compiler.command[:1]
    object_file = source.with_suffix(f".{architecture}.o")
    _run(*clang, "--target=amdgcn-amd-amdhsa", f"-mcpu={architecture}", "-c", str(assembly), "-o", str(object_file))
    lld = shutil.which("ld.lld")
    linker = [lld] if lld else [sys.executable, "-m", "ziglang", "ld.lld"]
    _run(*linker, "-shared", "--no-undefined", str(object_file), "-o", str(linked))
    return linked.read_bytes()


def launch(code: bytes, architecture: str, name: str, threads: int, buffers: list[bytes]) -> list[bytes]:
    """Run a kernel whose parameters are pointers, in one block; return the buffers afterwards."""
    arguments = code_object.load(code).kernels[name][".args"]
    places = [0x7B00_0000_0000 + 0x10_0000 * index for index in range(len(buffers))]
    size = max((a[".offset"] + a[".size"] for a in arguments), default=0)
    kernarg = bytearray(size)
    pointers = iter(places)
    values = dict.fromkeys(("hidden_block_count_x", "hidden_block_count_y", "hidden_block_count_z"), 1)
    values |= {
        "hidden_group_size_x": threads,
        "hidden_group_size_y": 1,
        "hidden_group_size_z": 1,
        "hidden_grid_dims": 1,
    }
    for argument in arguments:
        kind, offset = argument[".value_kind"], argument[".offset"]
        if kind == "global_buffer":
            struct.pack_into("<Q", kernarg, offset, next(pointers))
        elif kind in _HIDDEN:
            struct.pack_into(_HIDDEN[kind], kernarg, offset, values.get(kind, 0))
    memory, _ = client.launch(
        code, architecture, name, (1, 1, 1), (threads, 1, 1), bytes(kernarg), list(zip(places, buffers))
    )
    return memory


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]

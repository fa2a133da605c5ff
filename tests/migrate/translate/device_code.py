"""From a translated kernel to a code object that an emulator runs: compiled by clang for HIP, linked by LLD, nothing of ROCm needed."""

from __future__ import annotations

import re
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


def translate(source: Path, output: Path, architecture: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Translate a file or a folder into a folder as a user would."""
    command = [sys.executable, "-m", "anywarp", "translate", str(source), "-o", str(output)]
    command += ["--target", f"hip:{architecture}", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def code_object_of(source: Path, architecture: str) -> bytes:
    """Compile the device side of a source and link it into a code object."""
    compiler = hip_compiler.find()
    whole = source.with_name(f"whole_{source.stem}.hip")
    whole.write_text(f'#include "{source.name}"\n{LIBRARY.read_text()}')
    source = whole
    bitcode, object_file, linked = (source.with_suffix(f".{architecture}.{kind}") for kind in ("bc", "o", "hsaco"))
    headers = [word for path in compiler.includes for word in ("-isystem", str(path))]
    _run(*compiler.command, "-x", "hip", f"--offload-arch={architecture}", "--cuda-device-only", "-emit-llvm", "-c", "-O2", "-w", "-DNDEBUG", *headers, "-o", str(bitcode), str(source))  # fmt: skip
    # Without NDEBUG HIP's checks trap, and LLVM 22 leaves a pseudo instruction behind a trap on gfx11.
    clang = compiler.command[:2] if compiler.command[1:2] == ("clang",) else compiler.command[:1]
    _run(*clang, "--target=amdgcn-amd-amdhsa", f"-mcpu={architecture}", "-nogpulib", "-O2", "-x", "ir", "-c", str(bitcode), "-o", str(object_file))  # fmt: skip
    lld = shutil.which("ld.lld")
    linker = [lld] if lld else [sys.executable, "-m", "ziglang", "ld.lld"]
    _run(*linker, "-shared", "--no-undefined", str(object_file), "-o", str(linked))
    return linked.read_bytes()


def launch(
    code: bytes, architecture: str, name: str, threads: int, values: list[bytes | int], blocks: int = 1
) -> list[bytes]:
    """Run the kernel in whose name `name` occurs, on buffers (bytes) and 32-bit numbers; return the buffers afterwards."""
    kernels = code_object.load(code).kernels
    [full] = [kernel for kernel in kernels if kernel == name or re.search(rf"\d{name}[A-Z]", kernel)]
    arguments = kernels[full][".args"]
    buffers = [value for value in values if isinstance(value, bytes)]
    places = [0x7B00_0000_0000 + 0x10_0000 * index for index in range(len(buffers))]
    kernarg = bytearray(max((a[".offset"] + a[".size"] for a in arguments), default=0))
    pointers, numbers = iter(places), iter(value for value in values if isinstance(value, int))
    hidden = dict.fromkeys(_HIDDEN, 0) | {"hidden_block_count_x": blocks, "hidden_group_size_x": threads}
    hidden |= dict.fromkeys(
        (
            "hidden_block_count_y",
            "hidden_block_count_z",
            "hidden_group_size_y",
            "hidden_group_size_z",
            "hidden_grid_dims",
        ),
        1,
    )
    for argument in arguments:
        kind, offset = argument[".value_kind"], argument[".offset"]
        if kind == "global_buffer":
            struct.pack_into("<Q", kernarg, offset, next(pointers))
        elif kind == "by_value":
            struct.pack_into("<i", kernarg, offset, next(numbers))
        elif kind in _HIDDEN:
            struct.pack_into(_HIDDEN[kind], kernarg, offset, hidden[kind])
    memory, _ = client.launch(
        code, architecture, full, (blocks, 1, 1), (threads, 1, 1), bytes(kernarg), list(zip(places, buffers))
    )
    return [bytes(each) for each in memory]


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]

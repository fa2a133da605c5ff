"""Kernels written in C against the kernel ABI, and a driver loaded through ctypes: native code tested without the compiler.

A module made here is put into the cache under the keys that libcuda computes, so that loading it asks no compile service.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from anywarp import settings
from anywarp.devices.cpu.tiles import ask_for_tiles

ROOT = Path(__file__).resolve().parents[2]
SAFE = "".join(map(chr, range(0x21, 0x7F))).replace("%", "")


def library_path() -> Path:
    return settings.LIBRARY_DIR.get() / "libcuda.so.1"


def build_id() -> str:
    return os.environ.get("ANYWARP_BUILD_ID") or (library_path().parent / "build_id").read_text().strip()


def abi() -> int:
    """The version of the interface that kernels are compiled against, as its header has it."""
    text = (ROOT / "native" / "core" / "kernel_abi.h").read_text()
    return int(text.partition("#define ANYWARP_ABI ")[2].split()[0])


def device_identity() -> str:
    """The identity of docs/contracts.md section 2, read from /proc/cpuinfo independently of the C++."""
    lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    chosen = [next((x for x in lines if x.startswith(key)), "") for key in ("model name", "flags")]
    return "cpu:" + hashlib.sha256("".join(chosen).encode()).hexdigest()[:16]


def container(lines: list[tuple[object, ...]], payload: bytes) -> bytes:
    header = "".join(" ".join(quote(str(v), safe=SAFE) for v in line) + "\n" for line in lines).encode()
    body = header + payload
    sizes = len(header).to_bytes(4, "little") + len(payload).to_bytes(8, "little")
    return b"ANYWARP1" + sizes + hashlib.sha256(body).digest() + body


def compile_c(source: str, *options: str) -> bytes:
    """Compile C to a relocatable object."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cpp"
        path.write_text(f'#include "{ROOT}/native/core/kernel_abi.h"\n#include <cstring>\n{source}')
        command = [
            "g++",
            "-std=c++20",
            "-O2",
            "-c",
            "-fno-exceptions",
            "-fno-asynchronous-unwind-tables",
            "-ffreestanding",
        ]
        subprocess.run([*command, *options, str(path), "-o", f"{folder}/kernel.o"], check=True)
        return (Path(folder) / "kernel.o").read_bytes()


@dataclass(frozen=True)
class KernelByHand:
    """A kernel: its C function has the kernel's name; `params` are (offset, size) pairs."""

    name: str
    source: str
    params: tuple[tuple[int, int], ...] = ()
    frame: tuple[int, int] = (0, 0)
    local: int = 0
    shared: int = 0
    maxntid: tuple[int, int, int] = (0, 0, 0)
    reqntid: int = 0
    options: tuple[str, ...] = ("-fPIC",)
    variant: tuple[tuple[int, int, int], ...] = ()
    compile_ms: float = 1.5
    alone: int = 0
    stack: int = 0
    tiles: bool = False

    @property
    def param_bytes(self) -> int:
        return max((offset + size for offset, size in self.params), default=0)

    def lines(self) -> list[tuple[object, ...]]:
        return [
            ("kind", "kernel"), ("abi", abi()), ("name", self.name), ("symbol", self.name), ("block", 0, 0, 0),
            ("frame", *self.frame), ("local", self.local), ("shared", self.shared), ("param", self.param_bytes),
            ("compile_ms", self.compile_ms), ("alone", self.alone), ("stack", self.stack), *(("variant", *multiple) for multiple in self.variant),
        ]  # fmt: skip


# Every kernel begins with this: `FOR_THREADS` runs its body once per thread of every block, in order.
PRELUDE = """
struct Index { uint32_t x, y, z; };
static inline Index block_index(const AwLaunch* l, uint64_t b) {
  return {(uint32_t)(b % l->grid[0]), (uint32_t)(b / l->grid[0] % l->grid[1]), (uint32_t)(b / l->grid[0] / l->grid[1])};
}
#define KERNEL(name) extern "C" int32_t name(const AwLaunch* launch, AwWorker* worker, uint64_t first, uint64_t count)
#define FOR_BLOCKS for (uint64_t linear = first; linear < first + count; ++linear) \\
  if (Index block = block_index(launch, linear); (worker->ctaid[0] = block.x, worker->ctaid[1] = block.y, worker->ctaid[2] = block.z, true))
#define THREADS (launch->block[0] * launch->block[1] * launch->block[2])
#define FOR_THREADS for (uint32_t t = 0; t < THREADS; ++t)
template <class T> static inline T param(const AwLaunch* l, unsigned at) { T v; __builtin_memcpy(&v, l->params + at, sizeof v); return v; }
"""


class Handmade:
    """Puts modules into a cache directory and hands out images (PTX-like texts) that name them."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self._made: dict[tuple[object, ...], bytes] = {}

    def version(self, image: bytes, kernel: KernelByHand, options: str) -> None:
        """Add a version of a kernel of `image`, compiled with `options`."""
        image_key = hashlib.sha256(image).hexdigest()
        made = container(kernel.lines(), compile_c(PRELUDE + kernel.source, *kernel.options))
        for block in BLOCKS:
            shape = " ".join(map(str, block))
            key = f"kernel\n{build_id()}\n{device_identity()}\n{image_key}\n{kernel.name}\n{shape}\n{options}\n"
            self.put(key, made)

    def module(
        self,
        *kernels: KernelByHand,
        data: bytes = b"",
        align: int = 16,
        extra: tuple[tuple[object, ...], ...] = (),
        tag: str = "",
    ) -> bytes:
        """Return the image of a module with these kernels; cached per content."""
        key = (kernels, data, align, extra, tag)
        if key not in self._made:
            self._made[key] = self._write(kernels, data, align, extra, tag)
        return self._made[key]

    def _write(
        self,
        kernels: tuple[KernelByHand, ...],
        data: bytes,
        align: int,
        extra: tuple[tuple[object, ...], ...],
        tag: str,
    ) -> bytes:
        content = repr((kernels, data, align, extra, tag)).encode()
        image = b"// made by hand " + hashlib.sha256(content).hexdigest().encode()
        lines: list[tuple[object, ...]] = [("kind", "module"), ("ptx", "8.2", "sm_80"), ("data", len(data), align)]
        for k in kernels:
            lines.append(("entry", k.name, k.param_bytes, *k.maxntid, k.reqntid))
            lines += [("param", k.name, offset, size, size) for offset, size in k.params]
            lines += [("tiles", k.name)] * k.tiles
        image_key = hashlib.sha256(image).hexdigest()
        self.put(f"module\n{build_id()}\n{device_identity()}\n{image_key}\n", container([*lines, *extra], data))
        for k in kernels:
            made = container(k.lines(), compile_c(PRELUDE + k.source, *k.options))
            device = device_identity() + ":tiles=1" * (k.tiles and ask_for_tiles())
            head = f"{build_id()}\n{device}\n{image_key}\n"
            for block in BLOCKS:
                self.put(f"kernel\n{head}{k.name}\n{' '.join(map(str, block))}\n\n", made)
        return image

    def put(self, words: str, content: bytes) -> Path:
        name = hashlib.sha256(words.encode()).hexdigest()
        path = self.cache / "objects" / name[:2] / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.cache.chmod(0o700)
        path.write_bytes(content)
        return path


BLOCKS = (
    (1, 1, 1), (2, 1, 1), (4, 1, 1), (8, 1, 1), (32, 1, 1), (33, 1, 1), (64, 1, 1), (128, 1, 1), (256, 1, 1), (1024, 1, 1),
    (4, 4, 1), (2, 3, 4),
)  # fmt: skip
"""Block shapes under which handmade kernels are found."""

VECADD = KernelByHand(
    "vecadd",
    """
KERNEL(vecadd) {
  auto a = param<const float*>(launch, 0), b = param<const float*>(launch, 8);
  auto c = param<float*>(launch, 16);
  auto n = param<uint32_t>(launch, 24);
  FOR_BLOCKS FOR_THREADS {
    uint64_t i = (uint64_t)block.x * launch->block[0] + t;
    if (i < n) c[i] = a[i] + b[i];
  }
  return AW_OK;
}
""",
    params=((0, 8), (8, 8), (16, 8), (24, 4)),
)


class CudaError(Exception):
    def __init__(self, function: str, code: int) -> None:
        super().__init__(f"{function} returned {code}")
        self.code = code


class Driver:
    """libcuda by ctypes: `driver.cuFoo(...)` raises CudaError unless it returns 0; `driver.code("cuFoo", ...)` returns it."""

    def __init__(self, path: Path | None = None) -> None:
        self.library = ctypes.CDLL(str(path or library_path()))

    def code(self, name: str, *arguments: object) -> int:
        return getattr(self.library, name)(*map(_argument, arguments))

    def __getattr__(self, name: str):
        def call(*arguments: object) -> None:
            code = self.code(name, *arguments)
            if code:
                raise CudaError(name, code)

        return call

    def out(self, name: str, *arguments: object, kind=ctypes.c_void_p):
        """Call a function whose first parameter is an output; return it."""
        value = kind()
        getattr(self, name)(ctypes.byref(value), *arguments)
        return value.value

    def launch(self, function: int, grid, block, arguments, shared: int = 0, stream: int = 0) -> None:
        """cuLaunchKernel with ctypes values as arguments."""
        pointers = (ctypes.c_void_p * max(len(arguments), 1))(
            *[ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in arguments]
        )
        self.cuLaunchKernel(function, *_three(grid), *_three(block), shared, stream, pointers, None)


def _three(shape) -> tuple[int, int, int]:
    return (*shape, 1, 1)[:3] if isinstance(shape, tuple) else (shape, 1, 1)


def _argument(value: object) -> object:
    """Pass whole numbers as 64 bits: handles, addresses and sizes; smaller parameters take the low bits."""
    return ctypes.c_uint64(value & (2**64 - 1)) if isinstance(value, int) else value

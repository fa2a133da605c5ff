"""Linking relocatable device code: the PTX of all objects becomes one module, in an object that the program is linked with.

Each object's half for the host calls `__cudaRegisterLinkedBinary<its id>` when the program starts; the object made here answers,
and hands the linked module to the runtime library when the last object of the program has called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anywarp.ptx import elf
from anywarp.ptx import fatbin as reader
from anywarp.toolchain import clang as compilers
from anywarp.toolchain import codes, fatbin, ptx_link
from anywarp.toolchain.archive import members
from anywarp.toolchain.options import CommandLine
from anywarp.toolchain.steps import Runner

SECTION, IDENTITIES = "__nv_relfatbin", "__nv_module_id"
_MARK = b"__nv_relfatbin"
_MANAGED = b"__cudaRegisterManagedVar"
_LINKED = b"anywarp_device_link"
_ID = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Part:
    """The relocatable device code of one object: its name, its PTX, what it registers under, whether variables are managed."""

    name: str
    texts: tuple[bytes, ...]
    identities: tuple[str, ...]
    managed: bool


def needed(runner: Runner, objects: Sequence[str], line: CommandLine) -> bool:
    """Tell whether any input has device code that is still to be linked; where nothing is run, by what was asked for."""
    if runner.dry:
        return line.truth("relocatable-device-code", line.flag("device-c"))
    if any(_LINKED in Path(name).read_bytes() for name in objects if name.endswith(".o") and Path(name).exists()):
        return False
    return any(_MARK in Path(name).read_bytes() for name in _files(objects, line))


def link(runner: Runner, line: CommandLine, objects: Sequence[str], output: str, folder: Path) -> bool:
    """Link the device code of objects and libraries into the object `output`. AnywarpError (T005) for what does not fit."""
    stub, packed = folder / f"{Path(output).stem}.cpp", folder / f"{Path(output).stem}.fatbin"
    files = _files(objects, line) if not runner.dry else list(objects)

    def action() -> None:
        parts = [part for file in files for part in _parts(file)]
        inputs = [(f"{part.name} {i}", text) for part in parts for i, text in enumerate(part.texts)]
        packed.write_bytes(fatbin.pack([ptx_link.link(inputs)]) if inputs else b"")
        stub.write_text(_stub(parts, packed), encoding="utf-8")

    runner.do("device-link", output, ["nvlink", *files, "-o", str(packed)], action)
    clang = compilers.find()
    options = [
        *clang.options,
        f"--target={compilers.host_triple()}",
        "-x",
        "c++",
        "-fPIC",
        "-O1",
        "-c",
        str(stub),
        "-o",
        output,
    ]
    runner.run("device-link", output, [*clang.command, *options])
    return True


def _files(objects: Sequence[str], line: CommandLine) -> list[str]:
    """Return the objects and archives among the inputs and the libraries asked for, each once."""
    found = [name for name in objects if name.endswith((".o", ".a", ".obj", ".lo"))]
    for library in line.all("library"):
        places = (Path(folder) / f"lib{library}.a" for folder in line.all("library-path"))
        found += [str(place) for place in places if place.is_file()][:1]
    missing = next((name for name in found if not Path(name).is_file()), None)
    if missing is not None:
        raise codes.problem(codes.NO_INPUT, f"{missing}: there is no such file", "check its path")
    return list(dict.fromkeys(found))


def _parts(file: str) -> Iterator[Part]:
    content = Path(file).read_bytes()
    if _MARK not in content:
        return
    for name, member in members(content, file):
        part = _part(name, member)
        if part is not None:
            yield part


def _part(name: str, content: bytes) -> Part | None:
    if not content.startswith(elf.MAGIC):
        return None
    read = elf.read(content)
    section = read.section(SECTION)
    if section is None:
        return None
    texts = tuple(image.payload() for image in reader.images(section) if image.kind == "ptx")
    identities = bytes(read.section(IDENTITIES) or b"").split(b"\0")
    named = tuple(identity.decode("ascii", "replace") for identity in identities if identity)
    if not texts or not all(_ID.fullmatch(identity) for identity in named):
        help = "compile it again with `anywarp nvcc -dc`: SASS cannot be linked here"
        raise codes.problem(codes.DEVICE_LINK, f"{name}: its relocatable device code holds no PTX", help)
    return Part(name, texts, named, _MANAGED in content)


def _stub(parts: Sequence[Part], packed: Path) -> str:
    """Return the source of the object that answers the objects' registrations."""
    if not parts:
        return f'extern "C" {{ __attribute__((used, visibility("hidden"))) int {_LINKED.decode()}_none; }}\n'
    identities = [identity for part in parts for identity in part.identities]
    answer = (
        "HIDDEN void __cudaRegisterLinkedBinary{0}(Callback callback, void*, void*, void*) {{ arrived(callback); }}"
    )
    return _STUB.format(
        file=packed.absolute(),
        wrappers="\n".join(f"extern const char __fatbinwrap{name}[] __attribute__((weak));" for name in identities),
        expected=" + ".join(f"(__fatbinwrap{name} != nullptr)" for name in identities),
        answers="\n".join(answer.format(name) for name in identities),
        count=len(identities),
        mark=_LINKED.decode(),
        ready="__cudaInitModule(handle);" if any(part.managed for part in parts) else "",
    )


_STUB = """\
#include <stdlib.h>
#define HIDDEN __attribute__((visibility("hidden")))
__asm__(".pushsection .nv_fatbin,\\"a\\",@progbits\\n.balign 8\\n{mark}:\\n.incbin \\"{file}\\"\\n.popsection\\n");
extern "C" {{
extern const char {mark}[] HIDDEN;
typedef void (*Callback)(void**);
struct Wrapper {{ int magic, version; const void* data; void* names; }};
static Wrapper wrapper __attribute__((section(".nvFatBinSegment"), used)) = {{0x466243b1, 1, {mark}, nullptr}};
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
char __cudaInitModule(void**);
void __cudaUnregisterFatBinary(void**);
{wrappers}
static void** handle;
static Callback waiting[{count}];
static int count;
static void leave() {{ __cudaUnregisterFatBinary(handle); }}
static void arrived(Callback callback) {{
  waiting[count++] = callback;
  if (count < {expected}) return;
  handle = __cudaRegisterFatBinary(&wrapper);
  for (int i = 0; i < count; ++i) waiting[i](handle);
  __cudaRegisterFatBinaryEnd(handle);
  {ready}
  atexit(leave);
}}
{answers}
}}
"""

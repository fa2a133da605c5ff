"""Read public CUDA headers into facts: types, numbers, functions with their parameters, names of macros.

A developer runs it through `derive` and `headers` when NVIDIA publishes headers; it needs `gcc` and the package pycparser.
Only facts are kept: no comment and no body of a function passes through here.
"""
# pyright: basic, reportMissingModuleSource=false, reportMissingImports=false
# (pycparser comes without types, and only to developers)

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pycparser import c_ast, c_generator, c_parser

READ = (
    "cuda.h",
    "cudaProfiler.h",
    "cudaTypedefs.h",
    "cuda_runtime_api.h",
    "library_types.h",
    "surface_types.h",
    "texture_types.h",
    "device_types.h",
    "cudart_platform.h",
    "cuda_profiler_api.h",
)
INTEROP = ("cuda_gl_interop.h", "cuda_vdpau_interop.h", "cuda_egl_interop.h")
# What the headers need of C, in the smallest form that parses.
C_HEADERS = {
    "stddef.h": "typedef unsigned long size_t;\n",
    "stdlib.h": "#include <stddef.h>\n",
    "limits.h": "#define INT_MAX 2147483647\n#define UINT_MAX 4294967295U\n",
    "string.h": "#include <stddef.h>\n",
    "stdint.h": "".join(
        f"typedef {kind} {name}_t;\n"
        for name, kind in {
            "int8": "signed char",
            "uint8": "unsigned char",
            "int16": "short",
            "uint16": "unsigned short",
            "int32": "int",
            "uint32": "unsigned int",
            "int64": "long",
            "uint64": "unsigned long",
            "uintptr": "unsigned long",
        }.items()
    ),
    "GL/gl.h": "typedef unsigned int GLenum; typedef unsigned int GLuint;\n",
    "vdpau/vdpau.h": "typedef unsigned VdpDevice; typedef int VdpGetProcAddress(void); typedef unsigned VdpVideoSurface;"
    " typedef unsigned VdpOutputSurface;\n",
    "EGL/egl.h": "typedef int EGLint;\n",
    "EGL/eglext.h": "typedef void *EGLStreamKHR; typedef void *EGLImageKHR; typedef void *EGLSyncKHR;\n",
    "cuda_runtime.h": "#include <cuda_runtime_api.h>\n",
}
_MARK = re.compile(r'# \d+ "([^"]*)"')
_DEFINE = re.compile(r"#define (\w+)(\([^)]*\))?(?: (.*))?$")
_FUNCTION_TEXT = re.compile(r"\b((?:__)?cu[a-zA-Z]\w*) ?\(([^;{]*)\) ?;")


@dataclass(frozen=True)
class Function:
    """A function: what it returns and its parameters as they would be declared; `defaults` by parameter's place."""

    name: str
    result: str
    parameters: tuple[str, ...]
    defaults: Mapping[int, str]
    header: str

    def declared(self) -> str:
        """Return the parameter list as C text, `void` where there are none."""
        return ", ".join(self.parameters) or "void"


@dataclass(frozen=True)
class Interface:
    """What one version's headers say; `types`, `macros` and `functions` in the order of the headers."""

    types: Mapping[str, tuple[str, ...]]  # header: declarations as C text
    macros: Mapping[str, tuple[tuple[str, str], ...]]  # header: (name, value)
    functions: Mapping[str, Function]
    renamed: Mapping[str, str]  # name in programs: exported name
    renamed_per_thread: Mapping[str, str]  # with CUDA_API_PER_THREAD_DEFAULT_STREAM


def read(directories: Sequence[Path]) -> Interface:
    """Read the headers found in `directories` (the first that has one wins)."""
    everything = _text(directories, ("-D__CUDA_API_VERSION_INTERNAL",), (*READ, *INTEROP))
    tree = c_parser.CParser().parse(_plain(everything))
    types: dict[str, list[str]] = {}
    functions: dict[str, Function] = {}
    # The view of all variants declares some functions again without their default values, the ordinary one does not.
    views = (("-D__CUDA_API_VERSION_INTERNAL",), ())
    defaults: dict[str, dict[int, str]] = {}
    for view in views:
        found = _defaults(_text(directories, (*view, "-D__dv(v)= = v", "-D__cplusplus=201103L"), READ))
        defaults |= {re.sub(r"_pt[sd][sz]$", "", name): values for name, values in found.items()}
    shown: set[str] = set()
    for node in tree.ext:
        header = Path(node.coord.file).name
        if header in C_HEADERS and header != "cuda_runtime.h":
            continue
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            usual = re.sub(r"_pt[sd][sz]$", "", node.name)
            functions[node.name] = _function(node, defaults.get(usual, {}), header)
        elif isinstance(node, (c_ast.Typedef, c_ast.Decl)):
            text = _declaration(node)
            if text not in shown:
                types.setdefault(header, []).append(text)
            shown.add(text)
    renamed = _renamed(directories, (), functions)
    per_thread = _renamed(directories, ("-DCUDA_API_PER_THREAD_DEFAULT_STREAM",), functions)
    macros = _macros(_text(directories, ("-dD",), READ), {*functions, *per_thread})
    return Interface({k: tuple(v) for k, v in types.items()}, macros, functions, renamed, per_thread)


def _text(directories: Sequence[Path], flags: Sequence[str], headers: Iterable[str], tail: str = "") -> str:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in C_HEADERS.items():
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_text(content)
        # A later directory only lends what is missing, one file at a time, so that versions do not mix.
        includes = [f"-I{folder}", f"-I{directories[0]}"]
        includes += [part for other in directories[1:] for part in ("-idirafter", str(other))]
        source = "".join(f"#include <{header}>\n" for header in headers) + tail
        constant = ["-D__CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__", "-DCUDA_ENABLE_DEPRECATED", "-D__attribute__(x)="]
        command = ["gcc", "-E", "-nostdinc", "-x", "c", *includes, *constant, *flags, "-"]
        return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def _plain(text: str) -> str:
    text = re.sub(r"\b(__inline__|__extension__|__const)\b", "", text)
    return re.sub(r"^static +cudaError_t.*?^\}", "", text, flags=re.DOTALL | re.MULTILINE)


def _defaults(text: str) -> dict[str, dict[int, str]]:
    flat = re.sub(r"\s+", " ", _plain(re.sub(r"^#.*$", "", text, flags=re.MULTILINE)))
    found: dict[str, dict[int, str]] = {}
    for match in _FUNCTION_TEXT.finditer(flat):
        parts = match[2].split(",")
        values = {i: part.split("=")[1].strip() for i, part in enumerate(parts) if "=" in part}
        if values:
            found[match[1]] = values
    return found


def _declaration(node: c_ast.Node) -> str:
    for inner in _walk(node):
        if isinstance(inner, c_ast.Enum) and inner.values:
            _number(inner)
    return c_generator.CGenerator().visit(node) + ";"


def _walk(node: c_ast.Node) -> Iterable[c_ast.Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += [child for _, child in cast("tuple[tuple[str, c_ast.Node], ...]", current.children())]


def _number(enum: c_ast.Enum) -> None:
    # Every constant gets its number, so that the text says what the header means and nothing of how it says it.
    known: dict[str, int] = {}
    following = 0
    for item in enum.values.enumerators:
        if item.value is not None:
            text = c_generator.CGenerator().visit(item.value)
            plain = re.sub(r"(?<=[0-9a-fA-F])[uUlL]+\b", "", text)
            following = int(eval(plain, {"__builtins__": {}}, _CONSTANTS | known))  # constant expressions of C
            if following == 2**31 and "<<" in text and "u" not in text.lower():
                following -= 2**32
        known[item.name] = following
        kind = "int" if following < 2**31 else "unsigned int"
        item.value = c_ast.Constant(kind, str(following) + ("U" if following >= 2**31 else ""))
        following += 1
    _CONSTANTS.update(known)


_CONSTANTS: dict[str, int] = {}


def _function(node: c_ast.Decl, defaults: Mapping[int, str], header: str) -> Function:
    generator = c_generator.CGenerator()
    parameters = node.type.args.params if node.type.args else []
    texts = [generator.visit(p) for p in parameters]
    texts = [] if texts == ["void"] else texts
    return Function(node.name, generator.visit(node.type.type).strip(), tuple(texts), dict(defaults), header)


def _renamed(directories: Sequence[Path], flags: Sequence[str], functions: Mapping[str, Function]) -> dict[str, str]:
    bases = sorted({re.sub(r"(_v\d+)?(_pt[sd][sz])?$", "", name) for name in functions} | set(functions))
    tail = "\n" + "".join(f"@@ {i} {name}\n" for i, name in enumerate(bases))
    text = _text(directories, flags, (*READ, *INTEROP), tail)
    found = {bases[int(i)]: to for i, to in re.findall(r"^@@ (\d+) (\w+)\s*$", text, re.MULTILINE)}
    return {name: to for name, to in found.items() if to != name and to in functions}


def _macros(text: str, functions: Iterable[str]) -> dict[str, tuple[tuple[str, str], ...]]:
    names, header = set(functions), ""
    found: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        if mark := _MARK.match(line):
            header = Path(mark[1]).name
        elif line.startswith("#undef "):
            found.get(header, {}).pop(line.split()[1], None)
        elif match := _DEFINE.match(line):
            name, arguments, value = match[1], match[2], (match[3] or "").strip()
            if not arguments and value and name not in names and not name.startswith("__"):
                found.setdefault(header, {})[name] = value
    return {file: tuple(values.items()) for file, values in found.items()}

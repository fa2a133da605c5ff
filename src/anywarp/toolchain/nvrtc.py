"""Source text to PTX as NVRTC compiles it: no host, no host's headers, names of templates looked up for the caller.

The compile service calls this for programs that use our `libnvrtc.so`; whatever the source included is reported, so that what
is kept of a compilation is not used when a header has changed.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import clang as compilers
from anywarp.toolchain import compile_commands, default_space, half_subnormals
from anywarp.toolchain.architectures import Architecture, read
from anywarp.toolchain.asm_percents import escaped
from anywarp.toolchain.nvrtc_options import OPTIONS
from anywarp.toolchain.options import CommandLine
from anywarp.toolchain.options import read as read_options

COMPILATION, INVALID_OPTION, INTERNAL = 6, 5, 11
"""Values of nvrtcResult (NVRTC manual, section Error Handling)."""

_REFUSED = ("dlink-time-opt", "optix-ir", "gen-opt-lto")
_LOWERED = re.compile(
    r"^\.visible \.global \.align 8 \.u64 __anywarp_name_(\d+) = (?:generic\()?([\w$%.]+)\)?;\n", re.MULTILINE
)
_PROTOTYPE = re.compile(r"^\.(?:visible|weak) \.entry [\w$]+\s*\((?:[^()]*)\)\s*(?:\.\w+ [\d, ]+\s*)*;\n", re.MULTILINE)
_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_ALIGNMENT = re.compile(r"\b(?:__align__|alignas|__attribute__)\s*\([^;{}=]*?\)+")
_STORAGE = re.compile(r"\b(?:static|const)\b")
_SPACE = re.compile(r"\b__(?:device|constant)__\b")
_INTERNAL = re.compile(
    r"^@((?:_ZL(\d+)(?=[A-Za-z_]))?([\w$.]+)) = internal (addrspace\([14]\) )(global|constant) ", re.MULTILINE
)
_SOURCE, _IR = "source.cu", "source.ll"
_HIDDEN = (
    "clang",
    "clang_major",
    "clang_minor",
    "clang_patchlevel",
    "clang_version",
    "GNUC",
    "GNUC_MINOR",
    "GNUC_PATCHLEVEL",
    "GNUG",
    "CUDA",
)
"""What clang says of itself, without the underscores: NVRTC is no other compiler, and libraries ask who compiles them."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a program handed to NVRTC: names and texts, options, the names it wants looked up, and its working folder."""

    name: str
    text: str
    headers: Mapping[str, str]
    options: Sequence[str]
    expressions: Sequence[str]
    folder: str


@dataclass(frozen=True, slots=True)
class Translation:
    """PTX, what the compiler said, the names in the PTX for those asked for, and the files that were read."""

    ptx: str
    log: str
    lowered: tuple[tuple[str, str], ...]
    files: tuple[Path, ...]


class Rejected(Exception):
    """A source that does not compile; `code` is the nvrtcResult, `log` what the program is told."""

    def __init__(self, code: int, log: str) -> None:
        super().__init__(log)
        self.code = code
        self.log = log


def translate(source: Source) -> Translation:
    """Compile a source. Raises Rejected with NVRTC's code and log; AnywarpError (T001) without a clang."""
    line = _options(source.options)
    architecture = _architecture(line)
    with tempfile.TemporaryDirectory(prefix="anywarp-nvrtc-") as temporary:
        folder = Path(temporary)
        _lay_out(source, line, folder)
        command = _command(source, line, architecture)
        if _declares_internal(source):
            log = _run([*command, "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", _IR], folder)
            shown = _show_internal(folder / _IR)
            log += _run([*compile_commands.from_ir(line, architecture), "-o", "out.ptx", _IR], folder)
        else:
            log, shown = _run([*command, "-o", "out.ptx"], folder), ()
        ptx, files = _private((folder / "out.ptx").read_text(encoding="utf-8"), shown), _read_files(folder)
    if compile_commands.flushes(line):
        ptx = half_subnormals.kept(ptx)
    lowered = {int(match[1]): match[2] for match in _LOWERED.finditer(ptx)}
    found = tuple((text, lowered[i]) for i, text in enumerate(source.expressions) if i in lowered)
    return Translation(_PROTOTYPE.sub("", _LOWERED.sub("", ptx)), log, found, files)


def _run(command: Sequence[str], folder: Path) -> str:
    """Run a compiler and return what it said; Rejected when it finds mistakes."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    log = done.stderr.replace(f"{folder}/", "")
    if done.returncode:
        raise Rejected(COMPILATION, log)
    return log


def _declares_internal(source: Source) -> bool:
    """Tell whether a variable of device memory with internal linkage may be declared: it costs a tenth of a second."""
    return any(
        _STORAGE.search(piece) and _SPACE.search(piece) and "(" not in _ALIGNMENT.sub("", piece.partition("=")[0])
        for text in (source.text, *source.headers.values())
        for piece in re.split("[;{}]", _NOT_CODE.sub("", text))
    )


def _show_internal(path: Path) -> tuple[str, ...]:
    """Let the optimiser know that variables of internal linkage are read and written from outside; return their names.

    NVRTC keeps `static __device__` and `static __constant__` variables and, at file scope, their names as they stand in the
    source: the program finds them by cuModuleGetGlobal. To clang they are nobody else's: it takes their initial values for
    good, and mangles their names.
    """
    text = path.read_text(encoding="utf-8")
    names: dict[str, str] = {}
    for match in _INTERNAL.finditer(text):
        plain = match[3] if match[2] and len(match[3]) == int(match[2]) else ""
        taken = not plain or re.search(rf"@{plain}\b", text)
        names[match[1]] = match[1] if taken else plain
    text = _INTERNAL.sub(r"@\1 = \4externally_initialized \5 ", text)
    text = re.sub(r"@([\w$.]+)", lambda name: "@" + names.get(name[1], name[1]), text)
    path.write_text(text, encoding="utf-8")
    return tuple(names.values())


def _private(ptx: str, names: Sequence[str]) -> str:
    """Return PTX in which these variables are the module's own, as their linkage says."""
    return re.sub(
        r"^\.visible (\.(?:global|const) [^;=\n]*?([\w$]+)(?:\[\d*\])*(?: =|;))",
        lambda match: match[1] if match[2] in names else match[0],
        ptx,
        flags=re.MULTILINE,
    )


def _options(words: Sequence[str]) -> CommandLine:
    try:
        line = read_options([part for word in words for part in _split(word)], OPTIONS)
    except AnywarpError as error:
        raise Rejected(INVALID_OPTION, f"nvrtc: error: {error.diagnostic.message}\n") from None
    if line.unknown or line.inputs:
        raise Rejected(INVALID_OPTION, f"nvrtc: error: unrecognized option {(line.unknown + line.inputs)[0]}\n")
    refused = next((name for name in _REFUSED if line.flag(name)), None)
    if refused is not None:
        raise Rejected(INVALID_OPTION, f"nvrtc: error: --{refused}: only PTX can be made here\n")
    return line


def _split(word: str) -> list[str]:
    """Return an option and its value where both stand in one string, as NVRTC takes them."""
    head, _, rest = word.strip().partition(" ")
    return [head, rest.strip()] if rest and head in OPTIONS and OPTIONS[head].kind != "flag" else [word.strip()]


def _architecture(line: CommandLine) -> Architecture:
    try:
        return read(line.last("gpu-architecture", "compute_80"))
    except AnywarpError:
        text = f"nvrtc: error: invalid value for --gpu-architecture (-arch): {line.last('gpu-architecture')}\n"
        raise Rejected(INVALID_OPTION, text) from None


def _lay_out(source: Source, line: CommandLine, folder: Path) -> None:
    """Write the source, with what looks names up behind it, and the headers that were handed over."""
    for name, text in source.headers.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            continue  # nothing is written outside the folder; such a name can only be found on disk
        place = folder / "headers" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(escaped(text), encoding="utf-8")
    shown = source.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    text = f'#line 1 "{shown}"\n{escaped(source.text)}\n'
    if line.flag("device-as-default-execution-space"):
        text = default_space.spread(text)
    lookups = "".join(
        f'#line 1 "name expression"\n__device__ const void* __anywarp_name_{i} = (const void*)&{_plain(name)};\n'
        for i, name in enumerate(source.expressions)
    )
    (folder / _SOURCE).write_text(text + lookups, encoding="utf-8")


def _plain(expression: str) -> str:
    return " ".join(expression.split()).lstrip("& ")


def _command(source: Source, line: CommandLine, architecture: Architecture) -> list[str]:
    words = compile_commands.base(architecture)
    folders = [str(Path(source.folder) / path) for path in line.all("include-path")]
    of_c_library = [folder for folder in folders if _is_of_c_library(folder)]
    # Without GCC's macros, glibc's headers turn __attribute__ into nothing.
    words += [f"-U__{name}__" for name in _HIDDEN if not (of_c_library and name.startswith("GNUC"))]
    # The compiler's limits.h and the like are whole by themselves: without a host they go on to none of a C library's.
    words += [
        "-nostdlibinc",
        "-Wno-builtin-macro-redefined",
        "-D__STDC_HOSTED__=0",
        "-D__CUDACC_RTC__",
        "-include",
        "anywarp/nvrtc.h",
        "-fno-caret-diagnostics",
    ]
    relocatable = line.truth("relocatable-device-code", line.flag("device-c"))
    words += compile_commands.macros(line, relocatable) + ["-fgpu-rdc"] * relocatable
    absolute = CommandLine(dict(line.values), macros=line.macros)
    absolute.values["include-path"] = [folder for folder in folders if folder not in of_c_library]
    words += [
        f"-I{compile_commands.NVRTC}",
        "-Iheaders",
        *compile_commands.preprocessor(absolute),
        *compile_commands.language_version(line),
    ]
    words += compile_commands.own_headers()
    for folder in of_c_library:
        words += ["-idirafter", folder, "-idirafter", str(Path(folder) / compilers.host_triple())]
    if not line.flag("no-source-include"):
        words += ["-iquote", str(Path(source.folder) / Path(source.name).parent)]
    for file in line.all("pre-include"):
        words += ["-include", file]
    words += ["-Wno-error=register", *(["-w"] if line.flag("disable-warnings") else [])]
    words += compile_commands.device_code(line, architecture)
    return [*words, "-MD", "-MF", "out.d", _SOURCE]


def _is_of_c_library(folder: str) -> bool:
    """Tell whether a folder has the headers of the system's C library: /usr/include of glibc or musl.

    A host's compiler knows it, and searches it last, with the machine's own part beside it (Debian); clients name it for what else is there.
    """
    return all((Path(folder) / name).exists() for name in ("features.h", "limits.h", "stdint.h"))


def _read_files(folder: Path) -> tuple[Path, ...]:
    """Return the files on disk that the compilation read, its own temporary ones apart, and the programs that did it."""
    rule = (folder / "out.d").read_text(encoding="utf-8").replace("\\\n", " ")
    names = re.findall(r"(?:\\ |\S)+", rule.partition(": ")[2])
    paths = {Path(name.replace("\\ ", " ").replace("$$", "$")) for name in names}
    own = {Path(__file__), Path(compile_commands.__file__), Path(compilers.find().command[0])}
    return tuple(sorted(path for path in paths | own if path.is_absolute() and not path.is_relative_to(folder)))

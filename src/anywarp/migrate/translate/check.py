"""Compiling translated sources for the target, device side and host side, and saying per file what came of it.

A translation is a claim; a compiler is the first to test it. What could not be compiled is never called fine.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Literal

from anywarp.catalogue.identifiers import headers as cuda_headers
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate.target import USUAL_ARCHITECTURE, Target
from anywarp.migrate.translate import build_codes as codes
from anywarp.migrate.translate import hip_compiler

State = Literal["compiles", "errors", "unchecked"]

LIMIT = 300
"""Seconds that one side of one file may take: templates can run away."""
SHOWN = 3
"""So many lines of errors are kept per file."""

_SOURCES = (".cu", ".hip", ".cpp", ".cc", ".cxx", ".c++")
_ALWAYS = (".cu", ".hip")
_GPU = re.compile(rb"\bhip[A-Z_/]|\b__(?:global|device)__\b|<hip/")
_ERROR = re.compile(
    r"^(?P<place>[^:\n]+:\d+:\d+): (?:fatal )?error: (?P<words>.*)$|^(?:\S+: )?(?:fatal )?error: .*$", re.MULTILINE
)
_MISSING = re.compile(r"fatal error: '([^'\n]+)' file not found")


@dataclass(frozen=True)
class Checked:
    """What became of one file: `compiles`, `errors` with the first lines, or `unchecked` with the reason (perhaps `told` of another)."""

    path: str
    architecture: str
    state: State
    lines: tuple[str, ...] = ()
    reason: str = ""
    told: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return {
            "file": self.path,
            "architecture": self.architecture,
            "state": self.state,
            "errors": list(self.lines),
            "reason": self.reason,
            "result": self.result,
        }

    @property
    def result(self) -> str:
        """One line about it."""
        if self.state == "compiles":
            return f"compiles for {self.architecture}"
        return f"does not compile: {self.lines[0]}" if self.state == "errors" else f"not checked: {self.reason}"

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What the user is told: nothing of a file that compiles."""
        if self.state == "compiles" or self.told:
            return []
        if self.state == "errors":
            message = f"{self.path} does not compile for {self.architecture}: " + " | ".join(self.lines)
            return [
                Diagnostic(
                    codes.NOT_COMPILED, message, help="the places named need a person; the rest of the file was read"
                )
            ]
        code = codes.NO_HEADER if self.lines else codes.NO_COMPILER
        help = (
            "give folders of headers in ANYWARP_HIP_INCLUDE"
            if self.lines
            else "docs/translate-checking.md says what is needed"
        )
        return [Diagnostic(code, f"{self.path} was not checked: {self.reason}", "warning", help=help)]


def check(
    root: Path, files: Sequence[str], target: Target, options: Sequence[str] = (), jobs: int | None = None
) -> Iterator[Checked]:
    """Compile the sources among `files` (paths below `root`) for the target's architecture, several at a time.

    Headers are compiled with the sources that include them; of a header that none includes nothing is said. Sources in
    plain C++ are compiled where they name HIP. `options` are handed to the compiler. Results come in the order of `files`.
    """
    architecture = target.architecture or USUAL_ARCHITECTURE
    sources = [name for name in files if _is_source(root, name)]
    try:
        compiler = hip_compiler.find()
    except AnywarpError as error:
        for index, name in enumerate(sources):
            yield Checked(name, architecture, "unchecked", (), error.diagnostic.message, told=index > 0)
        return
    if not sources:
        return
    tree = frozenset(PurePath(name).name for name in files)
    includes = _folders(root, files)

    def one(name: str) -> Checked:
        return check_file(compiler, root, name, architecture, [*includes, *options], tree)

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        yield from pool.map(one, sources)


def check_file(
    compiler: hip_compiler.HipCompiler, root: Path, name: str, architecture: str,
    options: Sequence[str] = (), tree: frozenset[str] = frozenset(),
) -> Checked:  # fmt: skip
    """Compile one source, device side first; `tree` are the names of files that belong to it."""
    for side in ("--cuda-device-only", "--cuda-host-only"):
        code, words = _compile(compiler, root / name, architecture, side, options)
        if code == 0:
            continue
        missing = _MISSING.search(words)
        if missing and not _is_ours(missing[1], tree):
            return Checked(
                name,
                architecture,
                "unchecked",
                (missing[0],),
                f"it includes {missing[1]}, which is not on this machine",
            )
        return Checked(name, architecture, "errors", _first_lines(words, root))
    return Checked(name, architecture, "compiles")


def _compile(
    compiler: hip_compiler.HipCompiler, source: Path, architecture: str, side: str, options: Sequence[str]
) -> tuple[int, str]:
    """Compile to an object, so that the back end has its say as well; -S keeps the driver from linking, which needs more of ROCm."""
    with tempfile.TemporaryDirectory(prefix="anywarp-check-") as folder:
        command = [
            *compiler.command, "-x", "hip", f"--offload-arch={architecture}", side, "-S", "-Xclang", "-emit-obj", "-O1", "-w",
            "-fno-color-diagnostics", "-ferror-limit=20",
            *options, *(word for path in compiler.includes for word in ("-isystem", str(path))),
            "-o", str(Path(folder) / "out.o"), str(source.absolute()),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False, timeout=LIMIT, cwd=folder,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return 124, f"error: not compiled within {LIMIT} seconds"
    return done.returncode, done.stderr


def _first_lines(words: str, root: Path) -> tuple[str, ...]:
    """Return the first errors; of one in another's header also which line of the tree led to it."""
    prefix = f"{root.absolute()}{os.sep}"
    found: list[str] = []
    matches = list(_ERROR.finditer(words))
    for match, following in zip(matches, [*(m.start() for m in matches[1:]), len(words)]):
        line = match.group().replace(prefix, "")
        from_here = re.search(
            rf"^{re.escape(prefix)}([^\n]*: note: [^\n]*)", words[match.end() : following], re.MULTILINE
        )
        if line.startswith("/") and from_here:
            line += f" [{from_here[1]}]"
        found.append(line)
    return tuple(dict.fromkeys(found))[:SHOWN] or tuple(words.strip().splitlines()[-1:])


def _is_source(root: Path, name: str) -> bool:
    suffix = PurePath(name).suffix
    if suffix in _ALWAYS:
        return True
    if suffix not in _SOURCES:
        return False
    try:
        return _GPU.search((root / name).read_bytes()) is not None
    except OSError:
        return False


def _folders(root: Path, files: Sequence[str]) -> list[str]:
    """Return options for the folders that a project's own includes are usually relative to."""
    found = {root.absolute(): None}
    for name in files:
        for parent in PurePath(name).parents:
            if parent.name in ("include", "inc", "common", "Common"):
                found[root.absolute() / parent] = None
    return [f"-I{folder}" for folder in found]


@cache
def _cuda_names() -> frozenset[str]:
    return frozenset(cuda_headers())


def _is_ours(header: str, tree: frozenset[str]) -> bool:
    """Tell whether a header that is not found should have been: one of CUDA's left behind, or the tree's own."""
    return header in _cuda_names() or PurePath(header).name in tree

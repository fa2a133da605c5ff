"""Programs that carry a CUDA runtime statically, made without NVIDIA's: every entry point of a release, local, as its archive has them.

Each entry returns `CARRIED`, so that a call which was not redirected shows; the runtime redirected to returns a number per entry and major.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anywarp import settings

CARRIED, NOT_SUPPORTED = 46, 801
OF_ELEVEN = ("cudaCreateTextureObject_v2", "cudaGetTextureObjectTextureDesc_v2")
LIBRARIES = ("libanywarp_audit.so", "libanywarp_rebind.so")
MARKER, MARKER_OF_ELEVEN = "libcudart_static_" + "0123456789abcdef" * 2 + "01234567", "__cudart1080"
TABLE = Path(__file__).resolve().parents[2] / "native" / "rebind" / "entries.tsv"

WIDE = "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"
"""The entry that takes more arguments than registers hold, in the runtime redirected to: it returns a mix of all."""


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("."))) if text != "-" else (99,)


def entries(release: str) -> list[str]:
    """Return the names that a release's runtime has, in order; the place in `all_names` is the number they answer with."""
    column = {"12": 1, "13": 2, "11": 3}[release[:2]]
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return [row[0] for row in rows if _release(row[column]) <= _release(release)]


def answer(release: str, name: str) -> int:
    """Return what the runtime of that major returns when `name` is called."""
    if release.startswith("11."):
        name = name.removesuffix("_v2") if name in OF_ELEVEN else name  # the form that CUDA 12 has under the plain name
        return answer("12.9", name) if name in entries("12.9") else NOT_SUPPORTED
    return 1000 * int(release[:2]) + entries("12.9" if release.startswith("12.") else "13.5").index(name)


@dataclass(frozen=True)
class Carrier:
    """A program or library to build: its runtime's release, entries left out or added, and what else is in its source."""

    release: str
    without: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    source: str = ""
    flags: tuple[str, ...] = ()
    shared: bool = False
    called: tuple[str, ...] = field(default=())

    def names(self) -> list[str]:
        return [name for name in entries(self.release) if name not in self.without] + list(self.extra)


def _runtime_source(names: Sequence[str], marker: str) -> str:
    """Return C for the carried runtime: one object, its entries hidden, as those of an archive become local."""
    attributes = '__attribute__((visibility("hidden"), noinline, aligned(16)))'
    functions = "".join(
        f"{attributes} long {name}(void) {{ hit = {number}; return {CARRIED}; }}\n" for number, name in enumerate(names)
    )
    return f"static volatile long hit;\n{functions}{attributes} void {marker}(void) {{ hit = -1; }}\n"


def _table_source(names: Sequence[str], marker: str) -> str:
    declared = "".join(f"long {name}(void);\n" for name in names)
    rows = "".join(f'  {{"{name}", {name}}},\n' for name in names)
    return (
        "#include <stdio.h>\n#include <stdlib.h>\n" + declared + f"void {marker}(void);\n"
        "struct row { const char* name; long (*call)(void); };\n"
        f'static const struct row rows[] = {{\n{rows}  {{"", {marker}}}\n}};\n'
        "static void call_all(void) {\n"
        '  for (const struct row* row = rows; *row->name; ++row) printf("%s %ld\\n", row->name, row->call());\n'
        "  fflush(stdout);\n}\n"
    )


PROGRAM = "int main(void) { call_all(); return 0; }\n"
LIBRARY = "long work(void) { return cudaDeviceSynchronize(); }\nvoid print_all(void) { call_all(); }\n"


def compile_c(place: Path, output: Path, sources: Sequence[str], flags: Sequence[str] = ()) -> Path:
    """Compile C texts to a program or library, one object each."""
    files = []
    for number, text in enumerate(sources):
        file = place / f"{output.name}.{number}.c"
        file.write_text(text)
        files.append(str(file))
    subprocess.run(["gcc", "-w", "-O1", "-fno-builtin", "-o", str(output), *files, *flags], check=True)
    return output


def build(place: Path, name: str, carrier: Carrier) -> Path:
    """Build a program, or a library where the carrier says so."""
    names = carrier.names()
    body = carrier.source or (LIBRARY if carrier.shared else PROGRAM)
    shared = ("-shared", "-fPIC") if carrier.shared else ()
    marker = MARKER_OF_ELEVEN if carrier.release.startswith("11.") else MARKER
    sources = [_runtime_source(names, marker), _table_source(carrier.called or names, marker) + body]
    return compile_c(place, place / name, sources, (*shared, *carrier.flags))


def build_runtime(place: Path, major: int) -> None:
    """Build the runtime that is redirected to: a number for each entry, and a mix of the arguments for the wide one."""
    release = {12: "12.9", 13: "13.5"}[major]
    wide = (
        f"long {WIDE}(long a, long b, long c, long d, long e, long f, double p, double q, double r, double s, double t, double u,"
        " double v, double w, long g, long h) {\n"
        "  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h"
        " + (long)(9 * p + 10 * q + 11 * r + 12 * s + 13 * t + 14 * u + 15 * v + 16 * w);\n}\n"
    )
    plain = "".join(
        f"long {name}(void) {{ return {answer(release, name)}; }}\n" for name in entries(release) if name != WIDE
    )
    compile_c(place, place / f"libcudart.so.{major}", [plain + wide], ("-shared", "-fPIC"))


@dataclass(frozen=True)
class Place:
    """A folder with the libraries that redirect and the runtimes they redirect to."""

    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "LD_AUDIT": str(self.folder / LIBRARIES[0]),
            "LD_PRELOAD": str(self.folder / LIBRARIES[1]),
            **more,
        }

    def run(self, *command: object, timeout: float = 60, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command with the libraries in place; it must end within `timeout` seconds."""
        words = [str(word) for word in command]
        return subprocess.run(
            words, env=self.environment(**more), capture_output=True, text=True, timeout=timeout, check=False
        )


def make_place(folder: Path) -> Place:
    """Put the libraries and both runtimes into a folder."""
    for name in LIBRARIES:
        shutil.copy(settings.LIBRARY_DIR.get() / name, folder / name)
    for major in (12, 13):
        build_runtime(folder, major)
    return Place(folder)


def called(output: str) -> dict[str, int]:
    """Return what each call of a program's `call_all` returned."""
    return {name: int(value) for name, value in (line.split() for line in output.splitlines())}

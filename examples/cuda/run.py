"""Build the CUDA C++ programs of this folder in each way there is, run them, and compare what they print with their headers.

python examples/cuda/run.py                      all programs, all ways that this machine has
python examples/cuda/run.py scan life --way anywarp
python examples/cuda/run.py --table docs/cuda-examples.md
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import anywarp
from anywarp import settings

HERE = Path(__file__).resolve().parent

LIMIT = 240
"""Seconds that a build or a run may take; a program takes a small part of it."""


VERSIONED = {"-lcuda": "-l:libcuda.so.1", "-lnvrtc": "-l:libnvrtc.so.13"}
"""How our libraries are named to a linker: they have no names without a version."""

HEADERS = Path(anywarp.__file__).parent / "toolchain" / "include" / "cuda"
"""Where nvcc finds, behind its own headers, what an installation without NVRTC lacks."""


@dataclass(frozen=True)
class Program:
    """One program and what its header lines say of it."""

    name: str
    main: Path
    shows: str
    options: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    libraries: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    expected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Way:
    """One way of building: the compiler's command and how its programs are started."""

    name: str
    title: str
    compiler: tuple[str, ...]
    start: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of one program in one way; times in seconds, 0 where it did not come so far."""

    program: str
    way: str
    built: bool
    right: bool
    build_seconds: float
    cold_seconds: float
    warm_seconds: float
    words: str

    def cell(self) -> str:
        """Return what the table says of it."""
        if not self.built:
            return "not built"
        return f"{self.cold_seconds:.2f} / {self.warm_seconds:.2f} s" if self.right else "**wrong**"


ANYWARP = (sys.executable, "-m", "anywarp")
WAYS = {
    way.name: way
    for way in (
        Way("shared", "nvcc, `-cudart shared`", ("nvcc", "-cudart", "shared"), (*ANYWARP, "run", "--")),
        Way("static", "nvcc, `run --rebind`", ("nvcc",), (*ANYWARP, "run", "--rebind", "--")),
        Way("anywarp", "`anywarp nvcc`", (sys.executable, "-m", "anywarp.toolchain"), (*ANYWARP, "run", "--")),
    )
}


def programs() -> dict[str, Program]:
    """Return the programs of this folder by name: a file is one, and so is a folder with a main.cu."""
    found = [_read(path.stem, path) for path in HERE.glob("*.cu")]
    found += [_read(path.parent.name, path) for path in HERE.glob("*/main.cu")]
    return {program.name: program for program in sorted(found, key=lambda program: program.name)}


def available(way: Way) -> bool:
    """Return whether this machine has the way's compiler."""
    return way.compiler[0] != "nvcc" or shutil.which("nvcc") is not None


def build(program: Program, way: Way, folder: Path) -> tuple[Path, str]:
    """Build a program in `folder` and return its path and the compiler's words; it does not exist when that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / program.name
    words = ""
    for library in program.libraries:
        shared = ("-shared", "-Xcompiler", "-fPIC", str(library), "-o", str(folder / f"lib{library.stem}.so"))
        words += _run((*way.compiler, "-std=c++17", *shared)).stdout
    linked = [option for option in program.options if option.startswith("-l")]
    options = [option for option in program.options if option not in linked]
    if way.compiler[0] == "nvcc":
        linked = [f"-L{settings.LIBRARY_DIR.get()}", *(VERSIONED.get(option, option) for option in linked)]
        options += ["-Xcompiler", f"-idirafter,{HEADERS}"]
    sources = [str(source) for source in (program.main, *program.sources)]
    done = _run((*way.compiler, "-std=c++17", *options, *sources, "-o", str(target), *linked))
    return target, words + done.stdout


def run(program: Program, way: Way, target: Path) -> tuple[bool, str, float]:
    """Run a built program; return whether it did as its header says, what it printed, and the seconds it took."""
    started = time.perf_counter()
    done = _run((*way.start, str(target)), program.environment)
    seconds = time.perf_counter() - started
    missing = [wanted for wanted in program.expected if not re.search(wanted, done.stdout, re.M)]
    words = done.stdout + "".join(f"missing: {wanted}\n" for wanted in missing)
    if done.returncode:
        words += f"exit code {done.returncode}\n"
    return not missing and done.returncode == 0, words, seconds


def outcome(program: Program, way: Way, folder: Path, warm: bool = True) -> Outcome:
    """Build a program and run it, and once more if it was right and `warm`, with its kernels compiled already."""
    started = time.perf_counter()
    target, words = build(program, way, folder / way.name)
    built = time.perf_counter() - started
    if not target.exists():
        return Outcome(program.name, way.name, False, False, built, 0, 0, words)
    right, said, cold = run(program, way, target)
    again = 0.0
    if right and warm:
        right, said, again = run(program, way, target)
    return Outcome(program.name, way.name, True, right, built, cold, again, words + said)


def table(chosen: Iterable[Program], ways: Sequence[Way], outcomes: Sequence[Outcome]) -> str:
    """Return the page with the matrix of program by way of building."""
    cells = {(found.program, found.way): found for found in outcomes}
    lines = [
        "# CUDA C++ programs by way of building",
        "",
        "Made by `python examples/cuda/run.py --table docs/cuda-examples.md`; the programs lie in `examples/cuda/`. Each checks its own",
        "results against the host's arithmetic or a known value; a cell says that the program was built and right, and gives the seconds",
        "of a run that had to compile its kernels and of the next one, the start of `anywarp run` (0.2 s) included. The times are of one run",
        "on two cores that had other work to do: they say whether a program takes a moment or longer, no more.",
        "",
        "- `nvcc -cudart shared` is NVIDIA's compiler with the runtime as a library, run with `anywarp run`.",
        "- nvcc without options links NVIDIA's runtime statically; such a program is run with `anywarp run --rebind`.",
        "  Its PTX is that of the first way, whose kernels are in the cache by then.",
        "- `anywarp nvcc` compiles with clang and our headers and needs nothing of NVIDIA's.",
        "",
        "| program | what it shows | " + " | ".join(way.title for way in ways) + " |",
        "| --- | --- |" + " --- |" * len(ways),
    ]
    for program in chosen:
        found = [cells.get((program.name, way.name)) for way in ways]
        row = " | ".join(each.cell() if each else "not tried" for each in found)
        lines.append(f"| `{program.name}` | {program.shows} | {row} |")
    lines.append("")
    for way in ways:
        those = [found for found in outcomes if found.way == way.name]
        good = sum(found.right for found in those)
        lines.append(f"{way.title}: {good} of {len(those)} right.  ")
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Build and run what the command line asks for; exit 1 where a program was not built or not right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = programs()
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; all without a name")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="only this way; may be repeated")
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="build here and keep what was built")
    parser.add_argument("--table", type=Path, metavar="PAGE", help="write the matrix to this page")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}")
    chosen = [known[name] for name in arguments.names or known]
    ways = [way for way in WAYS.values() if available(way) and (not arguments.way or way.name in arguments.way)]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(arguments.jobs) as pool:
        folder = arguments.keep or Path(temporary)
        tasks = [pool.submit(outcome, program, way, folder) for program in chosen for way in ways]
        outcomes = [_shown(task.result()) for task in tasks]
    if arguments.table:
        arguments.table.write_text(table(chosen, ways, outcomes))
    good = sum(found.right for found in outcomes)
    print(f"{good} of {len(outcomes)} right")
    return 0 if good == len(outcomes) else 1


def _shown(found: Outcome) -> Outcome:
    print(f"{found.program:22} {found.way:8} {found.build_seconds:6.1f} s  {found.cell()}", flush=True)
    if not found.right:
        print("    " + "\n    ".join(found.words.strip().splitlines()[-15:]), flush=True)
    return found


def _read(name: str, main: Path) -> Program:
    """Read the lines `// key: value` that open a program; the first comment says what it shows."""
    header: dict[str, list[str]] = {}
    shows = ""
    for line in main.read_text().splitlines():
        if not line.startswith("//"):
            break
        key, colon, value = line[3:].partition(": ")
        if colon and key in ("build", "run", "expect", "sources", "libraries"):
            header.setdefault(key, []).append(value)
        else:
            shows = f"{shows} {line[3:]}".strip()
    words = {key: tuple(" ".join(values).split()) for key, values in header.items()}
    return Program(
        name,
        main,
        shows.rstrip("."),
        options=words.get("build", ()),
        sources=tuple(main.parent / source for source in words.get("sources", ())),
        libraries=tuple(main.parent / library for library in words.get("libraries", ())),
        environment=dict(word.split("=", 1) for word in words.get("run", ())),
        expected=tuple(header.get("expect", ())),
    )


def _run(command: Sequence[str], extra: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command; what it prints on either stream comes together. One that does not end counts as failed."""
    try:
        return subprocess.run(
            command,
            env={**os.environ, **(extra or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        said = expired.stdout or b""
        text = said.decode(errors="replace") if isinstance(said, bytes) else said
        return subprocess.CompletedProcess(command, 124, text + f"ended after {LIMIT} s\n")


if __name__ == "__main__":
    sys.exit(main())

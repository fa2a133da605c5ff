"""The stand-in that fits a torch: named by the user, shipped, compiled before, or compiled now.

A binary carries the version and commit of the torch it was built for, and is never loaded into another.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import mmap
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.frameworks.torch import build, found, messages

MARK = b"anywarp stand-in for torch "
"""What the text in a binary begins with that says for which torch it is (native/torch/version.cpp)."""

KEPT = 6
"""Binaries that stay in the cache when another is compiled: the newest."""

ERRORS = "errors.txt"
"""Where the words of a compiler that failed are kept; the first line says which compiler, none when it was killed."""

COMPILERS = ("g++", "c++", "clang++")


def fitting(torch: found.Torch, kind: build.Kind | None = None) -> Path:
    """Return the stand-in for this torch, or another kind of binary, compiling it when there is none yet.

    AnywarpError: as `ready`, F003 without a compiler, F004 when it does not compile, F005 when it cannot be kept.
    """
    kind = kind or build.kind_for(torch)
    return ready(torch, kind) or _compiled(torch, kind, _kept(torch, kind))


def ready(torch: found.Torch, kind: build.Kind | None = None) -> Path | None:
    """Return the stand-in for this torch if it exists: the one that the user named, that is shipped, or was compiled before.

    AnywarpError: F001 and F002 as `found.check`, F006 when the one that the user named is for another torch.
    """
    kind = kind or build.kind_for(torch)
    found.check(torch, any_vendor=kind is build.MAPPING)
    chosen, wanted = settings.TORCH_LIBRARY.get(), torch.identity + kind.mark
    if chosen is not None:
        _check_chosen(chosen, wanted)
        return chosen
    shipped = settings.LIBRARY_DIR.get() / "torch" / torch.version / build.NAME
    if built_for(shipped) == wanted:
        return shipped
    kept = _kept(torch, kind)  # only now: the key reads all sources
    return kept if built_for(kept) == wanted else None


def _kept(torch: found.Torch, kind: build.Kind) -> Path:
    return messages.place() / key(torch, kind) / build.NAME


def built_for(binary: Path) -> str | None:
    """Return the identity of the torch that a binary was built for, read from the file; None when it is no stand-in."""
    try:
        with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            start = content.find(MARK)
            end = content.find(b"\0", start)
            return content[start + len(MARK) : min(end, start + 200)].decode("ascii", "replace") if start >= 0 else None
    except (OSError, ValueError):  # absent, unreadable, or empty
        return None


def key(torch: found.Torch, kind: build.Kind | None = None) -> str:
    """Return the name of this torch's binary in the cache.

    The compiler is no part of it, so that a machine that has lost its compiler keeps what it compiled.
    """
    kind = kind or build.kind_for(torch)
    parts = [
        torch.version,
        torch.commit[:12],
        platform.machine(),
        build.digest(build.native_folder(), kind),
        torch.vendor,
    ]
    if kind is build.MAPPING:  # it finds torch's libraries by their place
        parts += [kind.mark.strip(), hashlib.sha256(str(torch.folder).encode()).hexdigest()[:8]]
    return "-".join(each.lower() for each in parts if each)


def compiler() -> list[str]:
    """Return the command that compiles C++; AnywarpError (F003) when there is none."""
    named = shlex.split(settings.CXX.get())
    for words in [named] if named else [[each] for each in COMPILERS]:
        if shutil.which(words[0]):
            return words
    what = f"there is no C++ compiler {named[0]!r}" if named else "there is no C++ compiler"
    raise AnywarpError(Diagnostic("F003", what, help="install g++ 11 or newer: apt install g++, dnf install gcc-c++"))


def _check_chosen(chosen: Path, wanted: str) -> None:
    other = built_for(chosen)
    if other == wanted:
        return
    what = f"is for torch {other}, not {wanted}" if other else "is no stand-in for torch"
    name = settings.TORCH_LIBRARY.name
    raise AnywarpError(Diagnostic("F006", f"{chosen} {what}", help=f"unset {name} to let anywarp choose"))


def _compiled(torch: found.Torch, kind: build.Kind, kept: Path) -> Path:
    """Compile into the cache, or wait for the process that does."""
    try:
        command = compiler()
    except AnywarpError as error:
        raise _about(torch, kind, error.diagnostic) from error
    try:
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(kept.parent / "lock"):
            if built_for(kept) != torch.identity + kind.mark:
                _check_not_failed(torch, kind, kept.parent, command)
                _compile(torch, kind, kept, command)
                _drop_old(kept.parent)
    except subprocess.CalledProcessError as error:
        raise _not_compiled(torch, kind, error, kept.parent, command) from error
    except OSError as error:
        raise _about(
            torch,
            kind,
            Diagnostic(
                "F005",
                f"the stand-in cannot be kept in {kept.parent}: {error.strerror or error}",
                help=f"make room there, or set {settings.CACHE_DIR.name} to another place",
            ),
        ) from error
    return kept


def _compile(torch: found.Torch, kind: build.Kind, kept: Path, command: list[str]) -> None:
    """Compile with a line of progress; objects of a build that was cut short are used again."""
    what = f"compiling the stand-in for torch {torch.version} (once; some minutes)"
    live = sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    messages.say(what, end=" " if live else "\n")

    def progress(done: int, of: int) -> None:
        if live:
            print(f"\r\033[Kanywarp: {what} {done}/{of}", end="" if done < of else "\n", file=sys.stderr, flush=True)

    objects = kept.parent / "objects"
    jobs = min(4, settings.cpu_count())
    made = build.compile_all(build.native_folder(), torch, objects, command, jobs, progress, kind=kind)
    os.replace(made, kept)
    shutil.rmtree(objects, ignore_errors=True)
    if not live:
        messages.say(f"compiled the stand-in for torch {torch.version}")


@contextlib.contextmanager
def _alone(lock: Path) -> Generator[None, None, None]:
    """Hold a lock that ends with the process, however that ends."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _drop_old(newest: Path) -> None:
    """Keep the newest binaries, of whatever torch and version of anywarp."""
    folders = [each for each in newest.parent.iterdir() if (each / build.NAME).is_file()]
    for old in sorted(folders, key=lambda each: -(each / build.NAME).stat().st_mtime)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


def _about(torch: found.Torch, kind: build.Kind, what: Diagnostic) -> AnywarpError:
    """Say for which torch something is missing, and what follows."""
    text = f"torch {torch.version} in {torch.folder} has no stand-in yet, so {kind.without}: {what.message}"
    return AnywarpError(Diagnostic(what.code, text, help=what.help))


def _not_compiled(
    torch: found.Torch, kind: build.Kind, error: subprocess.CalledProcessError, place: Path, command: list[str]
) -> AnywarpError:
    """Turn the compiler's words into a message of a few lines; all of them go to a file, which keeps us from trying again."""
    words = str(error.stderr or f"{error.cmd[0]} ended with {error.returncode}")
    if "No space left on device" in words:
        return _about(torch, kind, Diagnostic("F005", f"no space left in {place}", help="make room there"))
    killed = error.returncode < 0 or "Killed" in words
    with contextlib.suppress(OSError):
        (place / ERRORS).write_text(f"{'' if killed else _version(command)}\n{words}", encoding="utf-8")
    return _failed(torch, kind, place, words)


def _check_not_failed(torch: found.Torch, kind: build.Kind, place: Path, command: list[str]) -> None:
    """Raise AnywarpError (F004) when this compiler has failed on these sources before: it would again, a minute later."""
    try:
        who, _, words = (place / ERRORS).read_text(encoding="utf-8", errors="replace").partition("\n")
    except OSError:
        return
    if who and who == _version(command):
        raise _failed(torch, kind, place, words)


def _version(command: list[str]) -> str:
    """Return a line that tells one compiler from another."""
    asked = [*command, "--version"]
    said = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    return f"{' '.join(command)}: {said.partition(chr(10))[0]}"


def _failed(torch: found.Torch, kind: build.Kind, place: Path, words: str) -> AnywarpError:
    lines = [line for line in words.splitlines() if re.search(r"error: (?!ld returned)|undefined reference", line)]
    first = (lines or words.strip().splitlines() or ["no reason given"])[0]
    known = ".".join(map(str, found.NEWEST))
    newer = f"this anywarp knows torch up to {known}" if torch.minor > found.NEWEST else "g++ 11 or newer is needed"
    help = f"{newer}; all errors are in {place / ERRORS}, remove it to try again"
    return _about(torch, kind, Diagnostic("F004", f"it does not compile: {first.strip()[:300]}", help=help))

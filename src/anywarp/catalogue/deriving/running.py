"""Run derivations in a copy of the repository, so that one that fails leaves nothing half written, and say what they changed."""

from __future__ import annotations

import contextlib
import difflib
import filecmp
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from anywarp import settings
from anywarp.catalogue.deriving.derivations import Bench, Derivation, Run
from anywarp.catalogue.deriving.fetching import NotFetched, Store
from anywarp.catalogue.deriving.inputs import Input, chosen
from anywarp.catalogue.deriving.unpacking import Refused, unpack

PATHS = ("tools/", "torch/")
"""Folders of inputs that are on Python's path."""
COPIED = ("src", "native", "scripts", "docs", "pyproject.toml")
_LEFT = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a derivation: the files that differ from the repository's, or why it was not made."""

    name: str
    written: int = 0
    changed: tuple[str, ...] = ()
    problem: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """The inputs that are known, where they are kept, and the repository; `say` is told of what takes long."""

    inputs: tuple[Input, ...]
    store: Store
    repository: Path
    say: Callable[[str], None]

    def run(self, derivations: Sequence[Derivation], finish: Callable[[Path, Outcome], None]) -> list[Outcome]:
        """Run derivations in their order; `finish` is called after each with the copy that it wrote into."""
        with tempfile.TemporaryDirectory(prefix="derive-", dir=self.store.folder) as folder:
            copy = Path(folder) / "repository"
            for name in COPIED:
                source = self.repository / name
                if source.is_dir():
                    shutil.copytree(source, copy / name, ignore=_LEFT)
                else:
                    shutil.copy2(source, copy / name)
            found: list[Outcome] = []
            for each in derivations:
                found.append(self._one(each, Path(folder), copy))
                finish(copy, found[-1])
            return found

    def _one(self, each: Derivation, folder: Path, copy: Path) -> Outcome:
        start = time.monotonic()
        try:
            unpacked = {one.name: self._unpacked(one) for one in chosen(self.inputs, each.inputs)}
            bench = Bench(folder / each.name / "inputs", folder / each.name / "folders")
            _lay_out(bench, unpacked)
            path = os.pathsep.join(
                [str(copy / "src"), *(str(place) for name, place in unpacked.items() if name.startswith(PATHS))]
            )
            self.say(f"{each.name}: deriving")
            before = _digests(copy)
            for run in each.runs(bench):
                _execute(run, self._filled(run.arguments), copy, path)
        except (NotFetched, Refused, FileNotFoundError, subprocess.CalledProcessError) as error:
            return Outcome(each.name, problem=_reason(error), seconds=time.monotonic() - start)
        after = _digests(copy)
        strays = [name for name in after if after[name] != before.get(name) and not _fits(name, each.writes)]
        if strays:
            return Outcome(each.name, problem=f"it wrote {', '.join(strays)}, which it does not name")
        own = [name for name in after if _fits(name, each.writes)]
        changed = tuple(name for name in own if not _same(copy / name, self.repository / name))
        return Outcome(each.name, len(own), changed, seconds=time.monotonic() - start)

    def _filled(self, command: Sequence[str]) -> list[str]:
        """Replace `{SHORT}` in an argument by the package and version of the input of CUDA 13 that is called so."""
        names = {one.name.partition("/")[2]: one for one in self.inputs if one.folder == "cuda13"}
        texts = {short: f"{one.package} {'.'.join(one.version.split('.')[:2])}" for short, one in names.items()}
        out: list[str] = []
        for word in command:
            for short, text in texts.items():
                word = word.replace("{" + short + "}", text)
            out.append(word)
        return out

    def _unpacked(self, each: Input) -> Path:
        """Return the folder with what is wanted of an input, unpacked once."""
        key = hashlib.sha256(repr((each.take, each.moved)).encode()).hexdigest()[:8]
        place = self.store.folder / "unpacked" / f"{each.sha256[:16]}-{key}"
        if place.exists():
            return place
        self.say(f"{each.name}: {each.package} {each.version}")
        file = self.store.keep(each)
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            whole = Path(folder) / "whole"
            whole.mkdir()
            unpack(file, each, whole)
            with contextlib.suppress(FileExistsError):
                whole.rename(place)
        return place


def _lay_out(bench: Bench, unpacked: dict[str, Path]) -> None:
    """Link each input under its name, and the files of all inputs of a release under its folder; the first of equal paths counts."""
    for name, place in unpacked.items():
        (bench.inputs / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.inputs / name).symlink_to(place)
        folder = bench.folders / name.partition("/")[0]
        for path in sorted(place.rglob("*")):
            link = folder / path.relative_to(place)
            if not path.is_dir() and not link.is_symlink():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)


def _execute(run: Run, arguments: Sequence[str], copy: Path, path: str) -> None:
    """Run one step in the copy, with the copy's modules.

    An editable install puts a finder before the path, which would take the repository's; so the interpreter starts without `site`.
    """
    python = copy.parent / "python"
    if not python.exists():
        python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S "$@"\n', encoding="utf-8")
        python.chmod(0o755)
    installed = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    whole = os.pathsep.join([path, *installed])
    environment = {**settings.environment(), "PYTHONPATH": whole, "PYTHON": str(python), "PYTHONDONTWRITEBYTECODE": "1"}
    if "/" not in run.what:
        command = [str(python), "-m", run.what]
    else:
        command = [str(python), run.what] if run.what.endswith(".py") else [str(copy / run.what)]
    done = subprocess.run([*command, *arguments], cwd=copy, env=environment, check=True, capture_output=True, text=True)
    if run.output:
        (copy / run.output).write_text(done.stdout, encoding="utf-8")


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = str(error.stderr).strip().splitlines()
        return " / ".join(lines[-3:]) if lines else f"{error.cmd[0]} failed"
    return str(error)


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _files(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _digests(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): hashlib.sha1(path.read_bytes()).hexdigest() for path in _files(root)}


def _same(ours: Path, theirs: Path) -> bool:
    return theirs.exists() and filecmp.cmp(ours, theirs, shallow=False)


def difference(copy: Path, repository: Path, name: str, most: int = 40) -> list[str]:
    """Return the beginning of the difference between a file as committed and as derived."""
    old = (repository / name).read_text(encoding="utf-8").splitlines() if (repository / name).exists() else []
    new = (copy / name).read_text(encoding="utf-8").splitlines()
    lines = list(difflib.unified_diff(old, new, f"committed/{name}", f"derived/{name}", lineterm="", n=0))
    return [*lines[:most], *([f"... and {len(lines) - most} lines more"] if len(lines) > most else [])]

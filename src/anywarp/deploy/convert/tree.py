"""Convert a tree of files: each read, converted and, if asked, written; a file that cannot be is a problem of its own.

The tree is listed before anything is written, so that a folder for results may lie inside it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from anywarp.deploy.convert import codes, sweep
from anywarp.deploy.convert.engine import Converted, convert
from anywarp.deploy.convert.model import Options, packed_options, unpacked_options
from anywarp.deploy.convert.packed import packed, unpacked
from anywarp.diagnostics import AnywarpError, Diagnostic, Source
from anywarp.migrate import crew, tree
from anywarp.migrate.shown import visible
from anywarp.migrate.writing import EditList, EditRun, WritingError, copy_below, write_below

EDIT_LIST = ".anywarp-convert.json"
LARGEST = 8 << 20
"""Most bytes of a file that is converted: manifests, rules and dashboards are far smaller."""
PATIENCE = 300.0
"""Seconds that one file may take: the largest takes some ten."""
BEGIN = "anywarp.deploy.convert.tree:begin"
"""What the processes do (`crew.Work`)."""
_CHUNK = 4 << 20
_HEAD = 4096
_HELP = "the other files were converted; look at this one by hand"


@dataclass(frozen=True, slots=True)
class Result:
    """One file: what became of it, or the problem why nothing did; neither for a large file that is no concern of ours."""

    file: tree.File
    converted: Converted | None
    problem: Diagnostic | None = None


@dataclass(slots=True)
class Run:
    """Everything about one conversion of one path."""

    root: Path
    results: list[Result] = field(default_factory=list[Result])
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    links: int = 0

    @property
    def touched(self) -> list[Result]:
        """The files of which anything is to be said."""
        return [r for r in self.results if r.problem is not None or (r.converted is not None and r.converted.findings)]


def run(
    root: Path,
    options: Options,
    only: Sequence[str] = (),
    exclude: Sequence[str] = (),
    out: Path | None = None,
    step: Callable[[int, int], None] = lambda done, total: None,
    jobs: int = 1,
) -> Run:
    """Convert every file at or below `root` without writing anything; `out` is left out where it lies inside.

    It is done in at most `jobs` processes; `step` is told how many of how many files are done. A file whose conversion ends
    its process, takes more than `PATIENCE` seconds or raises an error has that as its problem.
    """
    left_out = tree.Walked()
    done = Run(root)
    own = _inside(root, out)
    files = [file for file in tree.walk(root, exclude, left_out) if not _ours(file.shown, own)]
    work = crew.Work(BEGIN, {"options": packed_options(options), "only": list(only)}, jobs, PATIENCE)
    answers = crew.each_of(files, work, lambda number: step(number, len(files)))
    done.results = [_result(answer) for answer in crew.in_order(answers)]
    done.problems = left_out.problems
    done.links = left_out.links
    return done


def _ours(shown: str, own: str) -> bool:
    return shown.endswith(EDIT_LIST) or bool(own and shown.startswith(own))


def _inside(root: Path, out: Path | None) -> str:
    if out is None:
        return ""
    try:
        return os.fspath(out.resolve().relative_to(root.resolve())) + "/"
    except ValueError:
        return ""


def begin(order: dict[str, Any], alive: Callable[[], None]) -> Callable[[tree.File], tuple[dict[str, Any], bytes]]:
    """Return what converts a file for the crew (`crew.Work`)."""
    options, only = unpacked_options(order["options"]), order["only"]
    return lambda file: _one(file, options, only)


def _one(file: tree.File, options: Options, only: Sequence[str]) -> tuple[dict[str, Any], bytes]:
    try:
        if file.size > LARGEST and not _matters(file):
            return {}, b""
        data = tree.read(file.place, file.shown, LARGEST)
        return {"converted": packed(convert(data, PurePath(file.shown), options, only))}, data
    except AnywarpError as error:
        return {"problem": [error.diagnostic.code, error.diagnostic.message, error.diagnostic.help]}, b""
    except UnicodeDecodeError as error:
        message = f"{visible(file.shown)} is not UTF-8 (byte {error.start}), and nothing of it was converted"
        return {"problem": [codes.UNREADABLE, message, _HELP]}, b""


def _result(answer: crew.Answer) -> Result:
    file = answer.file
    head: dict[str, Any] = answer.head
    if answer.loss is not None:
        message = f"{visible(file.shown)} could not be converted: {visible(answer.loss.why)}"
        head = {"problem": [codes.UNREADABLE, message, _HELP]}
    if "problem" in head:
        code, message, help = head["problem"]
        return Result(file, None, Diagnostic(code, message, source=Source(visible(file.shown), ""), help=help))
    return Result(file, unpacked(head["converted"], answer.payload) if "converted" in head else None)


def _matters(file: tree.File) -> bool:
    """Say whether a file too large to be converted is a text that mentions NVIDIA; weights and archives are none."""
    try:
        with tree.open_regular(file.place) as opened:
            tail = b""
            while chunk := opened.read(_CHUNK):
                if b"\0" in chunk[:_HEAD]:
                    return False
                if sweep.mentions_nvidia(tail + chunk):
                    return True
                tail = chunk[-_HEAD:]
    except OSError:
        return True  # whoever reads it next says why it cannot be read
    return False


def write_tree(done: Run, out: Path) -> list[Diagnostic]:
    """Write the whole tree to `out`, converted files and others alike; links are not written. Return what could not be written."""
    problems: list[Diagnostic] = []
    for result in done.results:
        try:
            converted = result.converted
            if converted is not None and converted.new != converted.old:
                write_below(out, result.file.shown, converted.new, os.stat(result.file.place).st_mode & 0o777)
            else:
                copy_below(out, result.file.shown, result.file.place)
        except OSError as error:
            problems.append(_unwritten(error))
    return problems


@contextlib.contextmanager
def in_place(root: Path) -> Generator[EditRun]:
    """Begin a run in place, which keeps others out; AnywarpError where one is at work, or no list of edits can be kept."""
    with contextlib.ExitStack() as until:
        try:
            run = until.enter_context(EditList.of(root, EDIT_LIST).run())
        except WritingError as error:
            help = "wait for the other run where there is one; or write to another folder with -o"
            raise codes.problem(codes.CANNOT_WRITE, visible(str(error)), help) from None
        yield run


def write_in_place(done: Run, edits: EditRun) -> list[Diagnostic]:
    """Replace the converted files by what became of them. Return what could not be written."""
    problems: list[Diagnostic] = []
    for result in done.results:
        converted = result.converted
        if converted is None or converted.new == converted.old:
            continue
        try:
            edits.replace(result.file.shown, converted.old, converted.edits())
        except WritingError as error:
            problems.append(_unwritten(error))
    return problems


def undo(root: Path) -> Iterator[tuple[str, str]]:
    """Undo the last run in place at `root`: yield each file, with "" or the reason why it could not be undone."""
    try:
        yield from EditList.of(root, EDIT_LIST).undo()
    except WritingError as error:
        help = "only what --in-place did can be undone, once"
        raise codes.problem(codes.CANNOT_WRITE, visible(str(error)), help) from None


def _unwritten(error: OSError) -> Diagnostic:
    return Diagnostic(
        codes.CANNOT_WRITE, visible(str(error)), help="see that the folder can be written to and holds no links"
    )

"""Translates the files of a tree in several processes, and puts what comes out where it belongs.

What is written goes below the output folder or, in place, through a list of edits that undoes it; a file that cannot
be translated is told of and kept as it is, and the rest goes on.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate import differences, tree, writing
from anywarp.migrate.shown import visible
from anywarp.migrate.translate import dual, support_files
from anywarp.migrate.translate.engine import LARGEST, Translation, is_source, rewriter_of, translate
from anywarp.migrate.translate.unit import Options

EDIT_LIST = ".anywarp-edits.json"
"""The list of edits made in place, in the folder that was translated."""
_SMALL = 4 << 20
"""Bytes below which starting processes costs more than it saves."""


@dataclass(frozen=True)
class Done:
    """What became of one file: its path, its new path, whether it changed, and the translation (None: not one of ours)."""

    shown: str
    new: str
    size: int
    kind: str
    old: bytes = b""
    translation: Translation | None = None
    problem: Diagnostic | None = None

    @property
    def changed(self) -> bool:
        return self.translation is not None and bool(self.translation.edits)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        found = self.translation.diagnostics if self.translation is not None else ()
        return found if self.problem is None else (*found, self.problem)


def files_of(source: Path, exclude: Sequence[str], output: Path | None, left_out: tree.Walked) -> list[tree.File]:
    """Return the files below `source` in order, without those of an output folder inside it; AnywarpError if it is not there."""
    inside = ""
    if output is not None:
        where, root = os.path.realpath(output), os.path.realpath(source)
        if where == root:
            message = f"the output folder {visible(str(output))} is what is translated"
            raise AnywarpError(Diagnostic("M103", message, help="give -o another folder, or use --in-place"))
        inside = os.path.relpath(where, root) + "/" if where.startswith(root + os.sep) else ""
    found = tree.walk(source, exclude, left_out)
    return [
        each for each in found if not (inside and each.shown.startswith(inside)) and not each.shown.endswith(EDIT_LIST)
    ]


def translate_all(
    files: Sequence[tree.File], options: Options, jobs: int, step: Callable[[int], None] = lambda n: None
) -> Iterator[Done]:
    """Translate the files, in order, in `jobs` processes; `step` is told how many are done."""
    options = replace(options, local=frozenset(each.shown for each in files))
    ours = [each for each in files if _is_ours(each)]
    total = sum(each.size for each in ours)
    answers: Iterable[Done]
    if jobs < 2 or total < _SMALL:
        answers = (_one(each, options) for each in files)
        yield from _counted(answers, step)
        return
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (options,))
    try:
        yield from _counted(pool.map(_in_process, files, chunksize=8), step)
    except BrokenProcessPool:
        help = "run it again with --jobs 1 to see which file it was, and report it with the file"
        raise AnywarpError(Diagnostic("M104", "a process that translated ended before its work", help=help)) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _counted(answers: Iterable[Done], step: Callable[[int], None]) -> Iterator[Done]:
    for number, each in enumerate(answers, 1):
        step(number)
        yield each


_OPTIONS: list[Options] = []


def _begin(options: Options) -> None:
    _OPTIONS[:] = [options]


def _in_process(file: tree.File) -> Done:
    return _one(file, _OPTIONS[0])


def _is_ours(file: tree.File) -> bool:
    path = PurePosixPath(file.shown)
    return is_source(path) or rewriter_of(path) is not None


def _one(file: tree.File, options: Options) -> Done:
    path = PurePosixPath(file.shown)
    kind = "source" if is_source(path) else "build" if rewriter_of(path) is not None else "other"
    new = new_name(file.shown, options)
    if kind == "other":
        return Done(file.shown, new, file.size, kind)
    try:
        data = tree.read(file.place, file.shown, LARGEST)
    except AnywarpError as error:
        return Done(file.shown, new, file.size, kind, problem=error.diagnostic)
    return Done(file.shown, new, file.size, kind, data, translate(data, path, options))


def new_name(shown: str, options: Options) -> str:
    """Return the path of the translated file: the same, but for suffixes that the user wants changed."""
    stem, suffix = os.path.splitext(shown)
    return stem + options.renamed.get(suffix, suffix)


def write(done: Done, place: str, output: Path) -> Diagnostic | None:
    """Write one translated or copied file below `output`, with the mode of the original; return the problem if it cannot be."""
    try:
        if done.translation is not None:
            writing.write_below(output, done.new, done.translation.text, os.stat(place).st_mode & 0o777)
        else:
            writing.copy_below(output, done.new, place)
    except (OSError, AnywarpError) as error:
        reason = error.diagnostic.message if isinstance(error, AnywarpError) else str(error)
        return Diagnostic(
            "M105", f"{visible(done.shown)} was not written: {visible(reason)}", help="the rest was written"
        )
    return None


def write_support(
    names: Iterable[str], twins: Iterable[str], rocm: str, output: Path, edits: writing.EditList | None = None
) -> list[str]:
    """Write the support headers of that name, and those that they include, at the root of `output`; return what was written.

    What was not there before is noted in `edits`, so that it can be taken away again.

    `twins` are the names and headers of CUDA that the header of a source for both vendors must map; none: there is no such header.
    """
    wanted, own = list(names), dual.header_text(twins, rocm).encode() if twins else b""
    if own:
        wanted += support_files.included(own)
    texts = {name: support_files.read(name) for name in support_files.closure(wanted)}
    texts |= {dual.HEADER: own} if own else {}
    for name, text in texts.items():
        new = not (output / name).exists()
        writing.write_below(output, name, text)
        if edits is not None and new:
            edits.created(name, text)
    return list(texts)


def edit_list(source: Path) -> writing.EditList:
    """Return the list of edits in place of a folder, or of a single file, beside it; `source` may be the list itself."""
    if source.name.endswith(EDIT_LIST):
        return writing.EditList(source.parent, source.name)
    if source.is_dir():
        return writing.EditList(source, EDIT_LIST)
    return writing.EditList(source.parent, f".{source.name}{EDIT_LIST}")


def replace_in_place(done: Done, place: str, edits: writing.EditList) -> Diagnostic | None:
    """Replace one changed file by its translation and note the edits; return the problem if it cannot be."""
    assert done.translation is not None
    try:
        writing.replace(place, done.old, done.translation.text)
    except writing.WritingError as error:
        return Diagnostic("M105", visible(str(error)), help="the file is as it was; the rest was translated")
    edits.add(done.shown, done.old, _plain(done.translation))
    return None


def difference(done: Done) -> str:
    """Return a unified diff of one file, in text; bytes that are no UTF-8 are shown as escapes."""
    if done.translation is None:
        return ""
    return differences.unified(done.old, _plain(done.translation), f"a/{visible(done.shown)}", f"b/{visible(done.new)}")


def without_text(done: Done) -> Done:
    """Return the same without the texts before and after, which a large tree need not keep."""
    shorter = None if done.translation is None else replace(done.translation, text=b"")
    return replace(done, old=b"", translation=shorter)


def _plain(translation: Translation) -> list[writing.Edit]:
    return [writing.Edit(e.start, e.end, e.replacement) for e in translation.edits if isinstance(e.replacement, bytes)]

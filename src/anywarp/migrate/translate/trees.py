"""Translates the files of a tree in several processes, and puts what comes out where it belongs.

What is written goes below the output folder or, in place, through a list of edits that undoes it; a file that cannot
be translated is told of and kept as it is, and the rest goes on.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path, PurePosixPath

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate import differences, tree, writing
from anywarp.migrate.shown import visible
from anywarp.migrate.translate import dual, support_files
from anywarp.migrate.translate.engine import LARGEST, Translation, is_source, rewriter_of, translate
from anywarp.migrate.translate.rules_unknown import CODE as UNKNOWN
from anywarp.migrate.translate.rules_warps import SHADOWS
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


def files_of(
    source: Path, exclude: Sequence[str], output: Path | None, left_out: tree.Walked, named: str = ""
) -> list[tree.File]:
    """Return the files below `source` in order, without those of an output folder inside it; AnywarpError if it is not there.

    `named` is the file in `output` that the only source is written to.
    """
    inside = ""
    if output is not None:
        where, root = os.path.realpath(output / named), os.path.realpath(source)
        if where == root:
            message = f"what -o names, {visible(str(output / named))}, is what is translated"
            raise AnywarpError(Diagnostic("M103", message, help="give -o another place, or use --in-place"))
        inside = os.path.relpath(where, root) + "/" if where.startswith(root + os.sep) else ""
    found = tree.walk(source, exclude, left_out)
    return [
        each for each in found if not (inside and each.shown.startswith(inside)) and not each.shown.endswith(EDIT_LIST)
    ]


def translate_all(
    files: Sequence[tree.File], options: Options, jobs: int, step: Callable[[int], None] = lambda n: None
) -> Iterator[Done]:
    """Translate the files, in order, in `jobs` processes; `step` is told how many are done."""
    ours = [each for each in files if _is_ours(each)]
    options = replace(options, local=frozenset(each.shown for each in files), shadowed=_shadowed(ours))
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


def _shadowed(files: Iterable[tree.File]) -> frozenset[bytes]:
    """Return the old names of CUDA's that some source has as macros, which others may include."""
    found = set[bytes]()
    for each in files:
        if is_source(PurePosixPath(each.shown)) and each.size <= LARGEST:
            with contextlib.suppress(OSError), tree.open_regular(each.place) as file:
                found.update(SHADOWS.findall(file.read(LARGEST)))
    return frozenset(found)


def _counted(answers: Iterable[Done], step: Callable[[int], None]) -> Iterator[Done]:
    for number, each in enumerate(answers, 1):
        step(number)
        yield each


_OPTIONS: list[Options] = []


def _begin(options: Options) -> None:
    _OPTIONS[:] = [options]
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()


def _end_with(parent: BaseProcess | None) -> None:
    """End this process when its parent is killed, which the pool's queues do not tell."""
    if parent is not None:
        parent.join()
        os._exit(1)


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


def support(names: Iterable[str], twins: Iterable[str], rocm: str) -> dict[str, bytes]:
    """Return the support headers of that name, and those that they include, which lie at the root of the output.

    `twins` are the names and headers of CUDA that the header of a source for both vendors must map; none: there is no such header.
    """
    wanted, own = list(names), dual.header_text(twins, rocm).encode() if twins else b""
    if own:
        wanted += support_files.included(own)
    texts = {name: support_files.read(name) for name in support_files.closure(wanted)}
    return texts | ({dual.HEADER: own} if own else {})


def replace_in_place(done: Done, run: writing.EditRun) -> Diagnostic | None:
    """Replace one changed file by its translation; return the problem if it cannot be."""
    assert done.translation is not None
    try:
        run.replace(done.shown, done.old, _plain(done.translation))
    except writing.WritingError as error:
        return Diagnostic("M105", visible(str(error)), help="the file is as it was; the rest was translated")
    return None


def is_owned(told: Diagnostic, own: Collection[str]) -> bool:
    """Say whether a diagnostic tells of a name like CUDA's that another file of the tree declares."""
    return told.code == UNKNOWN and told.message.partition(" ")[0] in own


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

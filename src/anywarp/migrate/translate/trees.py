"""Translates the files of a tree in several processes, and puts what comes out where it belongs.

What is written goes below the output folder or, in place, through a list of edits that undoes it; a file that cannot
be translated is told of and kept as it is, and the rest goes on.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from anywarp.diagnostics import AnywarpError, Diagnostic, Source
from anywarp.migrate import crew, differences, tree, writing
from anywarp.migrate.shown import visible
from anywarp.migrate.translate import dual, support_files
from anywarp.migrate.translate.done import Done, packed, unpacked
from anywarp.migrate.translate.engine import LARGEST, Translation, is_source, rewriter_of, translate
from anywarp.migrate.translate.rules_unknown import CODE as UNKNOWN
from anywarp.migrate.translate.rules_warps import SHADOWS
from anywarp.migrate.translate.unit import Options, packed_options, unpacked_options

EDIT_LIST = ".anywarp-edits.json"
"""The list of edits made in place, in the folder that was translated."""
PATIENCE = 300.0
"""Seconds that one file may take: the largest, of 16 MiB, takes some twenty."""
BEGIN = "anywarp.migrate.translate.trees:begin"
"""What the processes do (`crew.Work`)."""


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
    """Translate the files, in order, in at most `jobs` processes; `step` is told how many are done.

    A file whose translation ends its process, takes more than `PATIENCE` seconds or raises an error has that as its problem.
    """
    ours = [each for each in files if _kind(each) != "other"]
    options = replace(options, local=frozenset(each.shown for each in files), shadowed=_shadowed(ours))
    work = crew.Work(BEGIN, packed_options(options), jobs, PATIENCE)
    answers = crew.in_order(crew.each_of(ours, work))
    for number, file in enumerate(files, 1):
        if _kind(file) == "other":
            done = Done(file.shown, new_name(file.shown, options), file.size, "other")
        else:
            done = _of(next(answers), options)
        step(number)
        yield done


def _of(answer: crew.Answer, options: Options) -> Done:
    if answer.loss is None:
        return unpacked(answer.head, answer.payload)
    file = answer.file
    message = f"{visible(file.shown)} was not translated: {answer.loss.why}"
    help = "the rest was translated; look at this file by hand, and report it with the file"
    problem = Diagnostic("M104", message, source=Source(visible(file.shown), ""), help=help)
    return Done(file.shown, new_name(file.shown, options), file.size, _kind(file), problem=problem)


def begin(order: dict[str, Any], alive: Callable[[], None]) -> Callable[[tree.File], tuple[dict[str, Any], bytes]]:
    """Return what translates a file for the crew (`crew.Work`)."""
    options = unpacked_options(order)
    translate(
        b"cudaFree();", PurePosixPath("tables.cu"), options
    )  # reads the tables, which is not the first file's time
    return lambda file: packed(_one(file, options))


def _shadowed(files: Iterable[tree.File]) -> frozenset[bytes]:
    """Return the old names of CUDA's that some source has as macros, which others may include."""
    found = set[bytes]()
    for each in files:
        if is_source(PurePosixPath(each.shown)) and each.size <= LARGEST:
            with contextlib.suppress(OSError), tree.open_regular(each.place) as file:
                found.update(SHADOWS.findall(file.read(LARGEST)))
    return frozenset(found)


def _kind(file: tree.File) -> str:
    path = PurePosixPath(file.shown)
    return "source" if is_source(path) else "build" if rewriter_of(path) is not None else "other"


def _one(file: tree.File, options: Options) -> Done:
    kind, new = _kind(file), new_name(file.shown, options)
    try:
        data = tree.read(file.place, file.shown, LARGEST)
    except AnywarpError as error:
        return Done(file.shown, new, file.size, kind, problem=error.diagnostic)
    return Done(file.shown, new, file.size, kind, data, translate(data, PurePosixPath(file.shown), options))


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


def support(names: Iterable[str], counterparts: Iterable[str], rocm: str) -> dict[str, bytes]:
    """Return the support headers of that name, and those that they include, which lie at the root of the output.

    `counterparts` are the names and headers of CUDA that the header of a source for both vendors must map; none: there is no such header.
    """
    wanted, own = list(names), dual.header_text(counterparts, rocm).encode() if counterparts else b""
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


def _plain(translation: Translation) -> list[writing.Edit]:
    return [writing.Edit(e.start, e.end, e.replacement) for e in translation.edits if isinstance(e.replacement, bytes)]

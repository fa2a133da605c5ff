"""`anywarp translate SRC -o OUT`: CUDA C++ and its build files, made into HIP.

One command for a file or a tree: it says what it changed and what a person must look at, and never touches the
original unless it is told to, in which case it can take everything back.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate import tree
from anywarp.migrate.shown import visible
from anywarp.migrate.target import USUAL_ROCM, parse_target
from anywarp.migrate.translate import Options, trees
from anywarp.migrate.translate.done import Done, without_text
from anywarp.migrate.writing import EditList, EditRun, WritingError, write_below

_PATIENCE = 2.0
_SHOWN = 200


@dataclass
class _Run:
    """What was asked for, and what has come of it."""

    source: Path
    output: Path | None
    in_place: bool
    diff: bool
    named: str = ""
    """The name of the file that a single source is written to in `output`, where it was given."""
    done: list[Done] = field(default_factory=list[Done])
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    support: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])
    checked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@click.command("translate")
@click.argument("source", metavar="SRC", type=click.Path(path_type=Path), required=False)
@click.option("-o", "--output", type=click.Path(), help="Write the translated tree into this folder, or the file here.")
@click.option(
    "--in-place", is_flag=True, help="Change the files themselves; a list of edits beside them takes it back."
)
@click.option("--undo", is_flag=True, help="Take back the last translation in place of SRC.")
@click.option("--diff", is_flag=True, help="Print the changes as a unified diff.")
@click.option(
    "--check", is_flag=True, help="Compile each translated source for the target, where a HIP compiler is found."
)
@click.option(
    "--keep-cuda", is_flag=True, help="Make sources that compile for both: names stay, a header maps them for HIP."
)
@click.option(
    "--launch", type=click.Choice(["keep", "macro"]), default="keep", help="Keep <<<>>>, or write hipLaunchKernelGGL."
)
@click.option("--rename", metavar="SUFFIX", help="Give .cu files this suffix, such as .hip.")
@click.option("--target", default="hip", help="The device: hip, or hip:gfx942 (default: any AMD GPU).")
@click.option(
    "--rocm", default=USUAL_ROCM, show_default=True, help="The release of ROCm that will compile the sources."
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave these out, as in .gitignore; may be repeated.")
@click.option("--jobs", type=click.IntRange(1), help="How many processes (default: one per processor).")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print the result.")
def command(source: Path | None, undo: bool, **chosen: Any) -> int:
    """Translate the CUDA C++ sources, headers and build files in SRC, a file or a folder, to HIP.

    Without -o, --in-place or --diff nothing is written: the summary says what would change.
    Exit code 0: all of it was translated; 1: something needs a person; 2: something could not be read or written.
    """
    if source is None:
        raise click.UsageError("say which file or folder to translate")
    if undo:
        return _undo(source)
    output: str | None = chosen["output"]
    if output is not None and chosen["in_place"]:
        raise click.UsageError("-o and --in-place exclude each other")
    if chosen["rename"] and chosen["in_place"]:
        raise click.UsageError("--rename needs a folder to write to: -o")
    options = _options(chosen)
    run = _Run(source, None if output is None else Path(output), chosen["in_place"], chosen["diff"])
    if output is not None and _is_file(source, output):
        if chosen["rename"]:
            raise click.UsageError("--rename needs a folder to write to: -o names a file")
        run.output, run.named = Path(output).parent, Path(output).name
    _translate(run, options, tuple(chosen["exclude"]), chosen["jobs"] or os.cpu_count() or 1)
    if chosen["check"]:
        _check(run, options)
    return _told(run, chosen["style"])


def _options(chosen: dict[str, Any]) -> Options:
    target = parse_target(chosen["target"], rocm=chosen["rocm"])
    if target.device != "hip":
        help = "`anywarp run` runs CUDA programs on other devices as they are"
        raise AnywarpError(Diagnostic("M100", f"sources are translated for hip, not for {target.device}", help=help))
    suffix = chosen["rename"] or ""
    if suffix and (not suffix.startswith(".") or "/" in suffix or len(suffix) < 2):
        raise click.UsageError("--rename takes a suffix, such as .hip")
    return Options(target, chosen["launch"], chosen["keep_cuda"], {".cu": suffix} if suffix else {})


def _is_file(source: Path, output: str) -> bool:
    """Say whether `output` names the file that a single source becomes, and not a folder for it."""
    if not source.is_file() or output.endswith("/") or os.path.isdir(output):
        return False
    return os.path.isfile(output) or bool(Path(output).suffix) or not source.suffix


def _translate(run: _Run, options: Options, exclude: tuple[str, ...], jobs: int) -> None:
    with contextlib.ExitStack() as until:
        edits = until.enter_context(_in_place(run.source)) if run.in_place else None
        left_out = tree.Walked()
        files = trees.files_of(run.source, exclude, run.output, left_out, run.named)
        places = {each.shown: each.place for each in files}
        own = set[str]()
        step = until.enter_context(_progress("translating", len(files)))
        for done in trees.translate_all(files, options, jobs, step):
            if run.named:
                done = replace(done, new=run.named)
            run.diagnostics += done.diagnostics
            run.done.append(without_text(done))
            if done.translation is not None:
                run.support.update(done.translation.support)
                run.names |= done.translation.names
                own |= done.translation.own
            problem = None
            if run.output is not None:
                problem = trees.write(done, places[done.shown], run.output)
            elif edits is not None and done.changed:
                problem = trees.replace_in_place(done, edits)
            run.diagnostics += [problem] if problem is not None else []
            if run.diff:
                _print_diff(trees.difference(done))
        run.diagnostics = [each for each in run.diagnostics if not trees.is_owned(each, own)]
        run.diagnostics += left_out.problems
        if run.support or run.names:
            _write_support(run, options.target.rocm, edits)


@contextmanager
def _in_place(source: Path) -> Generator[EditRun]:
    """Begin a run in place, which keeps others out."""
    with contextlib.ExitStack() as until:
        try:
            run = until.enter_context(EditList.of(source, trees.EDIT_LIST).run())
        except WritingError as error:
            help = "wait for the other run where there is one; or write to another folder with -o"
            raise AnywarpError(Diagnostic("M118", visible(str(error)), help=help)) from None
        yield run


def _write_support(run: _Run, rocm: str, edits: EditRun | None) -> None:
    """Write the headers that translated sources include to the root of what is written."""
    if run.output is None and edits is None:
        return
    for name, text in trees.support(run.support, run.names, rocm).items():
        try:
            if edits is not None:
                edits.write(name, text)
            elif run.output is not None:
                write_below(run.output, name, text)
            run.support.add(name)
        except WritingError as error:
            run.diagnostics.append(
                Diagnostic("M105", visible(str(error)), help="translated sources include this header")
            )


def _check(run: _Run, options: Options) -> None:
    """Have the translated sources compiled; what a compiler says becomes part of the result."""
    from anywarp.migrate.translate import check  # late: compilers are looked for only here

    root = run.output if run.output is not None else run.source if run.source.is_dir() else run.source.parent
    if run.output is None and not run.in_place:
        raise click.UsageError("--check compiles what was written: give -o or --in-place")
    shown = [each.new for each in run.done if each.kind == "source"]
    for result in check.check(root, shown, options.target):
        run.checked.append(result.as_json())
        run.diagnostics += result.diagnostics


def _undo(source: Path) -> int:
    failed = 0
    edits = EditList.of(source, trees.EDIT_LIST)
    try:
        for shown, problem in edits.undo():
            failed += bool(problem)
            if problem:
                diagnostic = Diagnostic(
                    "M106", f"{visible(shown)} was not restored: {problem}", help="its edits are still on the list"
                )
                click.echo(diagnostic.as_text(), err=True)
            else:
                click.echo(f"{visible(shown)}: restored")
    except WritingError as error:
        raise AnywarpError(Diagnostic("M106", visible(str(error)), help="name what was translated in place")) from None
    if not failed and (left := edits.left()):
        click.echo(f"{left} earlier run{'s' * (left != 1)} in place can be taken back: --undo again")
    return 2 if failed else 0


def _told(run: _Run, style: str) -> int:
    code = _exit_code(run)
    if style == "json":
        click.echo(json.dumps(_as_json(run, code), indent=2))
        return code
    shown = [each for each in run.diagnostics if each.severity != "note"]
    for each in shown[:_SHOWN]:
        click.echo(each.as_text(), err=True)
    if len(shown) > _SHOWN:
        click.echo(f"and {len(shown) - _SHOWN} more; --format json lists all, and the notes", err=True)
    if not run.diff:
        _print_summary(run)
    return code


def _exit_code(run: _Run) -> int:
    if any(each.severity == "error" and each.code in _COULD_NOT for each in run.diagnostics):
        return 2
    return int(any(each.severity != "note" for each in run.diagnostics))


_COULD_NOT = frozenset(("M002", "M003", "M101", "M102", "M104", "M105"))
"""Diagnostics that mean that a file was not translated or not written."""


def _print_summary(run: _Run) -> None:
    sources = [each for each in run.done if each.kind == "source"]
    builds = [each for each in run.done if each.kind == "build"]
    edits = sum(len(each.translation.edits) for each in run.done if each.translation is not None)
    changed = sum(each.changed for each in run.done)
    written = run.output / run.named if run.output is not None else None
    where = f", written to {visible(str(written))}" if written is not None else ", in place" if run.in_place else ""
    click.echo(
        f"{len(sources)} source{'s' * (len(sources) != 1)} and {len(builds)} build file{'s' * (len(builds) != 1)} read, "
        f"{changed} changed with {edits} edit{'s' * (edits != 1)}{where}"
    )
    for code, count in sorted(Counter(each.code for each in run.diagnostics).items()):
        click.echo(f"  {code}: {count}  (anywarp explain {code})")
    for each in run.checked:
        click.echo(f"  {each['file']}: {each['result']}")


def _as_json(run: _Run, code: int) -> dict[str, Any]:
    files = [
        {
            "file": visible(each.shown),
            "new": visible(each.new),
            "kind": each.kind,
            "changed": each.changed,
            "edits": _edits(each),
        }
        for each in run.done
        if each.kind != "other"
    ]
    out: dict[str, Any] = {"exit": code, "files": files, "diagnostics": [each.as_json() for each in run.diagnostics]}
    if run.support:
        out["support"] = sorted(run.support)
    if run.checked:
        out["checked"] = run.checked
    return out


def _edits(done: Done) -> list[dict[str, Any]]:
    if done.translation is None:
        return []
    return [
        {
            "start": each.start,
            "end": each.end,
            "text": bytes(each.replacement).decode("utf-8", "backslashreplace"),
            "rule": each.rule,
            "reason": each.reason,
        }
        for each in done.translation.edits
        if isinstance(each.replacement, bytes)
    ]


_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def _print_diff(text: str) -> None:
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    for line in text.splitlines(keepends=True):
        bold = line.startswith(("+++", "---"))
        click.secho(line, nl=False, fg=None if bold else _COLORS.get(line[:1]), bold=bold)


@contextmanager
def _progress(what: str, total: int) -> Generator[Callable[[int], None]]:
    """Give a callback that shows a bar on a terminal's stderr once the work has taken two seconds."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    started = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(what, total=total, visible=False)

        def step(done: int) -> None:
            late = time.monotonic() - started > _PATIENCE
            bar.update(task, completed=done, visible=late, refresh=late)

        yield step

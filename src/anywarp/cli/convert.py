"""`anywarp convert PATH`: what is around a CUDA program (manifests, images, packages, rules), turned towards AMD GPUs.

Says every change with its reason and everything that it leaves to a person; nothing that mentions NVIDIA is passed over.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from anywarp.deploy.convert import answers, registry, report, tree
from anywarp.deploy.convert.model import Options
from anywarp.diagnostics import Diagnostic
from anywarp.migrate.target import USUAL_ARCHITECTURE, USUAL_ROCM, parse_target
from anywarp.migrate.writing import EditRun

_PATIENCE = 2.0


@click.command("convert")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the whole tree, converted, to this folder."
)
@click.option("--in-place", is_flag=True, help="Change the files themselves; --undo takes the last such run back.")
@click.option("--undo", is_flag=True, help="Take back what the last --in-place changed.")
@click.option("--diff", "diff", is_flag=True, help="Print the changes as a unified diff instead of the report.")
@click.option("--check", is_flag=True, help="Also exit with 1 when anything would change.")
@click.option("--only", multiple=True, metavar="KIND", help="Only files of this kind; may be repeated.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Skip paths that match, as in .gitignore; may be repeated.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print the result.")
@click.option(
    "--target",
    default=f"hip:{USUAL_ARCHITECTURE}",
    show_default=True,
    help="The device that will run it: hip:ARCHITECTURE.",
)
@click.option(
    "--rocm", default=USUAL_ROCM, show_default=True, help="The release of ROCm that images and packages are for."
)
@click.option("--card", default="", help="The card by name, such as MI300X: decides into what it can be divided.")
@click.option(
    "--naming",
    type=click.Choice(["single", "mixed"]),
    default="single",
    show_default=True,
    help="How AMD's device plugin names whole GPUs (its resource_naming_strategy).",
)
@click.option(
    "--map",
    "mapped",
    multiple=True,
    metavar="KEY=OLD:NEW",
    help="What a value becomes, where only you can know; may be repeated.",
)
@click.option(
    "--image", "images", multiple=True, metavar="OLD=NEW", help="The image that replaces another; may be repeated."
)
@click.option(
    "--validate/--no-validate", default=True, help="Check converted manifests against the schemas of Kubernetes."
)
def command(path: Path, undo: bool, **chosen: Any) -> int:
    """Convert the files at PATH that are not C++: packaging, images, manifests, charts, jobs, CI, rules, dashboards.

    Without -o or --in-place nothing is written: the report says what would be done.
    Exit code 0: nothing is left to do; 1: something needs a person (or, with --check, would change); 2: a file could not be read or written.
    """
    if undo:
        return _undo(path)
    output: Path | None = chosen["output"]
    if output is not None and chosen["in_place"]:
        raise click.UsageError("choose one of -o and --in-place")
    if output is not None and output.resolve() == path.resolve():
        raise click.UsageError("the output folder is the one that is read; use --in-place")
    unknown = [kind for kind in chosen["only"] if kind not in registry.names()]
    if unknown:
        raise click.UsageError(f"--only {unknown[0]}: kinds are {', '.join(registry.names())}")
    options = _options(chosen)
    with contextlib.ExitStack() as until:
        edits = until.enter_context(tree.in_place(path)) if chosen["in_place"] else None
        with _progress() as step:
            done = tree.run(path, options, chosen["only"], chosen["exclude"], output, step)
        problems = _write(done, output, edits)
    checked = answers.validated(done) if chosen["validate"] else answers.Validation("not asked for")
    _print(done, options, checked, chosen)
    for problem in (*done.problems, *(r.problem for r in done.results if r.problem is not None), *problems):
        click.echo(problem.as_text(), err=True)
    return _exit_code(done, problems, checked, chosen["check"])


@contextmanager
def _progress() -> Generator[Callable[[int, int], None] | None]:
    """Give a callback that shows a bar on a terminal's stderr once the work has taken two seconds."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    started = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("converting", visible=False)

        def step(done: int, total: int) -> None:
            late = time.monotonic() - started > _PATIENCE
            bar.update(task, completed=done, total=total, visible=late, refresh=late)

        yield step


def _options(chosen: dict[str, Any]) -> Options:
    target = parse_target(chosen["target"], chosen["rocm"])
    return Options(
        target=target,
        card=answers.card(chosen["card"], target),
        naming=chosen["naming"],
        mapping=answers.mapping(chosen["mapped"]),
        images=answers.images(chosen["images"]),
    )


def _write(done: tree.Run, output: Path | None, edits: EditRun | None) -> list[Diagnostic]:
    if edits is not None:
        return tree.write_in_place(done, edits)
    return tree.write_tree(done, output) if output is not None else []


def _print(done: tree.Run, options: Options, checked: answers.Validation, chosen: dict[str, Any]) -> None:
    if chosen["style"] == "json":
        click.echo(json.dumps({**report.as_json(done, options), "validation": checked.as_json()}, indent=2))
    elif chosen["diff"]:
        for result in done.results:
            text = report.diff(result)
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    else:
        for line in report.as_text(done):
            click.echo(line)
        for line in checked.as_text():
            click.echo(line)


def _exit_code(done: tree.Run, problems: list[Diagnostic], checked: answers.Validation, check: bool) -> int:
    numbers = report.sums(done)
    if problems or numbers["problems"]:
        return 2
    return int(bool(numbers["refusals"] or checked.errors or (check and numbers["changes"])))


def _undo(path: Path) -> int:
    failed = 0
    for shown, problem in tree.undo(path):
        failed += bool(problem)
        click.echo(f"{shown}: {problem or 'taken back'}", err=bool(problem))
    return 2 if failed else 0

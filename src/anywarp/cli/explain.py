"""`anywarp explain CODE`: the page of a diagnostic, in the terminal; `anywarp explain NAME`: what ROCm has for a name of CUDA.

A message must fit in a few lines; what stands behind it, and what to do, is worth a page that travels with the package.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click

import anywarp
from anywarp.diagnostics import AnywarpError, Diagnostic

CODE = re.compile(r"[A-Z][0-9]{3}")


@click.command("explain")
@click.option(
    "--patches", is_flag=True, help="List what is changed in the processes of COMMAND (default: import torch), and why."
)
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print the result.")
@click.argument("words", metavar="[CODE | NAME | -- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--rocm", default=None, metavar="VERSION", help="For a name: in this release of ROCm, such as 7.1.")
def command(patches: bool, style: str, rocm: str | None, words: tuple[str, ...]) -> int:
    """Print the page of the diagnostic CODE, such as P001; without one, list all codes.

    With a NAME of CUDA, such as cudaMemPrefetchAsync or cublas_v2.h: what takes its place on AMD GPUs.

    With --patches: run COMMAND and list every change made in its processes.
    """
    if patches:
        from anywarp.cli.explain_patches import explain_patches  # late: it starts programs

        return explain_patches(words, style)
    if len(words) > 1:
        raise click.UsageError("one code at a time")
    if not words:
        _print_list(style)
        return 0
    code = words[0]
    if CODE.fullmatch(code.strip().upper()) is None or rocm is not None:
        from anywarp.cli.explain_names import explain_name

        return explain_name(code, rocm, style)
    page = page_of(code)
    if style == "json":
        click.echo(json.dumps({"code": code.upper(), "title": title(page), "page": page}, indent=2))
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        click.echo(page, nl=False)
    return 0


def pages() -> Path:
    """Return the directory of pages: inside an installed package, in docs/ of a checkout."""
    package = Path(anywarp.__file__).resolve().parent
    installed = package / "docs" / "diagnostics"
    return installed if installed.is_dir() else package.parents[1] / "docs" / "diagnostics"


def page_of(code: str) -> str:
    """Return the text of a page; AnywarpError (L002) when there is none for `code`."""
    name = code.strip().upper()
    place = pages() / f"{name}.md"
    if CODE.fullmatch(name) is None or not place.is_file():
        help = "`anywarp explain` without a code lists them all"
        raise AnywarpError(Diagnostic("L002", f"there is no diagnostic {code[:80]!r}", help=help))
    return place.read_text(encoding="utf-8")


def title(page: str) -> str:
    """Return what follows the code in the first line of a page."""
    return page.partition("\n")[0].partition(": ")[2]


def _print_list(style: str) -> None:
    titles = {
        p.stem: title(p.read_text(encoding="utf-8")) for p in sorted(pages().glob("*.md")) if CODE.fullmatch(p.stem)
    }
    if style == "json":
        click.echo(json.dumps(titles, indent=2))
    else:
        click.echo("\n".join(f"{code}  {text}" for code, text in titles.items()))

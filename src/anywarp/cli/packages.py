"""Options of commands that install packages for ROCm: which release, who installs, and where packages come from."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def _release(context: click.Context, option: click.Parameter, value: str) -> str:
    """Refuse what is no release of ROCm. Of one that nobody knows it is said later that its index is not known."""
    if value and not re.fullmatch(r"\d{1,3}(\.\d{1,3}){1,3}", value):
        raise click.BadParameter(f"{value!r} is no release such as 7.1")
    return value


rocm = click.option(
    "--rocm", metavar="RELEASE", default="", callback=_release,
    help="Release of ROCm (default: the newest that has the same torch).",
)  # fmt: skip

_SOURCES = (
    click.option(
        "--installer", "name", type=click.Choice(["uv", "pip"]),
        help="Who installs packages (default: uv where it is, else pip).",
    ),
    click.option(
        "--index-url", "index", metavar="URL", default="",
        help="Take packages from this index only, such as a mirror of yours.",
    ),
    click.option(
        "--find-links", "links", metavar="PLACE", multiple=True,
        help="Look for packages in this folder, too; may be repeated.",
    ),
    click.option("--no-index", is_flag=True, help="Look nowhere but in --find-links."),
)  # fmt: skip


def sources(command: F) -> F:
    """Give a command `--installer` (as `name`), `--index-url` (`index`), `--find-links` (`links`) and `--no-index`."""
    for option in reversed(_SOURCES):
        command = option(command)
    return command

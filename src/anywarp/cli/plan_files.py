"""Plans that a user writes: a first one written for them, and one read with every mistake in it told."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from anywarp.cli.report_file import unwritable
from anywarp.diagnostics import AnywarpError, Diagnostic

Read = TypeVar("Read")


def write_first(file: Path, verb: str, schema: bool) -> int:
    """Write the first plan of a verb of deploy's (or the JSON schema of its plans) to a new file; AnywarpError (L001)."""
    package = importlib.import_module(f"anywarp.deploy.{verb}")
    if schema:
        made: Any = importlib.import_module(f"{package.__name__}.plan").schema()
        text = json.dumps(made, indent=1) + "\n"
    else:
        text = (Path(str(package.__file__)).parent / "first_plan.yaml").read_text(encoding="utf-8")
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise AnywarpError(Diagnostic("L001", f"{file} is there already", help="choose another place")) from None
    except OSError as error:
        raise unwritable(str(file), error) from error
    click.echo(f"anywarp {verb}: wrote {file}", err=True)
    return 0


def read(reader: Callable[[Path], Read], file: Path) -> Read:
    """Return what a reader makes of a file; of several mistakes all but the last are told here, the last is raised (AnywarpError)."""
    from anywarp.deploy.checked_yaml import FileErrors

    try:
        return reader(file)
    except FileErrors as errors:
        for other in errors.problems[:-1]:
            click.echo(other.as_text(), err=True)
        raise AnywarpError(errors.problems[-1]) from None

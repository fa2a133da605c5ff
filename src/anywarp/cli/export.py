"""`anywarp export MODEL`: a model of PyTorch as ONNX, written only if ONNX Runtime computes what PyTorch does.

ONNX is the bridge for models that change framework or engine; whoever crosses it wants to know that both ends agree, at more than one batch.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from anywarp.frameworks.export.exporting import Result


@click.command("export")
@click.argument("model")
@click.option(
    "--input",
    "given",
    multiple=True,
    required=True,
    metavar="INPUT",
    help="x:f32[batch=4,3,224,224], tokens:i64[batch,length]<30000, or samples.npz; repeatable.",
)
@click.option(
    "--dynamic",
    multiple=True,
    metavar="x.0=AXIS",
    help="Name an axis of an array in the .npz file that may vary; repeatable.",
)
@click.option(
    "--try", "wanted", multiple=True, metavar="AXIS=SIZE[,...]", help="Compare at these sizes, too; repeatable."
)
@click.option(
    "--weights", type=click.Path(path_type=Path), help="Load these weights (safetensors) into the module first."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The ONNX file to write.")
@click.option("--write-anyway", "anyway", is_flag=True, help="Write it though it computes something else.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print the result.")
def command(
    model: str, given: tuple[str, ...], dynamic: tuple[str, ...], wanted: tuple[str, ...], weights: Path | None, output: Path, anyway: bool, style: str
) -> int:  # fmt: skip
    """Export MODEL (file.py:name, package.module:name, program.pt2) to ONNX, and hold it against PyTorch.

    Exit code 0: written, all outputs are right; 1: some are not; 2: it cannot be exported.
    """
    from anywarp.frameworks.export import exporting, inputs  # late: numpy, and PyTorch behind it

    request = inputs.read(given, dynamic)
    result = exporting.export(model, request, output, weights, [_sizes(text) for text in wanted], anyway)
    if style == "json":
        click.echo(json.dumps(result.as_json(), indent=2))
    else:
        _print(result)
    if result.written is None:
        click.echo(f"{output} was not written: --write-anyway does it all the same", err=True)
    return 0 if result.right else 1


def _sizes(text: str) -> dict[str, int]:
    parts = [re.fullmatch(r"([A-Za-z_]\w*)=(\d{1,9})", part.strip()) for part in text.split(",")]
    if None in parts:
        raise click.BadParameter(f"{text!r} is not AXIS=SIZE", param_hint="--try")
    return {part[1]: int(part[2]) for part in parts if part is not None}


def _print(result: Result) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("sizes", "output", "type", "difference", "allowed", "", box=None, pad_edge=False)
    for case in result.cases:
        sizes = ", ".join(f"{name}={size}" for name, size in case.sizes.items()) or "as given"
        if case.failed:
            table.add_row(sizes, "", "", "", "", f"WRONG: {case.failed}")
        for each in case.verdicts:
            said = "right" if each.right else "WRONG"
            table.add_row(
                sizes, each.output, each.dtype, f"{each.error:.2g}", f"{each.bound:.2g}", f"{said} ({each.why})"
            )
    Console().print(table)
    if result.written is not None:
        click.echo(f"written: {result.written}")

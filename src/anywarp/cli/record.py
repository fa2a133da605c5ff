"""`anywarp record -- COMMAND`: run a program as it is and keep the values of its model, to be held against another device's."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from anywarp import settings
from anywarp.check.record.plan import BUDGET, CALLS, SAMPLE, Plan
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.settings import parse_size


def size(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Read a size such as 256MB for an option."""
    if text is None:
        return None
    try:
        return parse_size(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("record", context_settings={"allow_interspersed_args": False})
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("recording"),
    show_default=True,
    help="The folder to write, or a .tar.",
)
@click.option(
    "--modules",
    multiple=True,
    metavar="PATTERN",
    help="Only modules whose path matches, such as '*.attn' (repeat it for more).",
)
@click.option(
    "--mode",
    type=click.Choice(["tensors", "statistics"]),
    default="tensors",
    show_default=True,
    help="Keep values, or figures and sketches of them only.",
)
@click.option(
    "--calls",
    default=CALLS,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="How many calls of each outermost module.",
)
@click.option(
    "--budget",
    default=f"{BUDGET >> 20}MB",
    show_default=True,
    callback=size,
    help="The most that values may take; what does not fit is kept as statistics.",
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(0, (1 << 31) - 1),
    help="Of the sketches: both sides need the same.",
)
@click.option(
    "--precise",
    is_flag=True,
    help="Keep what modules of several operations give in float64, too; slow, and the surest measure.",
)
@click.option(
    "--buffer",
    "buffers",
    multiple=True,
    metavar="NAME:TYPE",
    help="What a buffer holds that the program copies to the host: 'copy 3:f32[32,32]' (repeat it for more).",
)
@click.option("--force", is_flag=True, help="Replace a recording that is there.")
@click.option("--endpoint", metavar="URL", help="Record an OpenAI-style endpoint instead of a command.")
@click.option("--model", help="The model's name at the endpoint.")
@click.option("--key-from", metavar="NAME", help="The variable of the environment that holds the endpoint's key.")
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file of JSON lines, each with a prompt, for the endpoint.",
)
@click.option(
    "--tokens",
    default=64,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="How many tokens the endpoint writes for each prompt.",
)
@click.argument("program", metavar="COMMAND...", nargs=-1, type=click.UNPROCESSED)
def command(
    output: Path,
    modules: tuple[str, ...],
    mode: str,
    calls: int,
    budget: int,
    seed: int,
    precise: bool,
    buffers: tuple[str, ...],
    force: bool,
    endpoint: str | None,
    model: str | None,
    key_from: str | None,
    prompts: Path | None,
    tokens: int,
    program: tuple[str, ...],
) -> int:
    """Run COMMAND as it is and record what its modules of PyTorch (functions of JAX, sessions of ONNX Runtime, named buffers) are given and return, for `anywarp verify` elsewhere.

    Put -- before it: anywarp record -o before.tar -- python generate.py
    """
    from anywarp.check.bundle.packing import pack
    from anywarp.check.bundle.problems import not_written
    from anywarp.check.record import copies, running

    if (endpoint is None) == (not program):
        raise click.UsageError("name a COMMAND, or an --endpoint")
    if key_from is not None and endpoint is None:
        raise click.UsageError("--key-from is the key of an --endpoint")
    kinds = tuple(copies.kind_of(each) for each in buffers)
    running.make_room(output, force)
    try:
        with tempfile.TemporaryDirectory(prefix=".recording-", dir=output.absolute().parent) as beside:
            folder = Path(beside) / "recording"
            folder.mkdir(mode=0o700)
            if endpoint is not None:
                from anywarp.check.record import endpoints, keys

                if model is None or prompts is None:
                    raise click.UsageError("--endpoint needs --model and --prompts")
                key = keys.read(key_from, settings.environment())
                endpoints.record(endpoints.Endpoint(endpoint, model, key), prompts, tokens, folder, budget)
                status = 0
            else:
                plan = Plan(
                    str(folder), program, mode, modules, calls, budget, seed, SAMPLE, precise=precise, kinds=kinds
                )
                status = running.run(plan, Path(beside))
            found = running.finished(folder)
            if found is None:
                return _nothing(status)
            if output.suffix == ".tar":
                pack(folder, output)
            else:
                running.replace(folder, output)
    except OSError as error:
        raise not_written(output, error) from None
    click.echo(f"anywarp: {output} holds {found}", err=True)
    return status


def _nothing(status: int) -> int:
    """Say that the command ran and nothing of it was seen; its own failure is told before ours."""
    text = "nothing was recorded: no Python of the command called a module of PyTorch, a compiled function of JAX or a session of ONNX Runtime, or named a buffer"
    help = "name what starts Python itself after --, and leave out -E, -I and -S, which keep Python from looking at PYTHONPATH"
    problem = Diagnostic("V008", text, help=help)
    if status:
        click.echo(f"anywarp: {problem.as_text()}", err=True)
        return status
    raise AnywarpError(problem)

"""`anywarp bench`: how fast a model, a command or an endpoint is, with intervals; and two sides in turns.

A number without its interval, its warm-up and its circumstances invites a wrong decision, so none is printed.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anywarp import settings
from anywarp.cli.report_file import check_writable, write

if TYPE_CHECKING:
    from anywarp.check.bench.cell import Cell
    from anywarp.check.bench.endpoint import Load
    from anywarp.check.bench.runners import Outcome
    from anywarp.check.bench.session import Launched
    from anywarp.check.bench.single import Step
    from anywarp.check.store import Run, Store

MODEL = re.compile(r"[^\s:]+\.pt2|[^\s:]+:[A-Za-z_]\w*")


@click.command("bench")
@click.option("--device", default="host", show_default=True, help="Devices of `anywarp run`, separated by commas; host: as it is, a model on PyTorch's CPU.")  # fmt: skip
@click.option("--input", "inputs", multiple=True, metavar="INPUT", help="For a model: x:f32[batch=4,3,224,224], as for `anywarp export`; repeatable.")  # fmt: skip
@click.option("--batch", metavar="N[,N...]", help="Sizes of the axis batch.")
@click.option("--length", metavar="N[,N...]", help="Sizes of the axis length.")
@click.option("--axis", "axes", multiple=True, metavar="NAME=N[,N...]", help="Sizes of any other axis; repeatable.")
@click.option("--dtype", default="", metavar="TYPE[,TYPE...]", help="float64, float32, bfloat16, float16 (default: as the model is).")  # fmt: skip
@click.option("--weights", type=click.Path(path_type=Path), help="Load these weights (safetensors) first.")
@click.option("--compile", "compiled", is_flag=True, help="Call the model through torch.compile.")
@click.option("--graphs", is_flag=True, help="Capture the model's call as a CUDA graph and replay it.")
@click.option(
    "--threads", type=click.IntRange(0, 4096), default=0, help="Threads of PyTorch (default: its own choice)."
)
@click.option("--ranks", type=click.IntRange(1, 1024), default=1, help="So many processes, started by torchrun, run the model together.")  # fmt: skip
@click.option("--processes", type=click.IntRange(1, 100), default=1, help="Measure each cell in so many processes, one after the other.")  # fmt: skip
@click.option("--seconds", type=click.FloatRange(0.01, 3600), default=3.0, show_default=True, help="Steady time that each cell is measured for, at least.")  # fmt: skip
@click.option("--against", metavar="DEVICE | WORDS", help="Compare in turns with this device, or with these words before the program: 'anywarp run --device hip'.")  # fmt: skip
@click.option("--precision", type=click.FloatRange(0.0001, 1), default=0.01, show_default=True, help="With --against: half of the ratio's interval that is wanted.")  # fmt: skip
@click.option("--budget", type=click.FloatRange(1, 86400), default=300.0, show_default=True, help="With --against: the most seconds.")  # fmt: skip
@click.option("--anyway", is_flag=True, help="Compare what is not alike, with a mark on the result.")
@click.option("--fresh", is_flag=True, help="Measure again what is in the results already.")
@click.option("--endpoint", metavar="URL", help="Offer load to this endpoint, which speaks OpenAI's protocol, instead.")
@click.option("--served-model", default="", help="With --endpoint: the name of the model there.")
@click.option("--prompts", type=click.Path(path_type=Path), help="With --endpoint: a file with a prompt a line, or JSON lines (.jsonl) with text.")  # fmt: skip
@click.option("--key-from", metavar="NAME", help="With --endpoint: the variable of the environment that holds its key.")
@click.option("--rate", metavar="R[,R...]", help="With --endpoint: requests a second, at random moments.")
@click.option("--concurrency", metavar="N[,N...]", help="With --endpoint: clients that each send a request after the other.")  # fmt: skip
@click.option("--requests", type=click.IntRange(1, 10_000_000), default=200, show_default=True, help="With --endpoint: so many at each load.")  # fmt: skip
@click.option("--max-tokens", type=click.IntRange(1, 1_000_000), default=128, show_default=True, help="With --endpoint: the most of an answer.")  # fmt: skip
@click.option("--good", "limits", multiple=True, metavar="LIMIT", help="With --endpoint: what a good request keeps: first-token<=500ms, between-tokens<=50ms, whole<=10s.")  # fmt: skip
@click.option("--runner", type=click.Choice(["here", "ray"]), default="here", show_default=True, help="Where the cells of a matrix are measured.")  # fmt: skip
@click.option("--ray-address", help="With --runner ray: the cluster (default: a local one).")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the results to this JSON file, too.")  # fmt: skip
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write charts to this HTML file, too.")
@click.argument("what", nargs=-1, type=click.UNPROCESSED, metavar="MODEL | -- COMMAND...")
def command(
    device: str, inputs: tuple[str, ...], batch: str | None, length: str | None, axes: tuple[str, ...], dtype: str, weights: Path | None,
    endpoint: str | None, served_model: str, prompts: Path | None, key_from: str | None, rate: str | None, concurrency: str | None, requests: int, max_tokens: int,
    limits: tuple[str, ...], compiled: bool, graphs: bool, threads: int, ranks: int, processes: int, seconds: float, against: str | None, precision: float, budget: float,
    anyway: bool, fresh: bool, runner: str, ray_address: str | None, style: str, output: Path | None, html: Path | None, what: tuple[str, ...],
) -> int:  # fmt: skip
    """Measure MODEL (file.py:name, package.module:name, program.pt2) or COMMAND; results are kept (`anywarp results`).

    Exit code 0: measured; 1: with marks that a reader must know, such as no steady state; 2: something could not be measured.
    """
    from anywarp.check.bench import runners
    from anywarp.check.bench.cell import Cell, matrix
    from anywarp.check.record import keys
    from anywarp.check.store import opened
    from anywarp.cli.progress import told

    if bool(what) == (endpoint is not None):
        raise click.UsageError("name a MODEL, a COMMAND behind --, or an --endpoint: one of them")
    if key_from is not None and endpoint is None:
        raise click.UsageError("--key-from is the key of an --endpoint")
    check_writable(output)
    check_writable(html)
    if endpoint is not None:
        if prompts is None or not served_model:
            raise click.UsageError("--endpoint needs --prompts and --served-model")
        secret = keys.read(key_from, settings.environment())
        loads = _loads(endpoint, served_model, prompts, rate, concurrency, requests, max_tokens, limits)
        loads = [replace(load, secret=secret) for load in loads]
        return _show(_offered(loads, fresh), style, output, html)
    is_model = len(what) == 1 and MODEL.fullmatch(what[0]) is not None
    torchrun = _launched(is_model, ranks, against, runner)
    if torchrun is not None:
        ranks = torchrun.count
    if is_model and not inputs:
        raise click.UsageError("a model needs its inputs: --input 'x:f32[batch=4,3,224,224]'")
    base = Cell(
        "model" if is_model else "command", what[0] if is_model else shlex.join(what), () if is_model else what,
        inputs=inputs, weights=str(weights or ""), compile=compiled, graphs=graphs, ranks=ranks, threads=threads,
        processes=processes, seconds=seconds,
    )  # fmt: skip
    cells = matrix(base, _words(device), _words(dtype) or [""], _axes(batch, length, axes))
    with ExitStack() as stack:
        store = stack.enter_context(opened())
        step = stack.enter_context(told("anywarp bench"))
        if torchrun is not None:
            outcomes = list(runners.within_torchrun(cells, torchrun.rank, store, step))
        elif against is not None:
            outcomes = _pairs(cells, against, precision, budget, anyway, store, step)
        elif runner == "ray":
            outcomes = list(runners.over_ray(cells, store, fresh, step, ray_address))
        else:
            outcomes = list(runners.here(cells, store, fresh, step))
    if torchrun is not None and torchrun.rank:
        return _show(outcomes, "text", None, None)  # problems alone: the first rank has the results
    return _show(outcomes, style, output, html)


def _launched(is_model: bool, ranks: int, against: str | None, runner: str) -> Launched | None:
    """Return which process of the user's own torchrun this is, None outside of one."""
    from anywarp.check.bench.session import launched

    found = launched()
    count = settings.environment().get("WORLD_SIZE", "1")
    if found is None and count != "1" and is_model:
        raise click.UsageError(
            f"this is one of {count[:20]} processes, and not torchrun's: start anywarp bench alone, with --ranks N"
        )
    if found is None or (found.count == 1 and not is_model):
        return None
    if not is_model:
        raise click.UsageError(
            "within torchrun a MODEL is measured; of a program, measure the whole: anywarp bench -- torchrun ..."
        )
    if against is not None or runner != "here":
        raise click.UsageError(
            "within torchrun there is no --against and no --runner: start anywarp bench alone, with --ranks N"
        )
    if ranks not in (1, found.count):
        raise click.UsageError(f"torchrun has started {found.count} ranks, and --ranks says {ranks}")
    return found


def _pairs(
    cells: Sequence[Cell], against: str, precision: float, budget: float, anyway: bool, store: Store, step: Step
) -> list[Outcome]:
    from anywarp.check.bench import pairs
    from anywarp.check.bench.runners import Outcome
    from anywarp.diagnostics import AnywarpError

    found: list[Outcome] = []
    words = shlex.split(against)
    for cell in cells:
        other = replace(cell, device=against, prefix=()) if len(words) == 1 else replace(cell, prefix=tuple(words))
        try:
            run = pairs.compare(cell, other, precision, budget, anyway, step)
        except AnywarpError as error:
            found.append(Outcome(cell, None, problem=error.diagnostic))
            continue
        store.add(run)
        found.append(Outcome(cell, run))
    return found


def _loads(
    url: str, model: str, prompts: Path, rate: str | None, concurrency: str | None, requests: int, most: int, limits: Sequence[str]
) -> list[Load]:  # fmt: skip
    from anywarp.check.bench import endpoint

    texts, kept = endpoint.read_prompts(prompts), endpoint.read_limits(limits)
    base = endpoint.Load(url, model, texts, requests, max_tokens=most, limits=kept)
    rates, clients = _words(rate or ""), _words(concurrency or "")
    if not (rates or clients):
        clients = ["1"]
    for text in [*rates, *clients]:
        if not re.fullmatch(r"\d{1,7}(\.\d{1,6})?" if text in rates else r"\d{1,6}", text) or not float(text):
            raise click.BadParameter(f"{text!r} is no load", param_hint="--rate or --concurrency")
    return [*(replace(base, rate=float(r)) for r in rates), *(replace(base, concurrency=int(c)) for c in clients)]


def _offered(loads: Sequence[Load], fresh: bool) -> list[Outcome]:
    from anywarp.check.bench import endpoint
    from anywarp.check.bench.cell import Cell
    from anywarp.check.bench.runners import Outcome
    from anywarp.check.store import opened
    from anywarp.cli.progress import told
    from anywarp.diagnostics import AnywarpError

    found: list[Outcome] = []
    with opened() as store, told("anywarp bench") as step:
        for load in loads:
            cell = Cell("command", load.url, device=load.text())
            known = None if fresh else store.latest(load.key())
            if known is not None:
                found.append(Outcome(cell, known, known=True))
                continue
            try:
                run = endpoint.measure(load, step)
            except AnywarpError as error:
                found.append(Outcome(cell, None, problem=error.diagnostic))
                continue
            store.add(run)
            found.append(Outcome(cell, run))
    return found


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _axes(batch: str | None, length: str | None, axes: Sequence[str]) -> dict[str, list[int]]:
    named = [f"batch={batch}"] * (batch is not None) + [f"length={length}"] * (length is not None) + list(axes)
    found: dict[str, list[int]] = {}
    for text in named:
        name, _, sizes = text.partition("=")
        if not name.isidentifier() or not re.fullmatch(r"\d{1,9}(,\d{1,9})*", sizes) or name in found:
            raise click.BadParameter(f"{text!r} is not NAME=N[,N...], each name once", param_hint="--axis")
        found[name] = list(dict.fromkeys(int(size) for size in sizes.split(",")))
    return found


def _show(outcomes: Sequence[Outcome], style: str, output: Path | None, html: Path | None) -> int:
    """Print what was measured; return the exit code."""
    from anywarp.cli.bench_tables import show

    for each in outcomes:
        if each.problem is not None:
            click.echo(f"{each.cell.title()}: {each.problem.as_text()}", err=True)
    found = [each.run for each in outcomes if each.run is not None]
    content = json.dumps([run.as_json() for run in found], indent=1) + "\n"
    if output is not None:
        write(output, content)
    if html is not None and found:
        from anywarp.check.bench.page import page

        write(html, page(found))
    if style == "json":
        click.echo(content, nl=False)
    elif found:
        show(found, {each.run.id for each in outcomes if each.run is not None and each.known})
    if any(each.problem for each in outcomes):
        return 2
    return int(any(_marked(run) for run in found))


def _marked(run: Run) -> bool:
    return bool(run.result.get("marks"))

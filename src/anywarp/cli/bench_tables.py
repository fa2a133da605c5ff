"""What was measured, as tables: with rules in a terminal, as columns elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from anywarp.check.bench.cell import from_json
from anywarp.check.store import Run
from anywarp.cli.tables import table


def show(runs: Sequence[Run], known: frozenset[str] | set[str] = frozenset()) -> None:
    """Print results of measuring, and below them what a reader must know."""
    singles = [run for run in runs if run.result.get("form") in ("model", "command")]
    table("", ("", "p50 ms", "p90 ms", "p99 ms", "per second", "memory", "first", "warm-up", "result"), map(_single, singles))  # fmt: skip
    pairs = [run for run in runs if run.result.get("form") == "pair"]
    table("", ("A : B", "p50 of A, ms", "p50 of B, ms", "A takes of B", "interval", "pairs", "result"), map(_pair, pairs))  # fmt: skip
    loads = [run for run in runs if run.result.get("form") == "endpoint"]
    table("", ("load", "first token, ms p50/p99", "between tokens, ms", "whole, s p50/p99", "tokens/s", "good", "errors", "result"), map(_load, loads))  # fmt: skip
    for run in runs:
        for mark in run.result.get("marks", ()):
            click.echo(f"{run.id}: {mark}")
        energy = run.result.get("energy", {})
        for name, joules in energy.get("joules_per_item", {}).items():
            click.echo(f"{run.id}: {name}: {joules:.3g} J for each")
    if singles and not any(run.result["energy"]["joules_per_item"] for run in singles):
        missing = singles[0].result["energy"]["not_read"]
        click.echo("energy was not read: " + "; ".join(f"{name}: {why}" for name, why in missing.items()))
    if known:
        click.echo(f"{len(known)} of {len(runs)} were measured earlier: --fresh measures them again")


def _single(run: Run) -> list[str]:
    result = run.result
    latency = result["latency_ms"]
    kinds = result["warm_up"]
    warm = kinds[0]["kind"] if kinds[0]["kind"] != "warm-up" else f"{kinds[0]['calls']} calls"
    memory = size(result["memory"]["peak_rss"])
    if device := result["memory"].get("device_peak"):
        memory += f" + {size(device)} of the device"
    return [
        from_json(result["cell"]).title(), interval(latency["p50"]), interval(latency["p90"]), interval(latency["p99"]),
        interval(result["throughput"]), memory, f"{result['first_s']:.3g} s", warm, run.id,
    ]  # fmt: skip


def _pair(run: Run) -> list[str]:
    result = run.result
    a, b, ratio = result["a"], result["b"], result["ratio"]
    low, high = (f"{x:.4g}" if x is not None else "?" for x in (ratio["low"], ratio["high"]))
    return [
        f"{from_json(a['cell']).title()} : {b['side']}", interval(a["latency_ms"]["p50"]),
        interval(b["latency_ms"]["p50"]), f"{ratio['value']:.4g}", f"{low} to {high}", str(len(result["units"])), run.id,
    ]  # fmt: skip


def _load(run: Run) -> list[str]:
    result = run.result
    service = result["service"]

    def both(name: str, unit: float) -> str:
        found = service.get(name)
        return f"{found['p50']['value'] * unit:.4g} / {found['p99']['value'] * unit:.4g}" if found else "-"

    good = result["goodput"]
    return [
        result["load"], both("first_token_s", 1e3), both("between_tokens_s", 1e3), both("whole_s", 1.0),
        interval(result["tokens_per_s"]), f"{good['share']['value']:.1%}" if good["limits"] else "-",
        str(result["errors"]), run.id,
    ]  # fmt: skip


def interval(value: Mapping[str, Any]) -> str:
    """Return a value with its bounds, such as `1.234 [1.2, 1.25]`; ? for a bound that so few values do not give."""
    low, high = (f"{value[x]:.4g}" if value[x] is not None else "?" for x in ("low", "high"))
    return f"{value['value']:.4g} [{low}, {high}]"


def size(count: int) -> str:
    """Return a number of bytes in words."""
    return f"{count / (1 << 30):.2f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"

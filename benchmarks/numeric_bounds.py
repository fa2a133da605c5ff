"""Hold the bounds on rounding against simulated sums: is one ever exceeded, and how loose are they?

For each kind of operands, length of the sums and pair of orders, 10,000 results at once, with the bound made for all of them together to hold
but with probability 0.001. Columns: the worst |difference| / bound (above 1: exceeded), and bound / (99.9 % quantile of |difference|): how loose it is.

    python benchmarks/numeric_bounds.py                     the tables, as docs/verify-bounds.md has them (minutes)
    python benchmarks/numeric_bounds.py --results 1000 --longest 1024
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from anywarp.numerics import bounds, formats
from anywarp.numerics.operation import Operation
from numerics import orders

FAILING = 1e-3
ACCUMULATORS = {"float32": np.float32, "float16": np.float16}


def allowed(bound, s, q, c):
    return bound.magnitude * s + bound.norm * q + bound.value * np.abs(c) + bound.absolute


def row(operands, k, results, accumulator, held, seed):
    """Return, for each bound, the worst ratio and the least looseness over all pairs of orders."""
    rng = np.random.default_rng(seed)
    dtype = ACCUMULATORS[accumulator]
    a, b = (formats.round_to(x, held).astype(dtype) for x in orders.OPERANDS[operands](rng, k, results))
    if accumulator == "float16":
        a, b = (a / np.float16(k**0.25)).astype(dtype), (b / np.float16(k**0.25)).astype(dtype)
    terms = a.astype(np.float64) * b
    s, q = np.abs(terms).sum(0), np.sqrt(np.square(terms).sum(0))
    sums = {name: order(a, b).astype(np.float64) for name, order in orders.ORDERS.items()}
    operation = Operation("product", k, held, accumulator, accumulator)
    found = {}
    for make in (bounds.certain, bounds.probabilistic, bounds.sharp):
        bound = make(operation) if make is bounds.certain else make(operation, results, FAILING)
        if bound is None:
            found[make.__name__] = None
            continue
        worst, loose, exceeding = 0.0, [], 0
        for x, y in itertools.combinations(sums.values(), 2):
            limit = allowed(bound, s, q, x)
            difference = np.abs(x - y)
            ratio = difference / limit
            worst = max(worst, ratio.max())
            exceeding = max(exceeding, int((ratio > 1).sum()))
            high = np.quantile(difference, 0.999)
            if high:
                loose.append(np.median(limit) / high)
        found[make.__name__] = worst, exceeding, min(loose, default=np.nan), max(loose, default=np.nan)
    return found


@click.command(help=__doc__)
@click.option("--results", default=10_000, show_default=True)
@click.option("--longest", default=16_384, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(results: int, longest: int, seed: int) -> None:
    names = ("certain", "probabilistic", "sharp")
    print("| accumulator | operands | K | " + " | ".join(f"{n}: worst / loose" for n in names) + " |")
    print("| --- | --- | --- |" + " --- |" * len(names))
    lengths = [k for k in (64, 256, 1024, 4096, 16_384) if k <= longest]
    for accumulator, held in (("float32", "bfloat16"), ("float32", "float32"), ("float16", "float16")):
        for operands in orders.OPERANDS:
            if accumulator == "float16" and operands == "subnormal":
                continue
            for k in lengths:
                if (accumulator == "float16" and k > 4096) or (held == "float32" and k not in (256, 4096)):
                    continue
                found = row(operands, k, results if k < 16_384 else min(results, 2000), accumulator, held, seed + k)
                cells = []
                for name in names:
                    if found[name] is None:
                        cells.append("none")
                        continue
                    worst, exceeding, least, most = found[name]
                    more = f", {exceeding} beyond" if exceeding else ""
                    cells.append(f"{worst:.2g}{more} / {least:.3g} to {most:.3g}")
                print(f"| {accumulator}, {held} | {operands} | {k:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

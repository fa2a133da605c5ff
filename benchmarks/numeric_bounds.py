"""Hold the bounds on rounding against simulated sums: is one ever exceeded, and how loose are they?

For each kind of operands, length of the sums and pair of orders, 10,000 results, with the bound made for all of them together to hold
but with probability 0.001. Columns: the worst |difference| / bound (above 1: exceeded), and bound / (99.9 % quantile of |difference|): how loose it is.
"seen" is the sharp bound, given the deviation that the two sides show.

    python benchmarks/numeric_bounds.py                     the tables, as docs/verify-bounds.md has them (minutes)
    python benchmarks/numeric_bounds.py --results 1000 --longest 1024
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from anywarp.numerics import bounds, formats, magnitudes
from anywarp.numerics.operation import Operation
from numerics import orders

FAILING = 1e-3
ACCUMULATORS = {"float32": np.float32, "float16": np.float16}
TERMS = 1 << 19
"""Terms that are made at once: what fits into a processor's cache. All of a row would be gigabytes, and take memory's time, not the sums'."""
NAMES = ("certain", "probabilistic", "sharp", "seen")


def allowed(bound, s, q, c):
    return bound.magnitude * s + bound.norm * q + bound.value * np.abs(c) + bound.absolute


def made(operands, k, results, accumulator, held, seed):
    """Return S, Q and the sums of each order, for `results` results, a part of them at a time."""
    dtype = ACCUMULATORS[accumulator]
    parts = []
    for start in range(0, results, max(1, TERMS // k)):
        rng = np.random.default_rng([seed, start])
        count = min(max(1, TERMS // k), results - start)
        a, b = (formats.round_to(x, held).astype(dtype) for x in orders.OPERANDS[operands](rng, k, count))
        if accumulator == "float16":
            a, b = (a / np.float16(k**0.25)).astype(dtype), (b / np.float16(k**0.25)).astype(dtype)
        terms = a.astype(np.float64) * b
        sums = [order(a, b).astype(np.float64) for order in orders.ORDERS.values()]
        parts.append(np.stack([np.abs(terms).sum(0), np.sqrt(np.square(terms).sum(0)), *sums]))
    s, q, *sums = np.concatenate(parts, 1)
    return s, q, sums


@dataclass
class Held:
    """How one bound held over all pairs of orders."""

    worst: float = 0.0
    exceeding: int = 0
    loose: tuple[float, ...] = ()

    def add(self, difference, limit):
        ratio = difference / limit
        self.worst = max(self.worst, float(ratio.max()))
        self.exceeding = max(self.exceeding, int((ratio > 1).sum()))
        if high := np.quantile(difference, 0.999):
            self.loose += (float(np.median(limit) / high),)

    def __str__(self):
        more = f", {self.exceeding:,} beyond" if self.exceeding else ""
        return (
            f"{self.worst:.2g}{more} / {min(self.loose, default=np.nan):.3g} to {max(self.loose, default=np.nan):.3g}"
        )


def row(operands, k, results, accumulator, held, seed):
    """Return, for each bound that there is, how it held."""
    s, q, sums = made(operands, k, results, accumulator, held, seed)
    operation = Operation("product", k, held, accumulator, accumulator)
    known = {
        "certain": bounds.certain(operation),
        "probabilistic": bounds.probabilistic(operation, results, FAILING),
        "sharp": bounds.sharp(operation, results, FAILING),
    }
    found = {name: Held() for name, bound in known.items() if bound is not None} | {"seen": Held()}
    for x, y in itertools.combinations(sums, 2):
        difference = np.abs(x - y)
        rounded = known["sharp"].value * np.abs(x) + known["sharp"].absolute
        deviation = magnitudes.deviation(difference, q, rounded)
        each = {**known, "seen": bounds.sharp(operation, results, FAILING, deviation=deviation)}
        for name in found:
            found[name].add(difference, allowed(each[name], s, q, x))
    return found


def rows(longest):
    """Yield what the table has rows for."""
    for accumulator, held in (("float32", "bfloat16"), ("float32", "float32"), ("float16", "float16")):
        for operands in orders.OPERANDS:
            if accumulator == "float16" and operands == "subnormal":
                continue
            for k in (64, 256, 1024, 4096, 16_384):
                if k > longest or (accumulator == "float16" and k > 4096):
                    continue
                if held != "float32" or k in (256, 4096):
                    yield accumulator, held, operands, k


@click.command(help=__doc__)
@click.option("--results", default=10_000, show_default=True)
@click.option("--longest", default=16_384, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(results: int, longest: int, seed: int) -> None:
    print("| accumulator | operands | K | " + " | ".join(f"{n}: worst / loose" for n in NAMES) + " |")
    print("| --- | --- | --- |" + " --- |" * len(NAMES))
    for accumulator, held, operands, k in rows(longest):
        found = row(operands, k, results, accumulator, held, seed + k)
        cells = " | ".join(str(found.get(name, "none")) for name in NAMES)
        print(f"| {accumulator}, {held} | {operands} | {k:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()

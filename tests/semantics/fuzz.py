"""A differential fuzzer: random kernels on the processor, compared with the interpreter and with numpy.

    python tests/semantics/fuzz.py --kernels 10000 --seed 7      a failure is made small and printed with its PTX

Kernels are structured programs (branches, loops, barriers, shuffles, atomics, calls), programs whose lanes part, end early and wait for
each other by name, arbitrary control-flow graphs, and chains of all instructions of the table; block shapes and the number of lanes
compiled together vary.
"""

from __future__ import annotations

import random
import secrets
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import click
import numpy as np
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from anywarp.devices.cpu.execute import Program
from semantics import apart
from semantics.chains import Chain, chains
from semantics.devices import interpret
from semantics.graphs import graphs
from semantics.programs import programs
from semantics.test_programs import check as check_program
from semantics.test_programs import numbers

BATCH = 50
SHAPES = [
    (1, 1, 1),
    (31, 1, 1),
    (32, 1, 1),
    (33, 1, 1),
    (64, 1, 1),
    (96, 1, 1),
    (8, 8, 1),
    (5, 3, 2),
    (128, 1, 1),
    (16, 16, 1),
]
GANGS = (32, 64, 128, 256)


def compiled(rng: random.Random, shape):
    """A way to run on the processor: any block or this one, with some number of lanes together."""
    threads = int(np.prod(shape))
    gang = rng.choice([g for g in GANGS if threads % g == 0] or [32])
    any_shape = rng.random() < 0.15
    tier = rng.choice(["", " tier=quick"])

    def run(ptx, name, grid, block, args):
        options = f"gang={32 if any_shape else gang}{tier}"
        Program(ptx).run(name, grid, block, args, any_shape=any_shape, options=options)

    return run


def interpreted(ptx, name, grid, block, args):
    interpret(ptx, name, grid, block, args)


def structured(program, rng) -> None:
    """A program against numpy, on both devices."""
    shape = rng.choice(SHAPES)
    number = rng.randrange(1000)
    check_program(compiled(rng, shape), program, shape, number, blocks=1)
    if np.prod(shape) <= 64:
        check_program(interpreted, program, shape, number, blocks=1)


def graph(flow, rng) -> None:
    """A control-flow graph against numpy."""
    threads = rng.choice([1, 31, 33, 48, 64, 96, 128])
    values = numbers(rng.randrange(1000), 1, threads)[0].copy()
    out = np.zeros_like(values)
    compiled(rng, (threads, 1, 1))(flow.ptx(), "graph", 1, threads, [values, out])
    np.testing.assert_array_equal(out, flow.compute(values), err_msg=f"{threads} threads\n{flow}")


def chain(made: Chain, rng) -> None:
    """A chain on the processor against the interpreter."""
    threads = rng.choice([32, 33, 64])
    values = made.inputs(threads, rng)
    left = []
    for run in (compiled(rng, (threads, 1, 1)), interpreted):
        out = np.zeros((threads, made.slots()), np.uint64)
        run(made.ptx(), "chain", 1, threads, [values, out])
        left.append(made.canonical(out))
    np.testing.assert_array_equal(left[0], left[1], err_msg=made.ptx())


def parted(program: apart.Program, rng) -> None:
    """Lanes that wait for each other by name, against what each computes by itself, on both devices.

    Nearly all that a kernel costs is LLVM: the quick tier for one warp takes a tenth of what the full one for several together does,
    so most kernels get that, and four plans each.
    """
    threads = rng.choice([1, 31, *[32] * 6, 33, 50, *[64] * 5, 96, 128, 256])
    gang = rng.choice([g for g in GANGS if threads % g == 0] or [32]) if rng.random() < 0.1 else 32
    options = f"gang={gang}" + (" tier=quick" if rng.random() < 0.98 else "")
    inputs = [numbers(rng.randrange(1000), 1, threads)[0][:, 0].copy() for _ in range(4)]
    orders, widths, plans = [rng.randrange(1000) for _ in inputs], {}, []
    try:
        while not plans or any(plan.widths != widths for plan in plans):
            plans = [program.plan(threads, *given, widths) for given in zip(inputs, orders, strict=True)]
    except apart.TooLong:
        assume(False)
    ptx = program.ptx(plans[0])
    compiled = partial(Program(ptx).run, any_shape=gang == 32 and rng.random() < 0.02, options=options)
    for run in [compiled, partial(interpret, ptx)] if threads <= 64 and rng.random() < 0.1 else [compiled]:
        for values, plan in zip(inputs, plans, strict=True):
            out = np.full((threads, 2), apart.UNTOUCHED, np.uint32)
            run("apart", 1, threads, [values, plan.tables, out])
            np.testing.assert_array_equal(out, plan.out, err_msg=f"{threads} threads, {options}\n{ptx}")


SOURCES = {
    "apart": (apart.programs(), parted),
    "program": (programs, structured),
    "graph": (graphs(), graph),
    "chain": (chains, chain),
}
SHARE = ("program", "chain", "apart", "graph", "chain", "apart")


def batch(kind: str, seed: int, count: int, shrink: bool = True) -> None:
    """Run `count` random kernels of a kind; the smallest failing one is raised, or the first."""
    strategy, verify = SOURCES[kind]

    @seeded(seed)
    @settings(
        max_examples=count, deadline=None, database=None, print_blob=False, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
    )  # fmt: skip
    @given(strategy, st.integers(0, 1 << 30))
    def agree(made, number) -> None:
        verify(made, random.Random(number))

    agree()


def fuzz(kernels: int, minutes: float, seed: int, say=print) -> Counter:
    """Run batches until so many kernels or minutes have passed; return how many kernels of each kind were right."""
    done: Counter = Counter()
    end = time.monotonic() + minutes * 60 if minutes else float("inf")
    number = 0
    while sum(done.values()) < kernels and time.monotonic() < end:
        kind = SHARE[number % len(SHARE)]
        size = min(BATCH if not minutes or minutes > 5 else 10, kernels - sum(done.values()))
        try:
            batch(kind, seed + number, size)
        except BaseException:
            say(f"seed {seed}, batch {number} of {kind}s: failed after {sum(done.values())} kernels")
            raise
        done[kind] += size
        number += 1
        say(f"seed {seed}: {sum(done.values())} kernels agree ({dict(done)})")
    return done


@click.command()
@click.option("--kernels", default=10_000, help="Stop after so many.")
@click.option("--minutes", default=0.0, help="Stop after this time (0: no limit).")
@click.option("--seed", default=None, type=int, help="Where to begin; printed, so that a run can be repeated.")
def main(kernels: int, minutes: float, seed: int | None) -> None:
    """Compare random kernels between the devices."""
    fuzz(kernels, minutes, secrets.randbelow(1 << 30) if seed is None else seed)


if __name__ == "__main__":
    main()

"""Ranks' own shares of sums over ranks, each held against the same product in float64 (`replay/torch/shares.py` takes them)."""

from __future__ import annotations

from dataclasses import replace

from anywarp.check.bundle.recording import Recording
from anywarp.check.numbers.comparing import compare
from anywarp.check.numbers.results import Layer
from anywarp.check.record.kept import array
from anywarp.numerics.operation import Operation

SLOT = "share"


def wrong(run: Recording, rank: str, operations: dict[str, Operation]) -> dict[tuple[str, int], list[Layer]]:
    """Return the shares of one rank that are wrong, by module and call; `operations`: what the modules are, by name."""
    runs = ("isolated", "precise", "magnitude")
    shares = {(e.name, e.call, e.visit, e.run): e for e in run.entries if e.slot == SLOT and e.run in runs and e.blob}
    found: dict[tuple[str, int], list[Layer]] = {}
    for name, call, visit, kind in shares:
        entries = [shares.get((name, call, visit, each)) for each in runs]
        if kind != "isolated" or name not in operations or len({e.shape for e in entries if e is not None}) != 1:
            continue
        made, precise, size = (None if each is None else array(run, each) for each in entries)
        if made is None or precise is None or size is None:
            continue
        operation = replace(operations[name], output=shares[name, call, visit, kind].dtype)
        compared = compare(precise, made, operation, magnitude=size, causes=False)
        if compared.grade == "fail":
            layer = Layer(f"{rank}: {name}" if rank else name, call, SLOT, operation, isolated=compared)
            found.setdefault((name, call), []).append(layer)
    return found

"""Verdicts on C++ libraries beside CUDA's own interfaces: CUB, Thrust, CUTLASS, libcu++, TensorRT and others.

They have no table of names: what matters is whether AMD or the processor has the library at all.
"""

from __future__ import annotations

from anywarp.catalogue.migration import by
from anywarp.migrate.findings import Answer, Effort, Use, Verdict
from anywarp.migrate.target import Target


def judge_library(use: Use, target: Target) -> Verdict:
    """Say what becomes of a C++ library on the target, by the rows of kind `library` in `python_names.tsv`."""
    row = by("cxx_libraries", "key").get(f"{use.name}@{target.device}")
    if row is None:
        return Verdict("no-path", f"nothing is known that takes the place of {use.name}", effort="weeks")
    answer: Answer = row["answer"]  # pyright: ignore[reportAssignmentType] - a test checks the table's words
    effort: Effort = row["effort"]  # pyright: ignore[reportAssignmentType]
    return Verdict(answer, row["reason"], row["target"], effort, row["help"])

"""The table of operators that the tinygrad script checks, one module per family."""

from ops import elementwise, indexing, linear, movement, network, reduction
from ops.case import Case

CASES: tuple[Case, ...] = (
    *elementwise.CASES,
    *reduction.CASES,
    *movement.CASES,
    *indexing.CASES,
    *linear.CASES,
    *network.CASES,
)

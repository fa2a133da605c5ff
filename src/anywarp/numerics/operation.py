"""What made a value, as far as a bound on its rounding needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "product", "attention", "norm", "softmax", "pointwise", "embedding", "copy", "quantised", "composite", "unknown"
]


@dataclass(frozen=True)
class Operation:
    """What made a value.

    `kind`: "product" (linear, convolution, matrix product), "attention" (softmax(q k^T) v in one), "norm" (layer, RMS, group norm), "softmax",
    "pointwise", "embedding" and "copy" (no arithmetic: exact), "quantised" (an integer product with requantisation: exact to one step),
    "composite" (several of these: judged by a precise run or measured noise), "unknown".
    `reduction`: K, the longest sum (attention: the number of keys; norm: the elements normalised together; pointwise: 1).
    `operands`, `accumulator`, `output`: the dtypes of the operands as they are multiplied, of the sums, and of the result, by PyTorch's short names
    (`float32`, `bfloat16`, `float8_e4m3fn`, `int8` ...) and `tf32`. "-truncated" behind the accumulator says that its additions cut instead of rounding.
    `quantises`: the operands are rounded to their dtype within the operation, by scales that each side chooses, so that both may round otherwise (`tf32` always is).
    `staged`: the sum may be rounded to the result's dtype before the bias is added and the result is rounded: a convolution with a bias is two operators in
    some of PyTorch's back ends, one in others.
    `function`: of a pointwise operation, its name ("gelu", "add").
    `heads`: into how many heads the last axis falls, 0 where it does not; only the search for causes uses it.
    `composed`: of a composite, how many operations deep it is at its longest, 1 otherwise.
    """

    kind: Kind = "unknown"
    reduction: int = 1
    operands: str = "float32"
    accumulator: str = "float32"
    output: str = "float32"
    function: str = ""
    heads: int = 0
    composed: int = 1
    quantises: bool = False
    staged: bool = False

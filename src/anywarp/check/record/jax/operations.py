"""What a compiled function of JAX computes, as far as bounds on rounding need to know: read off its jaxpr."""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from anywarp.numerics.operation import Operation

_MOVES = frozenset(
    ("broadcast_in_dim", "reshape", "transpose", "squeeze", "expand_dims", "rev", "copy", "copy_p", "slice", "concatenate")
)  # fmt: skip
"""Primitives that put values into other places and compute nothing: a product among them is the product of absolute values where its operands are."""
_RANDOM = ("random_bits", "threefry2x32", "rng_bit_generator", "random_unwrap")
_SUMS = ("reduce_sum", "cumsum", "cumlogsumexp", "reduce_window_sum", "argmax", "logsumexp")
_DEEPEST = 32


@dataclass(frozen=True)
class Found:
    """What a jaxpr holds: `products` of matrices and convolutions, `others` that compute and are none, the longest sum, whether it draws random numbers."""

    products: int = 0
    others: int = 0
    reduction: int = 1
    operands: str = "float32"
    random: bool = False
    narrowed: bool = False
    """Whether float64 is converted to a narrower type in it."""


def of(jaxpr: Any) -> Found:
    """Return what a closed jaxpr holds, those that it calls included; a loop's body counts once."""
    products = others = 0
    longest, operands, random, narrowed = 1, "", False, False
    for equation in _equations(jaxpr.jaxpr, 0):
        name = equation.primitive.name
        random = random or name in _RANDOM
        if name in ("dot_general", "conv_general_dilated"):
            products += 1
            operands = operands or _operands(equation)
        elif name not in _MOVES:
            others += 1
        narrowed = narrowed or (name == "convert_element_type" and _narrows(equation))
        longest = max(longest, _terms(equation, name))
    return Found(products, others, longest, operands or "float32", random, narrowed)


def operation(found: Found, output: str) -> dict[str, Any]:
    """Return the operation of a function's result, ready for JSON: a product where it is one and nothing else."""
    wide = "float64" if output in ("float64", "complex128") else "float32"
    if not found.others and not found.products and output != "bool":
        return asdict(Operation("copy", 1, output, wide, output))
    if found.products == 1 and not found.others:
        return asdict(Operation("product", found.reduction, found.operands, wide, output))
    operands = found.operands if found.products else output
    return asdict(Operation("composite", found.reduction, operands, wide, output, composed=max(found.products + found.others, 1)))  # fmt: skip


def _equations(jaxpr: Any, depth: int) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        inner = list(_inside(equation.params)) if depth < _DEEPEST else []
        if not inner:
            yield equation
        for each in inner:
            yield from _equations(each, depth + 1)


def _inside(parameters: dict[str, Any]) -> Iterator[Any]:
    for value in parameters.values():
        for each in value if isinstance(value, tuple | list) else (value,):
            if hasattr(each, "eqns"):
                yield each
            elif hasattr(each, "jaxpr") and hasattr(each.jaxpr, "eqns"):
                yield each.jaxpr


def _terms(equation: Any, name: str) -> int:
    """Return how many terms each sum of an equation has."""
    shape = getattr(equation.invars[0].aval, "shape", ()) if equation.invars else ()
    if name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        return math.prod(shape[axis] for axis in contracted) or 1
    if name == "conv_general_dilated":
        kernel = equation.invars[1].aval.shape
        return math.prod(kernel) // max(kernel[equation.params["dimension_numbers"].rhs_spec[0]], 1) or 1
    if name in _SUMS:
        axes = equation.params.get("axes") or (equation.params.get("axis", 0),)
        return math.prod(shape[axis] for axis in axes if type(axis) is int and axis < len(shape)) or 1
    return 1


def _operands(equation: Any) -> str:
    """Return the dtype that operands are multiplied in: without a word about precision, NVIDIA's tensor cores take float32 as TF32."""
    import jax

    name = equation.invars[0].aval.dtype.name
    asked = equation.params.get("precision")
    plain = asked is None or all(
        str(each).rpartition(".")[2] == "DEFAULT" for each in (asked if isinstance(asked, tuple) else (asked,))
    )
    return "tf32" if name == "float32" and plain and jax.default_backend() in ("gpu", "cuda") else name


def _narrows(equation: Any) -> bool:
    before, after = equation.invars[0].aval.dtype, equation.outvars[0].aval.dtype
    return before.name == "float64" and after.name in ("float32", "float16", "bfloat16")

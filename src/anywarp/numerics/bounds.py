"""How far two right answers may lie apart, from their formats, the length of the sums and the size of the terms.

Two devices compute C = A B, each with rounding errors of its own. K is the length of the sums, u the unit roundoff of the sums, S = |A||B| and
Q = sqrt((A*A)(B*B)) for each result. A bound is linear in what is known of a result: `Bound`.

- certain: each side errs by at most gamma_K(u) S, gamma_n = n u / (1 - n u), in any order of summation (Higham, Accuracy and Stability of Numerical
  Algorithms, 2nd ed. 2002, section 3.1). It ends where n u >= 1: sums of 2,048 terms in float16.
- probabilistic: rounding errors that are independent of mean zero give lam sqrt(K) u S in place of K u S (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019;
  Ipsen and Zhou, SIAM J. Matrix Anal. Appl. 41(4), 2020: arXiv 1906.10465). With lam = sqrt(2 ln(4 N / p)) it holds for all N results of both sides at once with
  probability 1 - p (Azuma's inequality and the union bound: the constant is our adaptation).
- sharp: for terms of mean zero the partial sums are as large as sqrt(k/K) Q. The error given the data has variance at most x u^2 Q^2 K / 3 with
  x = the integral of a squared Brownian path over [0, 1], whose upper tail is exp(-pi^2 x / 8) (Cameron and Martin 1945); the worst x makes the error's tail exp(-2.72 t)
  in units of sqrt(K) u Q (ours; benchmarks/numeric_bounds.py holds it against simulation). It detects; it does not bound data that are merely arranged to cancel.
- sharp, given a deviation: that walk is what one sum after another makes, with x = 1/2 on the average, so with a deviation of sqrt(1/6). Other orders have smaller errors, and no longer
  tails in units of their own deviation. So a thousand differences that show a deviation d stay within ln(4 N / p) / 2.72 * sqrt(6) * d (ours; held against the same simulation).
- truncating sums err to one side, in each step by u on the average: K u S, not sqrt(K) u S.
- rounding of operands within the operation (TF32, or quantisation with scales of one's own): 2 u_in S for certain (two operands, and the second order), and as a
  random sum sqrt(2) lam u_in Q (Hoeffding's inequality over the K independent roundings; ours).
- rounding of the result: each side rounds by itself, so the two may be 2 u_out |C| apart (one unit in the last place), and the smallest number at underflow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from anywarp.numerics.formats import FORMATS, format_of
from anywarp.numerics.operation import Operation

FAILING = 1e-6
"""The probability of a false alarm for one tensor: a run has thousands of them."""
TRUNCATED = "-truncated"
"""Behind the name of an accumulator whose additions cut instead of rounding."""

MATH_ERROR = 8
"""The error of a mathematical function in units of u: CUDA's and ROCm's tables state at most 4 units in the last place (of 2 u each) for those of
neural networks (CUDA C++ Programming Guide, "Mathematical Functions"; HIP documentation, "HIP math API")."""
APPROXIMATE = 2.0**-10
"""The relative error of approximate instructions, twice that of the worst in use (`tanh.approx.f32`: 2^-11, PTX manual): a ceiling."""
TAIL = math.pi * math.sqrt(3) / 2
"""The rate at which the error of a sum of centred terms falls off: the least over x of pi^2 x / 8 + 3 t^2 / (2 x) is TAIL * t."""


@dataclass(frozen=True)
class Bound:
    """What is allowed for |difference|: magnitude * S + norm * Q + value * |C| + absolute."""

    name: str
    magnitude: float = 0.0
    norm: float = 0.0
    value: float = 0.0
    absolute: float = 0.0


def gamma(terms: float, rounding: float) -> float | None:
    """Return Higham's gamma_n = n u / (1 - n u), None where n u >= 1."""
    product = terms * rounding
    return product / (1 - product) if product < 1 else None


def spread(results: int, failing: float = FAILING) -> float:
    """Return lam: how many deviations the error of `results` results on two sides stays within, all at once, but with probability `failing`."""
    return math.sqrt(2 * math.log(4 * max(1, results) / failing))


def certain(operation: Operation) -> Bound | None:
    """Return the bound that no right answer exceeds, whatever the order of its sums; None where none exists."""
    if operation.kind in ("embedding", "copy"):
        return Bound("exact")
    if operation.kind == "quantised":
        return _requantised(operation)
    if operation.kind in ("composite", "unknown"):
        return None
    u, growth = accumulation(operation)
    if operation.kind == "pointwise":
        return _rounded(Bound("certain", max(2 * APPROXIMATE, 2 * MATH_ERROR * u)), operation)
    each = gamma(operation.reduction + _EXTRA.get(operation.kind, 1), growth * u)
    if each is None:
        return None
    rounding = input_rounding(operation)
    return _rounded(Bound("certain", 2 * each + 2 * (2 * rounding + rounding**2) + _between(operation)), operation)


def probabilistic(operation: Operation, results: int, failing: float = FAILING) -> Bound | None:
    """Return the bound that right answers exceed with probability `failing`, if their rounding errors are independent."""
    if operation.kind in ("embedding", "copy", "quantised"):
        return certain(operation)
    if operation.kind in ("composite", "unknown"):
        return None
    u, growth = accumulation(operation)
    if operation.kind == "pointwise":
        return _rounded(Bound("function", 2 * MATH_ERROR * u), operation)
    lam, terms = spread(results, failing), operation.reduction + _EXTRA.get(operation.kind, 1)
    each = lam * math.sqrt(terms) * u + (terms * u if growth > 1 else 0.0)
    exact = gamma(terms, growth * u)
    each = min(each * (1 + each), exact if exact is not None else math.inf)  # the second order: exp(x) - 1
    rounding = input_rounding(operation)
    return _rounded(
        Bound("probabilistic", 2 * each + 2 * (2 * rounding + rounding**2) + _between(operation)), operation
    )


def sharp(
    operation: Operation, results: int, failing: float = FAILING, *, deviation: float | None = None
) -> Bound | None:
    """Return what products of centred operands stay within but with probability `failing`; None for what is no product of rounding sums.

    `deviation`: the root mean square of |difference| / Q that the two sides show (`magnitudes.deviation`), if known: two sides whose errors are small
    are held to that, whatever their orders are.
    """
    u, growth = accumulation(operation)
    if operation.kind != "product" or growth > 1:
        return None
    terms = operation.reduction + 1
    rate = math.log(4 * max(1, results) / failing) / TAIL
    inputs = 2 * spread(results, failing) * input_rounding(operation)  # sqrt(2) for two operands, sqrt(2) for two sides
    # A tree's errors are fewer, but the products' own roundings remain: u Q / sqrt(3) each at most, by Hoeffding.
    products = math.sqrt(2) * spread(results, failing) * u
    walk = math.sqrt(2) * rate * math.sqrt(terms) * u + inputs
    if deviation is not None:
        walk = min(walk, rate * math.sqrt(6) * deviation)
    between = _between(operation)  # of |C| + |bias|, and |bias| <= Q
    return _rounded(Bound("sharp", norm=walk + products + between, value=between), operation)


def assumed(operation: Operation, results: int, failing: float = FAILING, *, rounding: float | None = None) -> Bound:
    """Return a bound for results of whose terms nothing is known: S is taken to be the largest result, so it is no more than an assumption.

    `rounding` replaces the unit roundoff of sums and result, where a caller knows the narrowest of many.
    """
    u = rounding if rounding is not None else max(accumulation(operation)[0], roundoff(operation.output))
    return Bound(
        "assumed", 2 * spread(results, failing) * math.sqrt(max(1, operation.reduction * operation.composed)) * u
    )


def propagated(operation: Operation, depth: int, results: int, failing: float = FAILING) -> Bound:
    """Return the prior for a value `depth` operations behind equal inputs: errors that add up as a random walk, relative to the values' size (S).

    Residual networks behave so; it is a prior, to be replaced by measured noise, and the sums' own errors (deviation 0.58 sqrt(K) u Q at the most) are part of it.
    """
    u, growth = accumulation(operation)
    terms = max(1, operation.reduction)
    each = (
        roundoff(operation.output)
        + 0.58 * math.sqrt(terms) * u
        + (terms * u if growth > 1 else 0.0)
        + input_rounding(operation)
    )
    return Bound("depth", 2 * spread(results, failing) * math.sqrt(max(1, depth)) * each, value=0.0)


def roundoff(dtype: str) -> float:
    """Return the unit roundoff of a dtype, 0 for integers; an unknown name counts as float32."""
    form = format_of(dtype)
    if form is not None:
        return form.rounding
    return 0.0 if dtype.startswith(("int", "uint", "bool")) else FORMATS["float32"].rounding


def accumulation(operation: Operation) -> tuple[float, float]:
    """Return the unit roundoff of the sums, and by how many of it one step errs: 1, or 2 where it truncates."""
    name, cut, _ = operation.accumulator.partition(TRUNCATED)
    return roundoff(name), 2.0 if cut else 1.0


def input_rounding(operation: Operation) -> float:
    """Return by how much each operand is rounded within the operation, relatively; units that cut TF32 operands err twice as much as those that round."""
    if operation.operands == "tf32":
        return 2 * FORMATS["tf32"].rounding
    return roundoff(operation.operands) if operation.quantises else 0.0


def _between(operation: Operation) -> float:
    """Return what two sides may differ by, relatively, where each may have rounded a sum to the result's dtype before the bias was added to it."""
    return 2 * roundoff(operation.output) if operation.staged and operation.kind == "product" else 0.0


_EXTRA = {"product": 1, "attention": 1, "norm": 8, "softmax": MATH_ERROR}
"""Roundings besides those of the sum: the bias; the functions of norm and softmax."""


def _requantised(operation: Operation) -> Bound:
    if operation.output.startswith(("int", "uint")):
        return Bound("one step", absolute=1.0)  # the integer sums are exact; a tie of the rescaling may go either way
    return _rounded(Bound("requantised", value=8 * FORMATS["float32"].rounding), operation)


def _rounded(bound: Bound, operation: Operation) -> Bound:
    form = format_of(operation.output)
    if form is None:
        return bound
    u = form.rounding
    return Bound(
        bound.name,
        bound.magnitude * (1 + u),
        bound.norm * (1 + u),
        bound.value + 2 * u / (1 - u),
        bound.absolute + form.subnormal,
    )

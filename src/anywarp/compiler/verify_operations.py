"""Checks of single operations and terminators against their declarations: operands, result, attributes, guard."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from itertools import repeat
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from anywarp.compiler.attributes import Attributes, Element
from anywarp.compiler.ir import Op, Terminator
from anywarp.compiler.operation_table import ENDINGS, OPERATIONS


def problem_of(op: Op) -> str | None:
    """Return what is wrong with an operation by itself, None when nothing is."""
    declared = OPERATIONS.get(op.name)
    if declared is None:
        return "is no operation of the IR"
    wrong = wrong_attributes(op.attrs, declared.attributes)
    if wrong is not None:
        return wrong
    types = [a.type for a in op.args]
    if not declared.signature.fits(types, op.type):
        return f"makes {op.type} of {types}, not {declared.signature.text}"
    if declared.relation is not None and not declared.relation(types, op.type, op.attrs):
        return f"makes {op.type} of {types}, which does not go with {op.attrs}"
    if op.guard is not None and not declared.guarded:
        return "has a guard, which it does not obey"
    if op.guard is not None and op.guard.type != "i1":
        return "has a guard that is no predicate"
    return _wrong_element(op) if isinstance(op.attrs, Element) else None


def _wrong_element(op: Op) -> str | None:
    """An element is one of the results behind the first."""
    source, index = op.args[0], Element.of(op).index
    declared = OPERATIONS.get(source.name) if isinstance(source, Op) else None
    if not isinstance(source, Op) or declared is None or declared.more is None:
        return "takes an element of what has only one"
    if not isinstance(source.attrs, declared.attributes):
        return None  # which is said of the source
    count = declared.more(source.attrs)
    return None if 0 < index < count else f"takes element {index} of {count}"


def problem_of_end(end: Terminator) -> str | None:
    """Return what is wrong with a terminator by itself, None when nothing is."""
    declared = ENDINGS.get(end.name)
    if declared is None:
        return "is no terminator of the IR"
    least, most = declared.targets
    if len(end.targets) < least or (most is not None and len(end.targets) > most):
        return f"has {len(end.targets)} targets"
    wrong = wrong_attributes(end.attrs, declared.attributes)
    if wrong is not None:
        return wrong
    types = [a.type if a is not None else "" for a in end.args]
    if declared.relation is None and "" in types:
        return "lacks an operand"
    if not declared.signature.fits([t for t in types if t], ""):
        return f"takes {types}, not {declared.signature.text or 'nothing'}"
    if declared.relation is not None and not declared.relation(types, "", end.attrs):
        return f"takes {types}, which does not go with {end.attrs}"
    return None


def wrong_attributes(attrs: Attributes, wanted: type[Attributes]) -> str | None:
    """Return what is wrong with attributes that should be of a class: each value must be one that its field's type allows."""
    if not isinstance(attrs, wanted) or (wanted is Attributes and type(attrs) is not Attributes):
        return f"has {type(attrs).__name__} for attributes, not {wanted.__name__}"
    for name, hint in _rules(type(attrs)):
        value = getattr(attrs, name)
        if not _allowed(hint, value):
            return f"has {name}={value!r}"
    return None


@cache
def _rules(kind: type[Attributes]) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((f.name, hints[f.name]) for f in fields(kind))


def _allowed(hint: Any, value: object) -> bool:
    origin = get_origin(hint)
    if origin is Literal:
        return type(value) is str and value in get_args(hint)
    if origin is Union or origin is UnionType:
        return any(_allowed(one, value) for one in get_args(hint))
    if origin is tuple:
        kinds = get_args(hint)
        kinds = repeat(kinds[0]) if kinds[1:] == (...,) else kinds
        return isinstance(value, tuple) and all(map(_allowed, kinds, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if hint is NoneType:
        return value is None
    return isinstance(value, hint) and (hint is not int or not isinstance(value, bool))

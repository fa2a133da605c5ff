"""Whether an import is one that the program can do without: a probe, or a statement in a `try` that catches ImportError.

A program that would rather use a package than need it has its own way without; an absent package stays absent for it.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import FrameType

_MACHINERY = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_CATCHING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def is_optional(frame: FrameType | None) -> bool:
    """Tell whether the import that a finder is asked for, seen from the finder's frame, is one that may fail.

    Looked at are the statement itself and the imports that led to it, each in the text of its module; a text that cannot be had
    counts as one without a `try`.
    """
    importing = False
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if frame.f_code.co_filename in _MACHINERY:
            importing = True
        elif module == "importlib.util":
            return True  # find_spec: the module is not executed
        elif module not in ("importlib", "sitecustomize") and not module.startswith("anywarp."):
            if not importing:
                return False  # whoever called the function that imports is no part of the import
            if _caught(frame.f_code.co_filename, frame.f_lineno):
                return True
            if frame.f_code.co_name != "<module>":
                return False
            importing = False
        frame = frame.f_back
    return False


def _caught(file: str, line: int) -> bool:
    """Tell whether a statement stands where ImportError is caught and not raised again."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(_guards(node) for node in _around(tree, line))


def _around(tree: ast.AST, line: int) -> Iterator[ast.AST]:
    """Yield the statements whose body, not whose handlers, holds a line; those outside the innermost function are not asked."""
    inner: list[ast.AST] = []
    node: ast.AST | None = tree
    while node is not None:
        below = None
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt) and child.lineno <= line <= (child.end_lineno or child.lineno):
                below = child
            elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                first = child.body[0].lineno if isinstance(child, ast.match_case) else child.lineno
                if first <= line <= (child.body[-1].end_lineno or first):
                    below = child
        if isinstance(below, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = inner if isinstance(below, ast.ClassDef) else []
        elif below is not None and _in_body(below, line):
            inner.append(below)
        node = below
    yield from inner


def _in_body(node: ast.AST, line: int) -> bool:
    body = getattr(node, "body", None)
    return isinstance(body, list) and bool(body) and body[0].lineno <= line <= (body[-1].end_lineno or line)  # pyright: ignore


def _guards(node: ast.AST) -> bool:
    if isinstance(node, ast.Try):
        return any(_catches(each.type) and not isinstance(each.body[-1], ast.Raise) for each in node.handlers)
    if isinstance(node, ast.With):
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        return any(_last(call.func) == "suppress" and any(map(_catches, call.args)) for call in calls)
    return False


def _catches(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(each is None or _last(each) in _CATCHING for each in kinds)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""

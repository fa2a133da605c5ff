"""Reads the syntax tree of a Python text and counts what it uses of CUDA.

Names are followed through imports and `as`: `import cupy as cp` makes `cp.RawKernel` what it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anywarp.catalogue.replacements import variable
from anywarp.migrate.scan.python_uses import Uses

_FOLLOWED = frozenset(
    {
        "torch",
        "triton",
        "cupy",
        "cupyx",
        "numba",
        "pycuda",
        "pynvml",
        "nvidia_smi",
        "py3nvml",
        "cv2",
        "tensorflow",
        "jax",
        "cuda",
        "nvidia",
        "ctypes",
        "subprocess",
    }
)
_SHOWN = frozenset(
    "print info warning warn error debug exception critical log fail skip skipIf skipUnless add_argument getLogger RuntimeError ValueError"
    " NotImplementedError ImportError Exception AssertionError TypeError OSError EnvironmentError".split()
)
_ASKS = re.compile(
    r"find_spec|import_module|__import__|importorskip|is_package|package_available|is_installed|has_module|try_import",
    re.IGNORECASE,
)
_ENVIRONMENT = frozenset("getenv putenv unsetenv setenv delenv get setdefault pop environ".split())
_SMI_QUERIES = ("--query-gpu", "--query-compute-apps", "--query-supported-clocks", "--query-accounted-apps")
_DEVICE_METHODS = frozenset({"cuda"})
_LOOSE_STATEMENTS = (ast.Try, ast.If)


class Reader:
    """Walks one tree. Only what it meets on the way is kept: aliases of modules and the offsets of lines."""

    def __init__(self, data: bytes, uses: Uses) -> None:
        self._uses = uses
        self._data = data
        self._starts = [0]
        at = data.find(b"\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = data.find(b"\n", at + 1)
        self._names: dict[str, str] = {}

    def read(self, tree: ast.Module) -> None:
        """Count the uses in a tree."""
        for node, guarded in _imports(tree):
            self._import(node, guarded)
        stack: list[ast.AST] = [tree]
        while stack:
            node = stack.pop()
            visit = _VISITS.get(node.__class__)
            if visit is not None and visit(self, node, stack):
                continue
            _push(node, stack)

    def _offset(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        return self._starts[min(node.lineno, len(self._starts)) - 1] + node.col_offset

    def _import(self, node: ast.Import | ast.ImportFrom, guarded: bool) -> None:
        offset = self._offset(node)
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._uses.module(alias.name, offset, guarded)
                self._bind(
                    alias.asname or alias.name.partition(".")[0],
                    alias.name if alias.asname else alias.name.partition(".")[0],
                )
            return
        if node.level or not node.module:
            return
        module = node.module
        seen = False
        for alias in node.names:
            full = f"{module}.{alias.name}"
            self._bind(alias.asname or alias.name, full)
            if full.partition(".")[0] in ("torch", "triton", "cupy", "numba", "cv2") or module in (
                "cuda",
                "nvidia",
                "jax.experimental",
            ):
                seen = self._member(module, alias.name, self._offset(alias), guarded) or seen
        if not seen:
            self._uses.module(module, offset, guarded)
        else:
            self._uses.imported.add(module.partition(".")[0])

    def _member(self, module: str, name: str, offset: int, guarded: bool) -> bool:
        """Count what `from module import name` brings, where it is a module or a name of interest itself."""
        full = f"{module}.{name}"
        if full == "torch.cuda" or module.startswith(
            ("torch.cuda", "torch.backends", "torch._C", "torch.utils.cpp_extension")
        ):
            self._uses.dotted(full, offset)
            return True
        if (
            full in ("numba.cuda", "cv2.cuda", "torch.version.cuda")
            or module in ("cuda", "nvidia")
            or full == "jax.experimental.mosaic"
        ):
            self._uses.module(full, offset, guarded)
            return True
        if module.startswith("triton."):
            before = len(self._uses.tally)
            self._uses.module(full, offset, guarded)
            if len(self._uses.tally) == before:
                self._uses.module(module, offset, guarded)
            return True
        return False

    def _bind(self, name: str, full: str) -> None:
        if full.partition(".")[0] in _FOLLOWED:
            self._names[name] = full

    def _full(self, node: ast.expr) -> str:
        """Return the full dotted name of `a.b.c` whose first part an import bound, else ""."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._names:
            return ""
        return ".".join([self._names[node.id], *reversed(parts)])

    def _attribute(self, node: ast.AST, stack: list[ast.AST]) -> bool:
        assert isinstance(node, ast.Attribute)
        if full := self._full(node):
            self._uses.dotted(full, self._offset(node))
            return True
        if node.attr == "is_cuda":
            self._uses.method("is_cuda", self._offset(node))
        return False

    def _name(self, node: ast.AST, stack: list[ast.AST]) -> bool:
        assert isinstance(node, ast.Name)
        full = self._names.get(node.id)
        if full is not None and "." in full:
            self._uses.dotted(full, self._offset(node))
        return True

    def _call(self, node: ast.AST, stack: list[ast.AST]) -> bool:
        assert isinstance(node, ast.Call)
        function = node.func
        for keyword in node.keywords:
            if keyword.arg in ("num_ctas", "num_warps", "warp_specialize") and isinstance(keyword.value, ast.Constant):
                self._uses.keyword(keyword.arg, keyword.value.value, self._offset(keyword.value))
            elif keyword.arg is not None and keyword.arg.isupper() and variable(keyword.arg) is not None:
                self._uses.variable(keyword.arg, self._offset(keyword.value))
        if isinstance(function, ast.Attribute) and function.attr in _DEVICE_METHODS and not self._full(function):
            self._uses.method("cuda()", self._end(function))
        leaf = (
            function.attr
            if isinstance(function, ast.Attribute)
            else function.id
            if isinstance(function, ast.Name)
            else ""
        )
        if leaf in _SHOWN:
            self._shown(node, stack)
            return True
        if leaf in ("getattr", "hasattr", "setattr", "delattr") and len(node.args) > 1:
            self._attribute_by_name(node.args[0], node.args[1])
        elif _ASKS.search(leaf):
            self._asked(node)
        elif leaf in _ENVIRONMENT and node.args and ("env" in leaf or _is_environ(function)):
            self._variable(node.args[0], stack)
            stack.extend((function, *node.args[1:], *(keyword.value for keyword in node.keywords)))
            return True
        return False

    def _subscript(self, node: ast.AST, stack: list[ast.AST]) -> bool:
        assert isinstance(node, ast.Subscript)
        if not _is_environ(node):
            return False
        self._variable(node.slice, stack)
        stack.append(node.value)
        return True

    def _variable(self, node: ast.expr, stack: list[ast.AST]) -> None:
        """Count the name of a variable of the environment, where it is written out."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._uses.variable(node.value, self._offset(node))
        else:
            stack.append(node)

    def _attribute_by_name(self, owner: ast.expr, name: ast.expr) -> None:
        """Count an attribute that is asked for by its name: `getattr(torch._C, "_cuda_x", None)`."""
        full = self._full(owner)
        if full and isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.isidentifier():
            self._uses.dotted(f"{full}.{name.value}", self._offset(name))

    def _asked(self, node: ast.Call) -> None:
        """Count a module that is looked for by its name: it is used where it is there."""
        for argument in node.args[:2]:
            if (
                isinstance(argument, ast.Constant)
                and isinstance(argument.value, str)
                and re.fullmatch(r"[\w.]{3,60}", argument.value)
            ):
                self._uses.module(argument.value, self._offset(argument), True)

    def _end(self, node: ast.Attribute) -> int:
        line, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[min(line, len(self._starts)) - 1] + max(0, column - len(node.attr))

    def _shown(self, node: ast.Call, stack: list[ast.AST]) -> None:
        """Take a call whose strings are for people: only values in them count, such as a device as a default."""
        stack.append(node.func)
        for argument in node.args:
            if isinstance(argument, ast.JoinedStr):
                stack.extend(v.value for v in argument.values if isinstance(v, ast.FormattedValue))
            elif not isinstance(argument, ast.Constant):
                stack.append(argument)
        for keyword in node.keywords:
            if keyword.arg not in ("help", "msg", "description"):
                stack.append(keyword.value)

    def _constant(self, node: ast.AST, stack: list[ast.AST]) -> bool:
        assert isinstance(node, ast.Constant)
        if isinstance(node.value, str) and node.value:
            offset = self._offset(node)
            text = node.value
            raw = text.encode("utf-8", "replace") if len(text) > 24 else b""
            self._uses.string(text, offset, raw=raw)
        return True

    def _joined(self, node: ast.AST, stack: list[ast.AST]) -> bool:
        assert isinstance(node, ast.JoinedStr)
        first = node.values[0] if node.values else None
        if isinstance(first, ast.Constant) and first.value == "cuda:":
            self._uses.string("cuda:", self._offset(node))
        elif text := "".join(v.value for v in node.values if isinstance(v, ast.Constant) and isinstance(v.value, str)):
            self._uses.string(text, self._offset(node), raw=text.encode("utf-8", "replace"))
        stack.extend(v.value for v in node.values if isinstance(v, ast.FormattedValue))
        return True

    def _expression(self, node: ast.AST, stack: list[ast.AST]) -> bool:
        assert isinstance(node, ast.Expr)
        return isinstance(node.value, ast.Constant)  # a docstring, or a string that nobody takes

    def _list(self, node: ast.AST, stack: list[ast.AST]) -> bool:
        assert isinstance(node, (ast.List, ast.Tuple))
        words = [e.value if isinstance(e, ast.Constant) and isinstance(e.value, str) else "..." for e in node.elts[:40]]
        if not words:
            return False
        if words[0] == "..." and any(word.startswith(_SMI_QUERIES) for word in words[1:]):
            words[0] = "nvidia-smi"
        return words[0] != "..." and self._uses.command(words, self._offset(node))

    def _imported(self, node: ast.AST, stack: list[ast.AST]) -> bool:
        return True  # counted before


_VISITS: Mapping[type[ast.AST], Callable[[Reader, Any, list[ast.AST]], bool]] = {
    ast.Attribute: Reader._attribute, ast.Name: Reader._name, ast.Call: Reader._call, ast.Constant: Reader._constant,  # pyright: ignore[reportPrivateUsage]
    ast.JoinedStr: Reader._joined, ast.Expr: Reader._expression, ast.List: Reader._list, ast.Tuple: Reader._list,  # pyright: ignore[reportPrivateUsage]
    ast.Subscript: Reader._subscript,  # pyright: ignore[reportPrivateUsage]
    ast.Import: Reader._imported, ast.ImportFrom: Reader._imported,  # pyright: ignore[reportPrivateUsage]
}  # fmt: skip


def _is_environ(node: ast.expr) -> bool:
    """Tell whether `x.get` or `x[...]` asks the environment: x is `os.environ`, `env`, `my_env`."""
    value = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else node
    name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return "env" in name.lower()


def _push(node: ast.AST, stack: list[ast.AST]) -> None:
    for value in node.__dict__.values():
        if value.__class__ is list:
            stack.extend(each for each in value if isinstance(each, ast.AST))
        elif isinstance(value, ast.AST):
            stack.append(value)


def _imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield the imports of a tree, and whether each stands in a `try` or behind an `if`; only statements are looked into."""
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, guarded = stack.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, guarded
            continue
        inner = guarded or isinstance(node, _LOOSE_STATEMENTS)
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            value = getattr(node, name, None)
            if isinstance(value, list):
                stack.extend((each, inner) for each in value if isinstance(each, ast.AST))  # pyright: ignore[reportUnknownVariableType]

"""setup.py of extensions: options for nvcc, libraries, folders and architectures; what torch does itself stays.

PyTorch's builds for ROCm keep CUDAExtension and translate its sources when it is built, so the class is no matter of ours.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from anywarp.migrate.target import USUAL_ARCHITECTURE
from anywarp.migrate.translate import build_codes as codes
from anywarp.migrate.translate.build_flags import (
    Change,
    is_nvcc,
    library,
    rocm_path,
    split_words,
    translate_words,
)
from anywarp.migrate.translate.edits import Edit, Outcome, Problem, Severity
from anywarp.migrate.translate.unit import Unit

_HINT = re.compile(rb"CUDAExtension|nvcc|CUDA_HOME|CUDA_PATH|TORCH_CUDA_ARCH_LIST|cuda_cflags|/usr/local/cuda|cudart")
_FLAGS = re.compile(r"(?i)nvcc|cuda_?(?:c?flags|args|options)|gencode|extra_cuda")
_LIBRARIES = re.compile(r"^(?:\w+_)?(?:libraries|libs)$")
_FOLDERS = re.compile(
    r"^(?:\w+_)?(?:include_dirs|library_dirs|include_paths|runtime_library_dirs|extra_link_args|extra_ldflags)$"
)
_APART = re.compile(r"(?i)\b(?:is_)?(?:use_)?(?:hip|rocm)\b|version\.hip|IS_HIP_EXTENSION|ROCM_HOME")
_ENVIRONMENT = {"TORCH_CUDA_ARCH_LIST": "PYTORCH_ROCM_ARCH", "CUDA_HOME": "ROCM_PATH", "CUDA_PATH": "ROCM_PATH"}
_OPAQUE = "\0"


@dataclass
class _Script:
    """One script while it is edited: places of nodes in bytes, the edits, and who was visited."""

    data: bytes
    unit: Unit
    lines: list[int]
    architecture: str
    torch: bool
    homes: bool
    flag_names: set[str] = field(default_factory=set[str])
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    done: set[int] = field(default_factory=set[int])

    def span(self, node: ast.expr | ast.alias) -> tuple[int, int]:
        """Return where a node lies, in bytes."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.lines[node.lineno - 1] + node.col_offset, self.lines[node.end_lineno - 1] + node.end_col_offset

    def edit(self, start: int, end: int, new: str, reason: str) -> None:
        """Replace bytes, if that changes them."""
        if self.data[start:end] != new.encode():
            self.outcomes.append(Edit(start, end, new.encode(), "setup", reason))

    def say(self, node: ast.expr, code: str, message: str, help: str, severity: Severity = "warning") -> None:
        """Report a place."""
        self.outcomes.append(Problem(*self.span(node), code, message, help, severity))


class SetupRewriter:
    """setup.py, and other scripts of that kind (setup_*.py, build*.py)."""

    name = "setup"

    def wants(self, path: PurePath) -> bool:
        return path.suffix == ".py" and path.stem.startswith(("setup", "build"))

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if not _HINT.search(unit.data):
            return
        try:
            tree = ast.parse(unit.data.decode("utf-8"))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield Problem(
                0, 0, codes.UNREADABLE, f"no Python that can be read: {error}", "mend the text and translate again"
            )
            return
        script = _script(unit, tree)
        _visit(script, tree)
        yield from script.outcomes


def _script(unit: Unit, tree: ast.Module) -> _Script:
    lines = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", unit.data))]
    nodes = list(ast.walk(tree))
    torch = any(
        isinstance(n, ast.Import) and any(a.name == "torch" and a.asname is None for a in n.names) for n in nodes
    )
    homes = any(isinstance(n, ast.ImportFrom) and n.module == "torch.utils.cpp_extension" and any(a.name == "CUDA_HOME" for a in n.names) for n in nodes)  # fmt: skip
    script = _Script(unit.data, unit, lines, unit.target.architecture or USUAL_ARCHITECTURE, torch, homes)
    script.flag_names = _names_of_flags(nodes)
    return script


def _names_of_flags(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the variables whose lists end up as options of nvcc: by their own name, or by what they are given to."""
    found: set[str] = set()
    for node in nodes:
        values: list[ast.expr] = []
        if isinstance(node, ast.Dict):
            values = [v for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant) and k.value == "nvcc"]
        elif isinstance(node, ast.keyword) and node.arg and _FLAGS.search(node.arg):
            values = [node.value]
        for value in values:
            found |= {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    return found


def _visit(script: _Script, tree: ast.Module) -> None:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.If, ast.IfExp)) and _APART.search(ast.unparse(node.test)):
            continue
        _node(script, node)
        waiting += ast.iter_child_nodes(node)


def _node(script: _Script, node: ast.AST) -> None:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values):
            if isinstance(key, ast.Constant) and key.value == "nvcc":
                _flags(script, value)
    elif isinstance(node, ast.keyword) and node.arg:
        _keyword(script, node.arg, node.value)
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        _assigned(script, node.targets[0], node.value)
    elif isinstance(node, ast.AugAssign):
        _assigned(script, node.target, node.value)
    elif isinstance(node, ast.Call):
        _call(script, node)
    elif isinstance(node, (ast.BinOp, ast.List)) and _holds_flags(script, node):
        _flags(script, node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        _text(script, node, node.value)
    elif isinstance(node, (ast.Name, ast.ImportFrom)):
        _home(script, node)
    elif isinstance(node, ast.Attribute) and ast.unparse(node) == "torch.version.cuda":
        script.say(
            node, codes.VERSION, "torch.version.cuda is None in PyTorch for ROCm", "ask torch.version.hip as well"
        )


def _keyword(script: _Script, name: str, value: ast.expr) -> None:
    if _FLAGS.search(name):
        _flags(script, value)
    elif _LIBRARIES.match(name):
        _libraries(script, value)
    elif _FOLDERS.match(name):
        _flags(script, value)


def _assigned(script: _Script, target: ast.expr, value: ast.expr) -> None:
    if isinstance(target, ast.Name):
        if target.id in script.flag_names or _FLAGS.search(target.id):
            _flags(script, value)
        else:
            _keyword(script, target.id, value)
    elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        key = target.slice.value
        if key == "nvcc":
            _flags(script, value)
        elif key == "TORCH_CUDA_ARCH_LIST" and isinstance(value, ast.Constant) and not script.unit.options.keep_cuda:
            start, end = script.span(value)
            quote = script.data[start : start + 1].decode()
            script.done.add(id(value))
            script.edit(
                start, end, f"{quote}{script.architecture}{quote}", "architectures of the target instead of NVIDIA's"
            )


def _call(script: _Script, node: ast.Call) -> None:
    function = node.func
    if (
        isinstance(function, ast.Attribute)
        and function.attr in ("append", "extend")
        and isinstance(function.value, ast.Name)
    ):
        name = function.value.id
        if name in script.flag_names or _FLAGS.search(name):
            for argument in node.args:
                _flags(script, argument)
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    if name == "CUDAExtension":
        script.say(
            function,
            codes.TORCH,
            "PyTorch for ROCm builds this extension under the same name and translates its sources itself",
            "",
            "note",
        )


def _holds_flags(script: _Script, node: ast.BinOp | ast.List) -> bool:
    """Tell options of nvcc by what is in a list, or by the name of the list they are added to."""
    if isinstance(node, ast.List):
        return is_nvcc([_word(element) for element in node.elts])
    names = [side.id for side in (node.left, node.right) if isinstance(side, ast.Name)]
    return any(name in script.flag_names or _FLAGS.search(name) for name in names)


def _word(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else _OPAQUE


def _flags(script: _Script, value: ast.expr) -> None:
    """Translate a list of options, or the text that is split into one, wherever it stands in an expression."""
    waiting: list[ast.expr] = [value]
    while waiting:
        node = waiting.pop()
        if id(node) in script.done:
            continue
        script.done.add(id(node))
        if isinstance(node, (ast.List, ast.Tuple)):
            _list(script, node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            _one_text(script, node)
        elif isinstance(node, ast.BinOp):
            waiting += [node.left, node.right]
        elif isinstance(node, ast.IfExp) and not _APART.search(ast.unparse(node.test)):
            waiting += [node.body, node.orelse]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            waiting.append(node.func.value)
        elif isinstance(node, ast.Dict):
            for key, inner in zip(node.keys, node.values):
                waiting += [inner] if isinstance(key, ast.Constant) and key.value == "nvcc" else []


def _list(script: _Script, node: ast.List | ast.Tuple) -> None:
    words = [_word(element) for element in node.elts]
    script.done.update(id(element) for element in node.elts)
    changes = _kept(script, node.elts, translate_words(words, script.architecture))
    _change_list(script, node, changes)


def _change_list(script: _Script, node: ast.List | ast.Tuple, changes: Sequence[Change]) -> None:
    if not changes:
        return
    if not script.unit.options.keep_cuda:
        _apply(script, node.elts, changes)
        return
    inner = _Script(script.data, script.unit, script.lines, script.architecture, True, script.homes)
    _apply(inner, node.elts, changes)
    start, end = script.span(node)
    out, at = "", start
    for edit in sorted((e for e in inner.outcomes if isinstance(e, Edit)), key=lambda e: e.start):
        assert isinstance(edit.replacement, bytes)
        out, at = out + script.data[at : edit.start].decode() + edit.replacement.decode(), edit.end
    new = out + script.data[at:end].decode()
    _write_both(script, node, re.sub(r"\bCUDA_HOME\b", "ROCM_HOME", new) if script.homes else new)
    script.done.update(id(inner_node) for inner_node in ast.walk(node))


def _write_both(script: _Script, node: ast.expr, new: str) -> None:
    """Write an expression for each vendor, chosen by which PyTorch there is."""
    start, end = script.span(node)
    if not script.torch:
        script.say(
            node,
            codes.NOT_BOTH,
            "nothing here tells which vendor is meant: torch is not imported",
            "write it for both by hand",
        )
        return
    script.edit(
        start, end, f"({new} if torch.version.hip else {script.data[start:end].decode()})", "options of both compilers"
    )


def _kept(script: _Script, elements: Sequence[ast.expr], changes: list[Change]) -> list[Change]:
    """Report the changes that are refused and return the others, those that take something out joined to their neighbours."""
    found: list[Change] = []
    for change in changes:
        if change.refused:
            code = codes.LIBRARY if change.library else codes.OPTION
            script.say(
                elements[change.first],
                code,
                f"{_word(elements[change.first])}: {change.refused}",
                "take it out, or write what HIP needs",
                "error",
            )
        elif found and not found[-1].words and not change.words and found[-1].last == change.first:
            found[-1] = Change(found[-1].first, change.last, (), found[-1].reason + "; " + change.reason)
        else:
            found.append(change)
    return found


def _apply(script: _Script, elements: Sequence[ast.expr], changes: Sequence[Change]) -> None:
    spans = [script.span(element) for element in elements]
    for change in changes:
        start, end = spans[change.first][0], spans[change.last - 1][1]
        quote = script.data[start : start + 1].decode("latin-1")
        quote = quote if quote in "\"'" else '"'
        if change.words:
            script.edit(start, end, ", ".join(f"{quote}{word}{quote}" for word in change.words), change.reason)
        elif change.last < len(spans):
            script.edit(start, spans[change.last][0], "", change.reason)
        elif change.first:
            script.edit(spans[change.first - 1][1], end, "", change.reason)
        else:
            script.edit(start, end, "", change.reason)


def _one_text(script: _Script, node: ast.Constant) -> None:
    """A text that holds one option, or several that are split."""
    start, end = script.span(node)
    raw = script.data[start:end].decode()
    words = split_words(str(node.value))
    if raw[1:-1] != node.value or not words:
        return
    out, at = "", 0
    text = str(node.value)
    if re.fullmatch(r"-?-gencode|--generate-code|arch=compute_\w+,code=\S+", text):
        words = [(0, len(text), f"-gencode={text}")]  # an option and its value, appended one after the other
    for change in translate_words([w for *_, w in words], script.architecture):
        first, last = words[change.first][0], words[change.last - 1][1]
        if change.refused:
            code = codes.LIBRARY if change.library else codes.OPTION
            script.say(
                node, code, f"{text[first:last]}: {change.refused}", "take it out, or write what HIP needs", "error"
            )
            continue
        out, at = out + text[at:first] + " ".join(change.words), last
    new = raw[0] + out + text[at:] + raw[-1]
    if not script.unit.options.keep_cuda:
        script.edit(start, end, new, "options of nvcc")
    elif new != raw:
        _write_both(script, node, new)


def _libraries(script: _Script, value: ast.expr) -> None:
    if not isinstance(value, (ast.List, ast.Tuple)):
        return
    changes: list[Change] = []
    for index, element in enumerate(value.elts):
        row = library(_word(element))
        if row is None:
            continue
        refused = row["reason"] if row["conversion"] == "none" else ""
        words = (row["target"],) if row["conversion"] == "rename" else ()
        changes.append(
            Change(
                index,
                index + 1,
                words,
                row["reason"] or f"ROCm's counterpart of {_word(element)}",
                refused,
                bool(refused),
            )
        )
    script.done.update(id(element) for element in value.elts)
    _change_list(script, value, _kept(script, value.elts, changes))


def _text(script: _Script, node: ast.Constant, text: str) -> None:
    if id(node) in script.done or script.unit.options.keep_cuda:
        return
    start, end = script.span(node)
    raw = script.data[start:end].decode()
    if text.endswith("/nvcc"):
        script.say(
            node, codes.TOOL, "nvcc is called", "call hipcc, whose words about its version are others", "warning"
        )
    elif text in _ENVIRONMENT and raw[1:-1] == text:
        script.edit(start, end, raw[0] + _ENVIRONMENT[text] + raw[-1], "the variable that ROCm's side reads")
    elif rocm_path(text) != text and raw[1:-1] == text:
        script.edit(start, end, raw[0] + rocm_path(text) + raw[-1], "ROCm's usual folder")


def _home(script: _Script, node: ast.Name | ast.ImportFrom) -> None:
    """CUDA_HOME of torch.utils.cpp_extension is None in a build for ROCm, which has ROCM_HOME."""
    both = script.unit.options.keep_cuda
    reason = "torch's name for ROCm's folder"
    if isinstance(node, ast.ImportFrom):
        plain = [alias for alias in node.names if alias.name == "CUDA_HOME" and alias.asname is None]
        if (
            node.module == "torch.utils.cpp_extension"
            and plain
            and all(alias.name != "ROCM_HOME" for alias in node.names)
        ):
            script.edit(*script.span(plain[0]), "CUDA_HOME, ROCM_HOME" if both else "ROCM_HOME", reason)
    elif script.homes and node.id == "CUDA_HOME" and isinstance(node.ctx, ast.Load) and id(node) not in script.done:
        start, end = script.span(node)
        if not (both and re.match(rb"\s*or ROCM_HOME\)", script.data[end:])):
            script.edit(start, end, "(CUDA_HOME or ROCM_HOME)" if both else "ROCM_HOME", reason)

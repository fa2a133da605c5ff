"""Python: imports, names of torch.cuda, device strings, capability checks, kernels written in Python and CUDA sources inside strings.

The text is parsed where it may hold something; what no Python of today parses (Python 2, templates) is read word by word instead.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.migrate.findings import Use
from anywarp.migrate.scan import cuda_source
from anywarp.migrate.scan.cpp_text import Lines
from anywarp.migrate.scan.python_tree import Reader
from anywarp.migrate.scan.python_uses import Uses, embedded, packages
from anywarp.migrate.scan.python_words import read_words

SUFFIXES = frozenset({".py", ".pyi", ".pyx", ".pxd", ".pxi", ".pyw"})
LARGEST = 16 << 20
_PARSED = 4 << 20
_WORDS = (
    b"cuda", b"nccl", b"nvidia", b"tensorrt", b"triton", b"cupy", b"numba", b"nvml", b"cudnn", b"nvtx", b"nvcc", b"onnxruntime", b"flash_att", b"cublas",
    b"float8_e", b"find_spec", b"import_module", b"importorskip", b"__import__", b"is_package", b"package_available", b"tensorflow", b"executionprovider",
)  # fmt: skip
"""What makes a text worth reading, in lower case, beside imports."""
_IMPORTS = re.compile(rb"^[ \t]*(?:from[ \t]+(\w+)|c?import[ \t]+([^\n#;]+))", re.MULTILINE)
_IMPORT_TORCH = re.compile(rb"^(?:import|from)[ \t]+torch\b", re.MULTILINE)
_PORTED = re.compile(
    rb"version\.hip\b|\bis_(?:rocm|hip)\w*|\bROCM?_HOME\b|\bUSE_ROCM\b|\bTEST_WITH_ROCM\b|\bIS_HIP_EXTENSION\b|_is_hip\b|\bfloat8_e\w+fnuz\b"
)


def wants(path: PurePath, head: bytes) -> bool:
    """Take Python by its name, or by the first line of a script without one."""
    return path.suffix.lower() in SUFFIXES or (
        not path.suffix and head.startswith(b"#!") and b"python" in head.split(b"\n", 1)[0]
    )


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the uses of CUDA in a Python text, one per name; first that it is a package of a name that matters, if it is."""
    if path.name == "__init__.py" and len(path.parts) > 1 and path.parts[-2] in packages():
        yield Use("dist.module", path.parts[-2], 1, 1)
    low = data.lower()
    if not any(word in low for word in _WORDS):
        imported = _imported(data)
        if not imported:
            return
        if imported == {"torch"} and (only := _only_torch(data)) is not None:
            yield from only
            return
    yield from text_uses(data)


def text_uses(data: bytes) -> Iterator[Use]:
    """Yield the uses in a Python text that is worth reading."""
    uses = collect(data)
    lines = Lines(data)
    ported = (("ported", "yes"),) if _PORTED.search(data) else ()
    yield from uses.tally.uses(lines.place, lines.text, ported)
    for offset, source in uses.sources:
        yield from _embedded(source, *lines.place(offset))


def collect(data: bytes) -> Uses:
    """Count what a Python text uses; by its tree, or word by word where there is none."""
    uses = Uses()
    if len(data) <= _PARSED and (tree := _parsed(data)) is not None:
        Reader(data, uses).read(tree)
    else:
        read_words(data, uses)
    return uses


def _parsed(data: bytes) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of invalid escapes in a text that is not ours
        try:
            return ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _imported(data: bytes) -> set[str]:
    """Return the modules of the table that lines which look like imports name, by the first part of each."""
    known, found = packages(), set[str]()
    for line in _IMPORTS.finditer(data):
        for name in (line[1],) if line[1] is not None else line[2].split(b","):
            first = name.strip().partition(b".")[0].partition(b" ")[0].decode("utf-8", "replace")
            if first in known:
                found.add(first)
    return found


def _only_torch(data: bytes) -> tuple[Use, ...] | None:
    """Return the one use of a text that imports torch and shows nothing else of CUDA, without parsing it; None where it must be."""
    if (found := _IMPORT_TORCH.search(data)) is None:
        return None
    before = data[: found.start()]
    if before.count(b'"""') % 2 or before.count(b"'''") % 2:
        return None
    line = before.count(b"\n") + 1
    text = data[found.start() : data.find(b"\n", found.start(), found.start() + 160)].decode("utf-8", "replace")
    return (Use("python.import", "torch", line, 1, text, (("count", "1"), ("lines", str(line)))),)


def _embedded(source: bytes, line: int, column: int) -> Iterator[Use]:
    """Yield the uses in a CUDA source that a string holds; lines are those of the Python text."""
    if not embedded(source):
        return
    lines = Lines(source)

    def place(offset: int) -> tuple[int, int]:
        row, inside = lines.place(offset)
        return line + row - 1, inside if row > 1 else column + inside

    yield from cuda_source.collect(source).uses(place, lines.text, (("inside", "string"),))

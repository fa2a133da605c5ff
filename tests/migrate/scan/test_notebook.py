"""Scanning notebooks: cells, magics, shell lines, with cell and line as the place."""

import json
from pathlib import PurePath

from anywarp.migrate.scan import notebook


def scan(*cells, **more):
    """Scan a notebook of cells: text, or (kind, text)."""
    pairs = [cell if isinstance(cell, tuple) else ("code", cell) for cell in cells]
    data = {"cells": [{"cell_type": kind, "source": text} for kind, text in pairs], "nbformat": 4, **more}
    return list(notebook.scan(json.dumps(data).encode(), PurePath("a.ipynb")))


def places(uses):
    return {(u.subject, u.name, u.detail("cell"), u.line) for u in uses}


def test_python_cells_with_shell_lines_between():
    uses = scan("import torch\n!nvidia-smi -L\nif ok:\n    !nvcc -V\n    x = y.cuda()\n")
    assert places(uses) == {
        ("python.import", "torch", "1", 1), ("command.nvidia-smi", "nvidia-smi", "1", 2), ("command.nvcc", "nvcc", "1", 4), ("torch.device", ".cuda()", "1", 5),
    }  # fmt: skip


def test_cells_are_counted_with_text_cells_and_text_holds_nothing():
    uses = scan(("markdown", "cuda torch !nvidia-smi"), ["x = t", ".cuda()\n"])
    assert places(uses) == {("torch.device", ".cuda()", "2", 1)}


def test_packages_that_a_cell_installs_and_variables_that_it_sets():
    uses = scan("%pip install cupy-cuda12x\n%env CUDA_VISIBLE_DEVICES=1\n")
    assert {("package", "cupy-cuda12x"), ("env", "CUDA_VISIBLE_DEVICES")} <= {(u.subject, u.name) for u in uses}


def test_cells_of_cuda():
    uses = scan("%load_ext nvcc4jupyter", "%%cu\n#include <cuda_runtime.h>\nint main() { cudaFree(0); }")
    assert {
        ("python.kernel", "nvcc cell", "1", 1),
        ("python.kernel", "nvcc cell", "2", 1),
        ("cuda.header", "cuda_runtime.h", "2", 2),
        ("cuda.api", "cudaFree", "2", 3),
    } == places(uses)


def test_a_shell_cell():
    assert places(scan("%%bash\necho x\nnvidia-smi\n")) == {("command.nvidia-smi", "nvidia-smi", "1", 3)}


def test_what_is_no_notebook():
    assert list(notebook.scan(b"[1, 2]", PurePath("a.ipynb"))) == []
    assert list(notebook.scan(b'{"cells": 3}', PurePath("a.ipynb"))) == []
    assert scan(3, None, ["a", 4]) == []
    (use,) = notebook.scan(b'{"cells": [cuda', PurePath("a.ipynb"))
    assert use.subject == "python.unreadable"
    assert list(notebook.scan(b"[" * 100_000, PurePath("a.ipynb"))) == []

"""No modules of the compiler import each other in a circle, not even for their types alone."""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp


def test_the_compiler_has_no_import_cycles():
    graph = grimp.build_graph("anywarp", cache_dir=None)
    modules = [m for m in graph.modules if m.startswith("anywarp.compiler.")]
    assert len(modules) > 100
    TopologicalSorter({m: graph.find_modules_directly_imported_by(m) for m in modules}).prepare()  # raises CycleError

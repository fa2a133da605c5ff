"""Every kernel of the semantics cases has code for five architectures, none with vector registers in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from anywarp.compiler.amdgpu import machine_code
from anywarp.compiler.amdgpu.code_object import kernel_metadata
from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.ptx.index import index_module

CASES = sorted((Path(__file__).parents[2] / "semantics" / "cases").glob("*.ptx"))


def compiled(path, arch):
    """Metadata of each kernel, for the block that it requires, or any."""
    index, target = index_module(path.read_text()), make_target(arch)
    for name in index.entries:
        how = Specialisation(block=None, lanes=64)
        kernel = prepare_kernel(IndexedModule(index), name, how)
        text = target.emitted(kernel, analyse(kernel, how), how)[0].text
        try:
            code = machine_code.compile_text(text, arch, "", name)
        except machine_code.ModeLeaks:
            code = machine_code.compile_text(
                target.emitted(kernel, analyse(kernel, how), how, apart=True)[0].text, arch, "", name
            )
        yield name, kernel_metadata(code)


def check(path, arch):
    names = []
    for name, found in compiled(path, arch):
        names.append(name)
        assert found.name == name
        assert found.vgpr_spills == 0, (
            name
        )  # scalar registers go to lanes of vector registers where control flow is tangled
    assert names


@pytest.mark.parametrize(
    ("stem", "arch"),
    [
        ("kernels", "gfx942"),
        ("kernels", "gfx1100"),
        ("barriers", "gfx90a"),  # whose lanes take turns, so that most values live throughout the kernel
    ],
)
def test_the_common_kernels_compile(stem, arch):
    check(next(path for path in CASES if path.stem == stem), arch)


@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_all_cases_compile(path, arch):
    check(path, arch)

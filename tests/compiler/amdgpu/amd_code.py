"""Kernels in a line of PTX, compiled for an AMD GPU as far as a test wants to look at them."""

from __future__ import annotations

import re

from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import compile_kernel, prepare_kernel
from anywarp.ptx.index import index_module

BLOCK = (64, 1, 1)


def module(body, before=""):
    """A kernel `k` with two pointers as parameters in %rd1 and %rd2, and registers of all kinds."""
    return f""".version 8.3
.target sm_90
.address_size 64
{before}
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)
{{
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<20>; .reg .f64 %d<9>;
  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
  {body}
  ret;
}}
"""


def given(ptx, name="k", block=BLOCK, lanes=64):
    """What a target is given for a kernel: the kernel, its analysis, the specialisation."""
    specialisation = Specialisation(block=block, lanes=lanes)
    kernel = prepare_kernel(IndexedModule(index_module(ptx)), name, specialisation, checked=True)
    return kernel, analyse(kernel, specialisation), specialisation


def llvm(ptx, arch, *, lanes=64, apart=False, block=BLOCK):
    """The LLVM IR of the kernel `k`."""
    return make_target(arch).emitted(*given(ptx, block=block, lanes=lanes), apart=apart)[0].text


def machine(ptx, arch, *, lanes=64, block=BLOCK):
    """The instructions of the kernel `k` as lines."""
    text = make_target(arch).assembly(*given(ptx, block=block, lanes=lanes))
    body = text[re.search(r"^k:", text, re.M).end() : text.index("s_endpgm")]
    return [line.strip() for line in body.splitlines() if line.startswith("\t") and line.strip()]


def artifact(ptx, arch, name="k", block=BLOCK):
    """The linked kernel."""
    return compile_kernel(index_module(ptx), name, Specialisation(block=block, lanes=0), make_target(arch))

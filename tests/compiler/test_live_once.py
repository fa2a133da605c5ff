"""What is live is found once for an analysis, however many branches part the lanes of a warp before they wait for each other."""

from anywarp.compiler import analysis
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.ptx.index import index_module

_STEP = "and.b32 %r3, %r2, {bit}; setp.eq.s32 %p1, %r3, 0; @%p1 bra SKIP{bit}; add.s32 %r1, %r1, {bit}; bar.warp.sync %r4; SKIP{bit}:\n"
_TEXT = (
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r2, %tid.x; mov.u32 %r1, 0; ld.global.u32 %r4, [%d1];\n"
    + "".join(_STEP.format(bit=1 << n) for n in range(6))
    + "mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d1, %d2; st.global.u32 [%d3], %r1; ret;\n}\n"
)


def test_liveness_is_found_once(monkeypatch):
    calls: list[object] = []
    real = analysis.live_values
    monkeypatch.setattr(analysis, "live_values", lambda flow: calls.append(flow) or real(flow))
    specialisation = Specialisation((64, 1, 1), 32)
    kernel = prepare_kernel(IndexedModule(index_module(_TEXT)), "k", specialisation, checked=True)
    calls.clear()
    found = analysis._Fixpoint(kernel, specialisation)  # what `analyse` asks
    found.run()
    for number in range(4):
        found._stagger(number, {number})
    assert len(calls) == 1

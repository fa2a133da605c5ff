"""From a module's index to an artifact: what happens, in which order, on one screen.

Everything that a target gets is made here; nothing after this page knows PTX.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler import verify
from anywarp.compiler.ir import Kernel, Specialisation
from anywarp.compiler.lower import lower_kernel
from anywarp.compiler.passes.fold_constants import fold_constants
from anywarp.compiler.passes.lay_out_variables import lay_out_variables
from anywarp.compiler.passes.promote_local import promote_local
from anywarp.compiler.passes.remove_dead_code import remove_dead_code
from anywarp.compiler.passes.simplify_branches import simplify_branches
from anywarp.compiler.passes.specialise_block import specialise_block
from anywarp.compiler.skeleton import ModuleView

Pass = Callable[[Kernel, Specialisation], None]

PASSES: tuple[Pass, ...] = (
    remove_dead_code,
    promote_local,
    specialise_block,
    fold_constants,
    simplify_branches,
    fold_constants,
    remove_dead_code,
    simplify_branches,
    lay_out_variables,
)
"""What every kernel goes through between lowering and analysis, in order."""


def prepare_kernel(
    module: ModuleView, name: str, specialisation: Specialisation, *, checked: bool = False
) -> Kernel:
    """Lower the kernel `name` and run the passes; `checked` verifies the IR after each."""
    kernel = lower_kernel(module, name)
    if checked:
        verify.check(kernel, "lowering")
    for one in PASSES:
        one(kernel, specialisation)
        if checked:
            verify.check(kernel, one.__name__)
    return kernel

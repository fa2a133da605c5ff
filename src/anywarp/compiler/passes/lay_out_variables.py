"""Give shared and local variables their offsets, once it is known which of them are left."""

from __future__ import annotations

from anywarp.compiler import codes
from anywarp.compiler.attributes import Symbol
from anywarp.compiler.ir import Kernel, Op, Specialisation
from anywarp.compiler.layout import LOCAL_LIMIT, SHARED_LIMIT, align_up
from anywarp.compiler.uses import definitions
from anywarp.compiler.variables import Place


def lay_out_variables(kernel: Kernel, specialisation: Specialisation) -> None:
    """Make the offset of each `symbol` final and set the kernel's shared and local sizes.

    Static shared variables lie in order of first use; dynamic shared memory starts behind them, aligned to 16 or more (all
    dynamic variables name the same memory). Legality: addresses of different variables are unrelated in PTX.
    """
    symbols = [
        (op, op.attrs, op.attrs.variable)
        for _, op in definitions(kernel)
        if isinstance(op, Op) and isinstance(op.attrs, Symbol) and op.attrs.variable is not None
    ]
    places: dict[Place, int] = {}
    ends = {"shared": 0, "local": 0}
    dynamic_align = 16
    for _, _, place in symbols:
        if place.dynamic:
            dynamic_align = max(dynamic_align, place.align)
        elif place not in places:
            places[place] = align_up(ends[place.space], place.align)
            ends[place.space] = places[place] + place.size
    dynamic = any(place.dynamic for _, _, place in symbols)
    # The launch reserves dynamic memory right behind the static part, so the gap before it belongs to the static part.
    kernel.shared_bytes = align_up(ends["shared"], dynamic_align) if dynamic else ends["shared"]
    kernel.local_bytes = align_up(ends["local"], 16)
    kernel.dynamic_shared_align = dynamic_align
    if kernel.shared_bytes > SHARED_LIMIT or kernel.local_bytes > LOCAL_LIMIT:
        raise codes.problem(codes.TOO_MUCH_DATA, f"the variables of `{kernel.name[:200]}` need too much memory")
    start = kernel.shared_bytes
    for op, attrs, place in symbols:
        first = start if place.dynamic else places[place]
        extent = (first, -1 if place.dynamic else place.size)
        op.attrs = Symbol(place.space, attrs.offset + first, extent)

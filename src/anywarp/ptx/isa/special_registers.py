"""The special registers of the PTX manual, section 10: names and types.

Meanings and the inspection of files must agree on which names are special, so the list is here once.
"""

from __future__ import annotations

from anywarp.ptx.isa.ops import Type
from anywarp.ptx.tree import Name

_VECTORS = ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
_WORDS = (
    "laneid", "warpid", "nwarpid", "smid", "nsmid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt",
    "clock", "clock_hi", "globaltimer_lo", "globaltimer_hi", "cluster_ctarank", "cluster_nctarank",
    "total_smem_size", "aggr_smem_size", "dynamic_smem_size",
)  # fmt: skip

SPECIAL: dict[str, Type] = {
    **{f"{v}.{axis}": "i32" for v in _VECTORS for axis in "xyz"},
    **dict.fromkeys(_WORDS, "i32"),
    **{f"envreg{n}": "i32" for n in range(32)},
    "clock64": "i64",
    "globaltimer": "i64",
    "gridid": "i64",
    **{f"pm{n}": "i32" for n in range(8)},
    **{f"pm{n}_64": "i64" for n in range(8)},
    **{f"reserved_smem_offset_{which}": "i32" for which in ("begin", "end", "cap", "0", "1")},
    "current_graph_exec": "i64",
    "is_explicit_cluster": "i1",
}  # fmt: skip
"""Type of each special register, by its name without `%`."""


def special_name(operand: object) -> str | None:
    """Return the name without `%` when `operand` is a special register, else None."""
    if not isinstance(operand, Name) or not operand.name.startswith("%"):
        return None
    name = operand.name[1:] if operand.member is None else f"{operand.name[1:]}.{operand.member}"
    return name if name in SPECIAL else None

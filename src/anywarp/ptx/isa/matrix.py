"""Warp-level matrix products: `mma.sync`, dense and sparse.

Each form becomes one operation that says which product it is (`matrix_forms`); how it is computed is the target's. The order
of additions is the target's to choose by the manual (section 9.7.15.5).
"""

from __future__ import annotations

from collections.abc import Sequence

from anywarp.ptx.isa.matrix_forms import WIDTH, Product
from anywarp.ptx.isa.operands import malformed, read, take, write
from anywarp.ptx.isa.ops import Ops, Type, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction, Integer, Operand, Vector

HELD: dict[str, Type] = {"f32": "f32", "f64": "f64"}
"""Types of registers; those of all other elements are plain bits."""


def elements(operand: Operand) -> tuple[Operand, ...]:
    """Return the registers of a fragment; braces may be left out round a single one."""
    return operand.elements if isinstance(operand, Vector) else (operand,)


def read_fragment(ops: Ops, i: Instruction, operand: Operand, kind: str, count: int) -> list[V]:
    """Read the `count` registers of a fragment whose elements are of type `kind`."""
    found = elements(operand)
    if len(found) != count:
        raise malformed(i, f"a fragment of {len(found)} registers, not {count}")
    return [read(ops, r, HELD.get(kind, "i32")) for r in found]


def write_fragment(ops: Ops, i: Instruction, operand: Operand, values: Sequence[V]) -> None:
    """Write the registers of a fragment."""
    targets = elements(operand)
    if len(targets) != len(values):
        raise malformed(i, f"a fragment of {len(targets)} registers, not {len(values)}")
    for target, value in zip(targets, values, strict=True):
        write(ops, target, value)


def multiply(ops: Ops, i: Instruction, product: Product, operands: Sequence[Operand], *more: V) -> None:
    """Compute `product` of the fragments a, b, c into d; `more` are further values it needs (metadata)."""
    d, a, b, c = operands
    left = read_fragment(ops, i, a, product.a, product.registers("a"))
    right = read_fragment(ops, i, b, product.b, product.registers("b"))
    sums = read_fragment(ops, i, c, product.c, product.registers("c"))
    left, right = left[: product.distinct("a")], right[: product.distinct("b")]
    write_fragment(ops, i, d, ops.matrix(product, [*left, *right, *sums, *more]))


def shape(i: Instruction) -> tuple[int, int, int]:
    """Return m, n, k of an instruction."""
    text = next(m for m in i.modifiers if m[0] == "m" and "k" in m and "n" in m)
    m, rest = text[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def kinds(i: Instruction) -> tuple[str, ...]:
    """Return the element types of an instruction, as it names them."""
    return tuple(m for m in i.modifiers if m in WIDTH)


def order(i: Instruction) -> tuple[str, str]:
    """Return the layouts of A and B that an instruction names."""
    found = [m for m in i.modifiers if m in ("row", "col")]
    return found[0], found[1]


@meaning(
    "mma.sync{.aligned}.m16n8k8/m16n8k16.row.col.f32/f16.f16.f16.f32/f16",
    "mma.sync{.aligned}.m16n8k8/m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync{.aligned}.m16n8k4/m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync{.aligned}.m8n8k4/m16n8k4/m16n8k8/m16n8k16.row.col{.rn/rz/rm/rp}.f64.f64.f64.f64",
    "mma.sync{.aligned}.m8n8k16/m16n8k16/m16n8k32.row.col{.satfinite}.s32.u8/s8.u8/s8.s32",
    "mma.sync{.aligned}.m8n8k32/m16n8k32/m16n8k64.row.col{.satfinite}.s32.u4/s4.u4/s4.s32",
    "mma.sync{.aligned}.m16n8k16/m16n8k32.row.col{.kind::f8f6f4}.f32/f16.e4m3/e5m2.e4m3/e5m2.f32/f16",
)
def mma(ops: Ops, i: Instruction) -> None:
    """`mma.sync`: D = A B + C."""
    d, a, b, c = kinds(i)
    if d == "f64" and i.has("rz", "rm", "rp"):
        raise malformed(i, "sums are rounded to nearest")
    product = Product(*shape(i), a, b, d, c, saturate=i.has("satfinite"))
    multiply(ops, i, product, take(i, 4))


@meaning("mma.sync{.aligned}.m8n8k128/m16n8k128/m16n8k256.row.col.s32.b1.b1.s32.xor/and.popc")
def mma_bits(ops: Ops, i: Instruction) -> None:
    """`mma.sync` of single bits: how many are set in the and, or exclusive or, of a row and a column."""
    combine = "and" if i.has("and") else "xor"
    multiply(ops, i, Product(*shape(i), "b1", "b1", "s32", "s32", combine=combine), take(i, 4))


@meaning("mma.sync{.aligned}.m8n8k4.row/col.row/col.f32/f16.f16.f16.f32/f16")
def mma_of_quad_pairs(ops: Ops, i: Instruction) -> None:
    """`mma.sync.m8n8k4` of f16: four products, each by a pair of quads."""
    d, a, b, c = kinds(i)
    rows, columns = order(i)
    product = Product(8, 8, 4, a, b, d, c, layout="quad", a_order=rows, b_order=columns)
    multiply(ops, i, product, take(i, 4))


@meaning(
    "mma.sp/sp::ordered_metadata.sync{.aligned}.m16n8k16/m16n8k32.row.col.f32/f16.f16.f16.f32/f16",
    "mma.sp/sp::ordered_metadata.sync{.aligned}.m16n8k16/m16n8k32.row.col.f32.bf16.bf16.f32",
    "mma.sp/sp::ordered_metadata.sync{.aligned}.m16n8k8/m16n8k16.row.col.f32.tf32.tf32.f32",
    "mma.sp/sp::ordered_metadata.sync{.aligned}.m16n8k32/m16n8k64.row.col{.satfinite}.s32.u8/s8.u8/s8.s32",
    "mma.sp/sp::ordered_metadata.sync{.aligned}.m16n8k64/m16n8k128.row.col{.satfinite}.s32.u4/s4.u4/s4.s32",
    "mma.sp/sp::ordered_metadata.sync{.aligned}.m16n8k64.row.col{.kind::f8f6f4}.f32/f16.e4m3/e5m2.e4m3/e5m2.f32/f16",
)
def mma_sparse(ops: Ops, i: Instruction) -> None:
    """`mma.sp`: A holds half of the elements of each row, and an operand says which (section 9.7.15.6)."""
    *operands, metadata, selector = take(i, 6)
    if not isinstance(selector, Integer) or not 0 <= selector.value <= 3:
        raise malformed(i, "its sparsity selector is no constant from 0 to 3")
    d, a, b, c = kinds(i)
    sparse = {"tf32": 2, "u4": 8, "s4": 8}.get(a, 4)
    m, n, k = shape(i)
    product = Product(m, n, k, a, b, d, c, saturate=i.has("satfinite"), sparse=sparse, selector=selector.value)
    if (selector.value + 1) * indices_lanes(product) > 4:
        raise malformed(i, f"a sparsity selector of {selector.value} for this shape")
    multiply(ops, i, product, operands, read(ops, metadata, "i32"))


def indices_lanes(p: Product) -> int:
    """How many lanes of each four hold the indices of a sparse product."""
    bits = {"tf32": 4, "u4": 1, "s4": 1}.get(p.a, 2)
    return p.stored_k * bits // 16

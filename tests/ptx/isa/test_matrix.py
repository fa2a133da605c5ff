"""The matrix instructions against numpy, with fragments laid out by the figures of the PTX manual (section 9.7.15.5)."""

import numpy as np
import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.ptx.isa.registry import expand
from anywarp.ptx.parser import parse_module
from semantics.warp import Warp

RNG = np.random.default_rng(3)


def instruction(text):
    names = "abcdefgh"
    regs = "".join(f".reg .b32 %{n}<8>;\n" for n in names)
    module = parse_module(f".version 8.2\n.target sm_80\n.address_size 64\n.entry k()\n{{\n{regs}{text}\nret;\n}}\n")
    return next(s for s in module.items[0].body.statements if getattr(s, "opcode", "ret") != "ret")


def bits16(array, kind):
    if kind == "f16":
        return array.astype(np.float16).view(np.uint16)
    return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def exact16(array, kind):
    if kind == "f16":
        return array.astype(np.float16).astype(np.float64)
    return (array.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32).astype(np.float64)


def packed(low, high):
    return int(low) | int(high) << 16


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("depth", [8, 16])
def test_mma_of_sixteen_bit_inputs_multiplies_matrices(kind, depth):
    a, b, c = RNG.normal(size=(16, depth)), RNG.normal(size=(depth, 8)), RNG.normal(size=(16, 8)).astype(np.float32)
    ab, bb = bits16(a, kind), bits16(b, kind)
    warp, spans = Warp(), depth // 8
    for r in range(2 * spans):  # figure: a0,a1 row g; a2,a3 row g+8; a4.. columns + 8
        rows = [(lane // 4) + 8 * (r % 2) for lane in range(32)]
        cols = [(lane % 4) * 2 + 8 * (r // 2) for lane in range(32)]
        warp.declare(f"%a{r}", "b32", [packed(ab[x, y], ab[x, y + 1]) for x, y in zip(rows, cols, strict=True)])
    for r in range(spans):
        rows = [(lane % 4) * 2 + 8 * r for lane in range(32)]
        warp.declare(f"%b{r}", "b32", [packed(bb[k, n // 4], bb[k + 1, n // 4]) for n, k in enumerate(rows)])
    place = [[(lane // 4 + 8 * (r // 2), (lane % 4) * 2 + r % 2) for lane in range(32)] for r in range(4)]
    for r in range(4):
        warp.declare(f"%c{r}", "f32", [int(c.view(np.uint32)[p]) for p in place[r]])
        warp.declare(f"%d{r}", "f32")
    regs = [
        ",".join(f"%{n}{r}" for r in range(count)) for n, count in (("d", 4), ("a", 2 * spans), ("b", spans), ("c", 4))
    ]
    operands = ", ".join(f"{{{r}}}" for r in regs)
    expand(warp, instruction(f"mma.sync.aligned.m16n8k{depth}.row.col.f32.{kind}.{kind}.f32 {operands};"))
    want = exact16(a, kind) @ exact16(b, kind) + c
    got = np.zeros((16, 8))
    for r in range(4):
        for lane, p in enumerate(place[r]):
            got[p] = np.uint32(warp.value(f"%d{r}")[lane]).view(np.float32)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_mma_of_tf32_inputs_ignores_the_low_thirteen_bits():
    a, b = RNG.normal(size=(16, 8)).astype(np.float32), RNG.normal(size=(8, 8)).astype(np.float32)
    warp = Warp()
    for r in range(4):
        lanes = [int(a.view(np.uint32)[lane // 4 + 8 * (r % 2), lane % 4 + 4 * (r // 2)]) for lane in range(32)]
        warp.declare(f"%a{r}", "b32", lanes)
        warp.declare(f"%c{r}", "f32")
        warp.declare(f"%d{r}", "f32")
    for r in range(2):
        warp.declare(f"%b{r}", "b32", [int(b.view(np.uint32)[lane % 4 + 4 * r, lane // 4]) for lane in range(32)])
    expand(
        warp,
        instruction(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, {%c0,%c1,%c2,%c3};"
        ),
    )
    cut = [(m.view(np.uint32) & 0xFFFFE000).view(np.float32).astype(np.float64) for m in (a, b)]
    want = cut[0] @ cut[1]
    for r in range(4):
        for lane in range(32):
            got = np.uint32(warp.value(f"%d{r}")[lane]).view(np.float32)
            assert got == pytest.approx(want[lane // 4 + 8 * (r // 2), (lane % 4) * 2 + r % 2], rel=1e-5, abs=1e-5)


def matrix_memory(warp, count):
    """`count` 8x8 matrices of 16-bit numbers whose rows lie scattered in memory; lane 8j+r holds the address of row r."""
    matrices = RNG.integers(0, 1 << 16, (count, 8, 8), dtype=np.uint16)
    starts = RNG.permutation(64)[:32] * 16
    for j in range(count):
        for r in range(8):
            at = int(starts[8 * j + r])
            warp.memory[at : at + 16] = matrices[j, r].tobytes()
    return matrices, [int(s) for s in starts]


@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_gives_each_lane_two_elements(count, trans):
    warp = Warp()
    matrices, starts = matrix_memory(warp, count)
    warp.declare("%h0", "b32", starts)
    for j in range(count):
        warp.declare(f"%d{j}", "b32")
    regs = ",".join(f"%d{j}" for j in range(count))
    expand(
        warp,
        instruction(f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.shared.b16 {{{regs}}}, [%h0];"),
    )
    for j in range(count):
        m = matrices[j].T if trans else matrices[j]
        assert warp.value(f"%d{j}") == [packed(m[x // 4, x % 4 * 2], m[x // 4, x % 4 * 2 + 1]) for x in range(32)]


@pytest.mark.parametrize("trans", [False, True])
def test_stmatrix_undoes_ldmatrix(trans):
    warp, text = Warp(), ".trans" if trans else ""
    _, starts = matrix_memory(warp, 2)
    before = bytes(warp.memory)
    warp.declare("%h0", "b32", starts)
    warp.declare("%d0", "b32")
    warp.declare("%d1", "b32")
    expand(warp, instruction(f"ldmatrix.sync.aligned.m8n8.x2{text}.shared.b16 {{%d0,%d1}}, [%h0];"))
    warp.memory[:] = bytes(len(warp.memory))
    expand(warp, instruction(f"stmatrix.sync.aligned.m8n8.x2{text}.shared.b16 [%h0], {{%d0,%d1}};"))
    assert bytes(warp.memory) == before


def test_movmatrix_transposes():
    warp, m = Warp(), RNG.integers(0, 1 << 16, (8, 8), dtype=np.uint16)
    warp.declare("%a0", "b32", [packed(m[x // 4, x % 4 * 2], m[x // 4, x % 4 * 2 + 1]) for x in range(32)])
    warp.declare("%d0", "b32")
    expand(warp, instruction("movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;"))
    assert warp.value("%d0") == [packed(m.T[x // 4, x % 4 * 2], m.T[x // 4, x % 4 * 2 + 1]) for x in range(32)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32", "4 and 6 bit floats"),
        ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "scaled blocks"),
        ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "sm_100a"),
        ("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8", "sm_100a"),
    ],
)
def test_forms_of_devices_that_we_do_not_claim_to_be_are_refused_with_the_reason(text, reason):
    with pytest.raises(AnywarpError) as caught:
        expand(Warp(), instruction(f"{text} %a0, %b0, %c0, %d0;"))
    assert text in caught.value.diagnostic.message and reason in caught.value.diagnostic.message

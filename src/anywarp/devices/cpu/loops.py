"""The loops that are timed to find out what a processor is good at, as LLVM IR.

Each is `void NAME(ptr place, i64 count, ptr out)`: `count` trips, or bytes where memory is gone through.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.compiler.simd.tuning import USUAL

STORED = (4, 8, 16, 32)
"""MiB that are copied, and read again."""
AHEAD = (2, 4, 8, 16, 32)
"""KiB of loads that are on their way."""
DISTANCE, SLICE = 512 << 10, 1 << 10
"""Bytes from one trip to the next, and those that each reads: a loop of a grid over a matrix."""
_LINE = 64
_CHAINS = 12
"""Sums at once: more than any processor has multiply-adds under way."""
_AT_ONCE = 4
_MASKED = 8
"""Lanes of the vectors that are stored under a mask."""
_CROSSED = 8
"""Lines of a trip that vectors under masks cross."""
_TABLE = 63
"""Groups of indices, less one."""


@dataclass(frozen=True, slots=True)
class _Loop:
    """What a loop does in a trip: `body` makes `results`, which begin as `%a0`, `%a1` ... of the trip before."""

    lanes: int
    body: list[str]
    results: tuple[str, ...] = ()
    step: int = 1
    before: str = ""


def loops(chunk: int, avx512: bool, bf16: bool) -> tuple[list[str], str]:
    """Return the names of the loops for vectors of `chunk` 32-bit lanes, and the text of all of them."""
    made = {"read": _read(chunk), "through": _copy(chunk, ""), "past": _copy(chunk, ", !nontemporal !0")}
    made["clear"] = _clear(chunk)
    made |= {f"ahead{kib}": _ahead(chunk, kib) for kib in AHEAD} | {"beside": _ahead(chunk, USUAL.ahead, beside=True)}
    declared = ["void @llvm.x86.sse.sfence()", "void @llvm.prefetch.p0(ptr, i32, i32, i32)"]
    if chunk == _MASKED and not avx512:
        made |= {"part": _stores(True), "whole": _stores(False)}
        declared.append("void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, <8 x i1>)")
    if avx512:
        made |= {f"fma{32 * lanes}": _chains(lanes, "float", f"llvm.fma.v{lanes}f32") for lanes in (8, 16)}
        made |= {"gather": _gather(True), "apart": _gather(False)}
        made |= {"crossing": _crossing(False), "asked": _crossing(True)}
        declared += [f"{t} @llvm.fma.v{n}f32({t}, {t}, {t})" for n in (8, 16) for t in [f"<{n} x float>"]]
        declared.append("<16 x float> @llvm.masked.gather.v16f32.v16p0(<16 x ptr>, <16 x i1>, <16 x float>)")
        declared.append("<16 x float> @llvm.masked.load.v16f32.p0(ptr, <16 x i1>, <16 x float>)")
    if bf16:
        name = "llvm.x86.avx512bf16.dpbf16ps.512"
        made["pairs"] = _chains(16, "bfloat", name)
        declared.append(f"<16 x float> @{name}(<16 x float>, <32 x bfloat>, <32 x bfloat>)")
    lines = [_function(name, loop) for name, loop in made.items()] + [f"declare {d}" for d in declared]
    return list(made), "\n".join([*lines, "!0 = !{i32 1}", ""])


def _function(name: str, loop: _Loop) -> str:
    bits, type = 32 * loop.lanes, f"<{loop.lanes} x float>"
    carried = [f"  %a{i} = phi {type} [ zeroinitializer, %entry ], [ {r}, %loop ]" for i, r in enumerate(loop.results)]
    total, last = list[str](), ""
    for i, result in enumerate(loop.results):
        if last:
            total.append(f"  %total{i} = fadd {type} {last}, {result}")
        last = f"%total{i}" if last else result
    if last:
        total.append(f"  store {type} {last}, ptr %out, align {_LINE}")
    head = f'define void @{name}(ptr %p, i64 %n, ptr %out) "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}" {{'
    start = [
        "entry:",
        loop.before,
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %j, %loop ]",
        *carried,
    ]
    step = [f"  %j = add i64 %i, {loop.step}", "  %more = icmp ult i64 %j, %n"]
    end = ["  br i1 %more, label %loop, label %end", "end:", *total, "  call void @llvm.x86.sse.sfence()", "  ret void"]
    return "\n".join([head, *start, *loop.body, *step, *end, "}"])


def _chains(lanes: int, element: str, function: str) -> _Loop:
    """Sums of products that do not wait for each other; for `bfloat` two products at once."""
    type = f"<{lanes * (2 if element == 'bfloat' else 1)} x {element}>"
    total = f"<{lanes} x float>"
    pair = f"{type} %x, {type} %y"
    calls = [
        f"  %b{i} = call {total} @{function}({f'{total} %a{i}, {pair}' if element == 'bfloat' else f'{pair}, {total} %a{i}'})"
        for i in range(_CHAINS)
    ]
    before = f"  %x = load {type}, ptr %p\n  %q = getelementptr i8, ptr %p, i64 {_LINE}\n  %y = load {type}, ptr %q"
    return _Loop(lanes, calls, tuple(f"%b{i}" for i in range(_CHAINS)), before=before)


def _gather(together: bool) -> _Loop:
    """Floats at random places of the first cache: by a gather, or one by one."""
    type, pointers = "<16 x float>", "<16 x ptr>"
    body = [
        f"  %k = and i64 %i, {_TABLE}",
        f"  %o = mul i64 %k, {_LINE}",
        "  %t = getelementptr i8, ptr %p, i64 %o",
        "  %index = load <16 x i32>, ptr %t",
        "  %wide = sext <16 x i32> %index to <16 x i64>",
        "  %places = getelementptr float, ptr %p, <16 x i64> %wide",
    ]
    last = "poison"
    if together:
        mask = "<16 x i1> splat (i1 true)"
        body.append(
            f"  %v = call {type} @llvm.masked.gather.v16f32.v16p0({pointers} align 4 %places, {mask}, {type} poison)"
        )
        last = "%v"
    for lane in () if together else range(16):
        body.append(f"  %p{lane} = extractelement {pointers} %places, i32 {lane}")
        body.append(f"  %l{lane} = load float, ptr %p{lane}")
        body.append(f"  %v{lane} = insertelement {type} {last}, float %l{lane}, i32 {lane}")
        last = f"%v{lane}"
    return _Loop(16, [*body, f"  %sum = fadd {type} %a0, {last}"], ("%sum",))


def _crossing(asked: bool) -> _Loop:
    """Read structures of four floats member by member, as vectors of which every fourth element is wanted; `asked`: each line is asked for first."""
    type, chains = "<16 x float>", 4
    wanted = ", ".join(f"i1 {str(i % 4 == 0).lower()}" for i in range(16))
    body = ["  %at = getelementptr i8, ptr %p, i64 %i", *_lines("%at", "q", _CROSSED, _LINE)]
    if asked:
        body += [f"  call void @llvm.prefetch.p0(ptr %q{k}, i32 0, i32 3, i32 1)" for k in range(_CROSSED)]
    last = [f"%a{i}" for i in range(chains)]
    for member in range(4):
        for k in range(_CROSSED):
            name, chain = f"{member}_{k}", k % chains
            body.append(f"  %p{name} = getelementptr i8, ptr %q{k}, i64 {4 * member}")
            body.append(
                f"  %l{name} = call {type} @llvm.masked.load.v16f32.p0(ptr align 4 %p{name}, <16 x i1> <{wanted}>, {type} zeroinitializer)"
            )
            body.append(f"  %s{name} = fadd {type} {last[chain]}, %l{name}")
            last[chain] = f"%s{name}"
    return _Loop(16, body, tuple(last), _CROSSED * _LINE)


def _stores(masked: bool) -> _Loop:
    """Store vectors into the first cache, all lanes of them, under a mask that nobody but the processor knows, or plainly."""
    before = "  %bits = load <8 x i32>, ptr %p\n  %on = icmp eq <8 x i32> %bits, zeroinitializer\n  %room = getelementptr i8, ptr %p, i64 4096"
    body = [f"  %k = and i64 %i, {_TABLE}", f"  %o = mul i64 %k, {_LINE}", "  %t = getelementptr i8, ptr %room, i64 %o"]
    if masked:
        body.append(
            "  call void @llvm.masked.store.v8f32.p0(<8 x float> splat (float 1.0), ptr align 4 %t, <8 x i1> %on)"
        )
    else:
        body.append("  store volatile <8 x float> splat (float 1.0), ptr %t, align 4")
    return _Loop(8, body, before=before)


def _lines(base: str, name: str, count: int, stride: int) -> list[str]:
    return [f"  %{name}{k} = getelementptr i8, ptr {base}, i64 {k * stride}" for k in range(count)]


def _sum(lanes: int, count: int) -> list[str]:
    """Add up the vectors %l0, %l1 ...; the result is %s`count`."""
    type = f"<{lanes} x float>"
    names = ["%a0", *(f"%s{k + 1}" for k in range(count))]
    return [f"  {names[k + 1]} = fadd {type} {names[k]}, %l{k}" for k in range(count)]


def _read(lanes: int) -> _Loop:
    type, size = f"<{lanes} x float>", 4 * lanes
    loads = [f"  %l{k} = load {type}, ptr %q{k}, align {size}" for k in range(_AT_ONCE)]
    body = [
        "  %at = getelementptr i8, ptr %p, i64 %i",
        *_lines("%at", "q", _AT_ONCE, size),
        *loads,
        *_sum(lanes, _AT_ONCE),
    ]
    return _Loop(lanes, body, (f"%s{_AT_ONCE}",), _AT_ONCE * size)


def _copy(lanes: int, hint: str) -> _Loop:
    """Copy to `place` what lies 32 MiB behind it: whole lines, as stores past the caches are."""
    type, size = f"<{lanes} x float>", 4 * lanes
    source = f"  %source = getelementptr i8, ptr %p, i64 {max(STORED) << 20}"
    body = ["  %from = getelementptr i8, ptr %source, i64 %i", "  %to = getelementptr i8, ptr %p, i64 %i"]
    body += [*_lines("%from", "q", _AT_ONCE, size), *_lines("%to", "r", _AT_ONCE, size)]
    body += [f"  %l{k} = load {type}, ptr %q{k}, align {size}" for k in range(_AT_ONCE)]
    body += [f"  store {type} %l{k}, ptr %r{k}, align {size}{hint}" for k in range(_AT_ONCE)]
    return _Loop(lanes, body, step=_AT_ONCE * size, before=source)


def _clear(lanes: int) -> _Loop:
    """Store zeros past the caches, which then hold nothing of it."""
    type, size = f"<{lanes} x float>", 4 * lanes
    stores = [f"  store {type} zeroinitializer, ptr %q{k}, align {size}, !nontemporal !0" for k in range(_AT_ONCE)]
    body = ["  %at = getelementptr i8, ptr %p, i64 %i", *_lines("%at", "q", _AT_ONCE, size), *stores]
    return _Loop(lanes, body, step=_AT_ONCE * size)


def _ahead(lanes: int, kib: int, beside: bool = False) -> _Loop:
    """Read slices far apart, and ask for those that so many KiB of slices lie ahead; `beside`: and for the slice behind each."""
    type, size = f"<{lanes} x float>", 4 * lanes
    count, asked, ahead = SLICE // size, SLICE // _LINE, (kib << 10) // SLICE * DISTANCE
    body = ["  %at = getelementptr i8, ptr %p, i64 %i", f"  %next = getelementptr i8, ptr %at, i64 {ahead}"]
    body += _lines("%next", "w", asked, _LINE)
    body += [f"  call void @llvm.prefetch.p0(ptr %w{k}, i32 0, i32 2, i32 1)" for k in range(asked)]
    if beside:
        body += [f"  %beside = getelementptr i8, ptr %at, i64 {SLICE}", *_lines("%beside", "x", asked, _LINE)]
        body += [f"  call void @llvm.prefetch.p0(ptr %x{k}, i32 0, i32 2, i32 1)" for k in range(asked)]
    body += [*_lines("%at", "q", count, size)]
    body += [f"  %l{k} = load {type}, ptr %q{k}, align {size}" for k in range(count)]
    return _Loop(lanes, [*body, *_sum(lanes, count)], (f"%s{count}",), DISTANCE)

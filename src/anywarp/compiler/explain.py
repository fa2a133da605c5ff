"""Why a kernel's code is as it is, in words: what lanes share, how each access reaches memory, where they part, what spilled.

Whoever tunes a kernel needs the reason, with the line; everything here is read from the very analysis that made the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from anywarp.compiler.attributes import InSpace, MemoryAccess, Parameter
from anywarp.compiler.cfg import ControlFlow, Loop, control_flow
from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Undefined, Value
from anywarp.compiler.places import Place, Places
from anywarp.compiler.shapes import Analysis, Shape
from anywarp.compiler.simd.addresses import SIZE, signed
from anywarp.compiler.simd.adjacent import find_groups, find_plausible
from anywarp.compiler.simd.local_memory import lanes_apart
from anywarp.compiler.simd.spills import Traffic, register_traffic
from anywarp.compiler.simd.streams import find_streams
from anywarp.compiler.simd.values import Values
from anywarp.compiler.stages import Compiled
from anywarp.diagnostics import Source
from anywarp.ptx.isa.ops import BITS

ACCESSES = frozenset({"load", "store", "atomic"})
_SEARCH = 2000
_LISTED = 4
"""Places shown in full of which the same is to be said."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An access or a branch: where, of which kind, and why in words."""

    place: Place | None
    kind: str
    words: str


@dataclass(slots=True)
class Part:
    """A loop, or what is outside all loops: its lines in the PTX, and what was found there, inner loops apart."""

    name: str
    depth: int = 0
    lines: tuple[int, int] | None = None
    findings: list[Finding] = field(default_factory=list[Finding])
    traffic: Traffic | None = None


@dataclass(slots=True)
class Explanation:
    """All that is said of one compiled kernel."""

    facts: list[str]
    parts: list[Part]

    def as_text(self) -> str:
        """Render for people."""
        lines = list(self.facts)
        for part in self.parts:
            where = f", lines {part.lines[0]} to {part.lines[1]}" if part.lines else ""
            lines += ["", f"{part.name}{where}"]
            lines += list(_findings_text(part.findings)) or ["  no accesses and no branches"]
            lines += [f"  {words}" for words in _traffic_words(part.traffic)]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        parts = [{**asdict(p), "traffic": _traffic_json(p.traffic)} for p in self.parts]
        return {"facts": self.facts, "parts": parts}


def _findings_text(findings: list[Finding]) -> Iterator[str]:
    """Render findings; those of which the same is to be said stand together."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.kind, finding.words), []).append(finding)
    for (kind, words), group in groups.items():
        places = [f.place for f in group if f.place is not None]
        for place in places[:_LISTED]:
            source = f" ({place.source})" if place.source else ""
            yield f"  line {place.line}{source}  {place.instruction}"
        if len(places) > _LISTED:
            rest = ", ".join(str(p.line) for p in places[_LISTED:])
            yield f"  and {len(places) - _LISTED} more, lines {rest}"
        yield f"      {kind}: {words}"


def explain(compiled: Compiled, source: Source) -> Explanation:
    """Explain a compiled kernel; `source` is the text it comes from."""
    return _Explainer(compiled, source).run()


class _Explainer:
    def __init__(self, compiled: Compiled, source: Source) -> None:
        self.c = compiled
        self.kernel: Kernel = compiled.kernel
        self.analysis: Analysis = compiled.analysis
        self.places = Places(source)
        self.flow: ControlFlow = control_flow(self.kernel)
        self.chunk = compiled.simd.machine.chunk
        self.traffic = register_traffic(compiled.assembly())
        values = Values(compiled.kernel, compiled.analysis, compiled.specialisation, compiled.simd.machine)
        self.values = values
        self.plausible = find_plausible(values)
        self.groups = find_groups(compiled.kernel)
        self.local = (0, 1) if values.single else lanes_apart(values)

    def run(self) -> Explanation:
        parts = [
            self._part(None, "outside loops", [b for i, b in enumerate(self.flow.blocks) if self._loop(i) is None])
        ]
        for loop in sorted(self.flow.loops, key=lambda loop: loop.header):
            own = [b for i, b in enumerate(self.flow.blocks) if self._loop(i) is loop]
            parts.append(self._part(loop, self._loop_name(loop), own))
        return Explanation(list(self._facts()), parts)

    def _loop(self, number: int) -> Loop | None:
        return self.flow.nest.innermost[number]

    # --- the whole kernel ---------------------------------------------------------------------------------------------

    def _facts(self) -> Iterator[str]:
        c, machine = self.c, self.c.simd.machine
        shape = c.specialisation.block
        block = " x ".join(map(str, shape)) if shape else "any number of"
        yield f"kernel {self.kernel.name} for blocks of {block} threads, on {c.simd.cpu}"
        lanes = c.specialisation.lanes
        jammed = f" ({lanes // 32} warps jammed)" if lanes > 32 else ""
        together = f"{lanes} lanes are computed together{jammed}, in vectors of {machine.vector_bits} bits ({self.chunk} lanes of 32 bits)"
        yield (
            f"{together if lanes > 1 else 'each lane runs on its own, from one barrier to the next'}; "
            f"{len(c.artifact.object) / 1024:.0f} KiB of object code, compiled in {c.artifact.compile_ms:.0f} ms"
        )
        yield self._value_counts()
        for offset, size, modulus in c.artifact.variant:
            yield (
                f"{self._parameter(offset, size)}: if it is a multiple of {modulus}, lanes are closer to each other; "
                "launches in which it is get code of their own"
            )
        yield from c.artifact.notes
        yield from self._choices()
        total = Traffic()
        for one in self.traffic.values():
            total.spills += one.spills
            total.reloads += one.reloads
            total.vector_spills += one.vector_spills
            total.vector_reloads += one.vector_reloads
        yield from _traffic_words(total, "in all: ")

    def _choices(self) -> Iterator[str]:
        """What the processor does by a mode, and what rests on its speed, and whether that was measured."""
        if self.kernel.flushes:
            yield "subnormal f32 numbers are flushed by the processor's mode, for all of the kernel's arithmetic flushes them"
        tuning = self.c.simd.machine.tuning
        how = "measured" if tuning.measured else "not measured yet"
        if find_streams(self.values):
            yield f"stores past the caches from {tuning.stream} MiB at one place on: {how}"
        if not tuning.gathers:
            yield f"lanes anywhere are read one by one, which is quicker than gathers here: {how}"

    def _parameter(self, offset: int, size: int) -> str:
        found = next((p.name for p in self.kernel.params if p.offset <= offset < p.offset + p.size), "?")
        return f"parameter {found} (offset {offset}, {size} bytes)"

    def _value_counts(self) -> str:
        same = linear = guarded = varying = 0
        for block in self.kernel.blocks:
            for value in (*block.phis, *block.ops):
                if isinstance(value, Op) and value.name in ("store", "fence"):
                    continue
                shape = self.analysis.shapes.get(value)
                if shape is None:
                    continue
                same += shape.uniform
                linear += not shape.uniform and not shape.varying
                guarded += value in self.analysis.guarded and shape.varying
                varying += shape.varying and value not in self.analysis.guarded
        text = f"values: {same} the same in all lanes (scalar), {linear} with known steps between lanes (scalar)"
        text += (
            f", {guarded} with such steps unless 32-bit arithmetic wraps round or a bound is met (tested)"
            if guarded
            else ""
        )
        return f"{text}, {varying} different in every lane (vectors)"

    # --- a loop, or what is outside -----------------------------------------------------------------------------------

    def _loop_name(self, loop: Loop) -> str:
        header = self.flow.blocks[loop.header]
        apart = header in self.analysis.divergent_loops
        how = "lanes leave it at different trips" if apart else "all lanes make the same trips"
        return f"loop at depth {loop.depth}: {how}"

    def _part(self, loop: Loop | None, name: str, blocks: list[Block]) -> Part:
        part = Part(name, loop.depth if loop else 0, self._lines(loop))
        for block in blocks:
            part.findings += [self._access(op) for op in block.ops if op.name in ACCESSES]
            if block.terminator.name == "branch":
                part.findings.append(self._branch(block))
            if block.terminator.name == "barrier" and block in self.analysis.staggered_barriers:
                words = "lanes of one warp may wait here at different times: each keeps its own state"
                part.findings.append(Finding(self._place(block.terminator.span), "barrier", words))
        part.traffic = self._traffic_of(loop)
        return part

    def _lines(self, loop: Loop | None) -> tuple[int, int] | None:
        if loop is None:
            return None
        spans = [op.span for i in loop.blocks for op in self.flow.blocks[i].ops if op.span is not None]
        lines = [self.places.line(span) for span in spans]
        return (min(lines), max(lines)) if lines else None

    def _traffic_of(self, loop: Loop | None) -> Traffic | None:
        """The machine's loop whose innermost kernel loop is `loop`."""
        for header, traffic in self.traffic.items():
            if loop is None:
                if header is None:
                    return traffic
            elif loop.header in traffic.blocks and traffic.blocks <= loop.blocks:
                return traffic
        return None

    def _place(self, span: Any) -> Place | None:
        return None if span is None else self.places.at(span)

    # --- branches -----------------------------------------------------------------------------------------------------

    def _branch(self, block: Block) -> Finding:
        end, place = block.terminator, self._place(block.terminator.span)
        condition = end.args[0]
        assert condition is not None
        if isinstance(condition, Op) and (place is None or "bra" not in place.instruction):
            place = self._place(condition.span)  # what became a branch when instructions were expanded
        if block in self.analysis.divergent_branches:
            reason = self._reason(condition)
            return Finding(place, "varying branch", f"both ways are run under masks, unless all lanes agree; {reason}")
        shape = self._shape(condition)
        if shape is not None and shape.offsets is not None and shape.modulus > 1 and not shape.symbols:
            return Finding(place, "decided branch", "known for each lane when compiled")
        return Finding(place, "uniform branch", "all lanes go the same way: one scalar test")

    # --- accesses -----------------------------------------------------------------------------------------------------

    def _shape(self, value: Value) -> Shape | None:
        return self.analysis.shapes.get(value)

    def _access(self, op: Op) -> Finding:
        element = op.args[1].type if op.name != "load" and len(op.args) > 1 else op.type
        size = SIZE.get(element, 4) * (MemoryAccess.of(op).count if op.name != "atomic" else 1)
        address, place = op.args[0], self._place(op.span)
        shape = self._shape(address) or Shape((0,) * self.analysis.lanes)
        tested = ""
        guarded = self.analysis.guarded.get(address)
        if shape.varying and guarded is not None:
            why = "where a bound is met" if guarded.bounded else "if 32-bit index arithmetic wraps round"
            shape, tested = guarded.shape, f"; a gather {why}, which is tested"
        elif shape.varying and address in self.plausible and op.name != "atomic" and op.guard is None:
            tested = "; lanes that are found side by side are accessed as a vector, which is tested each time"
        width = BITS[address.type]
        if InSpace.of(op).space == "local":
            shape, width = self._in_local_memory(shape, width), 64
        kind, words = self._how(shape, size, width)
        if InSpace.of(op).space == "local" and self.local[1] > 1:
            words += "; local memory has all lanes' copies of an element side by side"
        if shape.varying:
            words += f"; {self._reason(address)}"
        if op in self.groups and kind in ("strided", "gather", "scattered"):
            words += f"; {len(self.groups[op])} neighbours of each lane are read at once where all lanes are active"
        what = f"{InSpace.of(op).space} {op.name}"
        if op.name == "atomic" and kind not in ("one address", "gather"):
            kind = f"lane by lane ({kind})"
        return Finding(place, f"{what}, {kind}", words + tested)

    def _in_local_memory(self, shape: Shape, width: int) -> Shape:
        """Return where lanes go that access places of their own memories, of which `shape` is known."""
        apart, spread = self.local
        if shape.offsets is None:
            return shape
        offsets = tuple(signed(o, width) * spread + lane * apart for lane, o in enumerate(shape.offsets))
        return Shape(
            offsets, tuple((s, tuple(signed(f, width) * spread for f in factors)) for s, factors in shape.symbols)
        )

    def _how(self, shape: Shape, size: int, width: int) -> tuple[str, str]:
        """Name the kind of an access and say what is known of its addresses."""
        if shape.offsets is None:
            return "gather", "each lane may access any address"
        if shape.uniform:
            return "one address", "all lanes access the same place: one scalar access"
        offsets = [signed(o, width) for o in shape.offsets]
        firsts = range(0, len(offsets), self.chunk)
        found = [_pattern(shape, offsets, first, self.chunk, size) for first in firsts]
        if all(found):
            return self._vector_words(found, offsets, size)
        if shape.symbols:
            steps = " and ".join(self._symbol(s) for s, _ in shape.symbols)
            return "strided", f"the step between lanes depends on {steps}: lanes are loaded one by one or gathered"
        if shape.stride is not None:
            return (
                "strided",
                f"lanes lie {signed(shape.stride, width)} bytes apart: a gather with known offsets, or rows transposed",
            )
        return "scattered", "the offsets between lanes are known but follow no step: a gather with known offsets"

    def _vector_words(self, found: list[str], offsets: list[int], size: int) -> tuple[str, str]:
        step = all(b - a == size for a, b in pairwise(offsets))
        if step:
            return "vector", f"lanes lie side by side ({size} bytes each): {len(found)} vector accesses"
        if all(f == "same" for f in found):
            return "broadcast", f"each group of {self.chunk} lanes shares an address: {len(found)} scalar accesses"
        return "pieces", f"each group of {self.chunk} lanes is side by side or shares an address, groups lie elsewhere"

    def _symbol(self, value: Value) -> str:
        if isinstance(value, Op) and value.name == "param":
            return self._parameter(Parameter.of(value).offset, BITS[value.type] // 8)
        names = {
            self._parameter(Parameter.of(v).offset, BITS[v.type] // 8)
            for v in _sources(value)
            if isinstance(v, Op) and v.name == "param"
        }
        return ", ".join(sorted(names)) or "a value that all lanes share"

    # --- reasons ------------------------------------------------------------------------------------------------------

    def _reason(self, value: Value) -> str:
        """Say which operation made `value` differ from lane to lane without a known step."""
        seen: set[Value] = set()
        while value not in seen and len(seen) < _SEARCH:
            seen.add(value)
            if isinstance(value, Phi):
                following = self._varying(value.incoming.values())
                if not following:
                    return f"lanes come to {self._at(value)} by different ways"
            else:
                assert isinstance(value, Op)
                if value.name in ("load", "atomic", "shuffle", "host_call", "match_any"):
                    return f"it depends on the {value.name} at {self._at(value)}"
                following = self._varying(value.args)
                if not following:
                    return self._breaks(value)
            value = next((f for f in following if f not in seen), following[0])
        return "it goes round a loop that lanes may leave apart"

    def _breaks(self, op: Op) -> str:
        if op.name in ("icmp", "fcmp"):
            return f"it compares a value that steps from lane to lane, at {self._at(op)}"
        return f"the steps between lanes are lost in the {op.name} at {self._at(op)}"

    def _varying(self, values: Iterable[Value]) -> list[Value]:
        out: list[Value] = []
        for value in values:
            shape = self._shape(value)
            if not isinstance(value, Const | Undefined) and shape is not None and shape.varying:
                out.append(value)
        return out

    def _at(self, value: Op | Phi) -> str:
        if isinstance(value, Op) and value.span is not None:
            return f"line {self.places.line(value.span)}"
        home = next((b for b in self.kernel.blocks if value in b.phis or value in b.ops), None)
        spans = [op.span for op in home.ops] + [home.terminator.span] if home else []
        span = next((span for span in spans if span is not None), None)
        return f"line {self.places.line(span)}" if span is not None else "a join"


def _pattern(shape: Shape, offsets: list[int], first: int, count: int, size: int) -> str:
    """Classify consecutive lanes as emission does: "same" address, "next" to each other, or "" neither."""
    if any(len(set(factors[first : first + count])) > 1 for _, factors in shape.symbols):
        return ""
    part = offsets[first : first + count]
    if all(o == part[0] for o in part):
        return "same"
    return "next" if all(o == part[0] + i * size for i, o in enumerate(part)) else ""


def _sources(value: Value) -> Iterator[Value]:
    """What `value` is computed from."""
    work, seen = [value], set[Value]()
    while work and len(seen) < _SEARCH:
        one = work.pop()
        if one in seen:
            continue
        seen.add(one)
        yield one
        if isinstance(one, Op):
            work += one.args


def _traffic_words(traffic: Traffic | None, prefix: str = "") -> list[str]:
    if traffic is None or not (traffic.spills or traffic.reloads):
        return []
    return [
        f"{prefix}{traffic.spills} spills and {traffic.reloads} reloads of registers "
        f"({traffic.vector_spills} and {traffic.vector_reloads} of whole vectors)"
    ]


def _traffic_json(traffic: Traffic | None) -> dict[str, int] | None:
    if traffic is None:
        return None
    return {
        "spills": traffic.spills,
        "reloads": traffic.reloads,
        "vector_spills": traffic.vector_spills,
        "vector_reloads": traffic.vector_reloads,
    }

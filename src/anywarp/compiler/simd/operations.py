"""One operation of the kernel IR as LLVM IR: a scalar operation on lane 0's values, or one per chunk of lanes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from anywarp.compiler.attributes import InSpace, Parameter, Signed, Special, Symbol
from anywarp.compiler.ir import PURE, Block, Const, Op, Phi, Undefined, Value, speculatable
from anywarp.compiler.regions import DEAR
from anywarp.compiler.simd import integers
from anywarp.compiler.simd.addresses import SIZE
from anywarp.compiler.simd.approximate import approximate
from anywarp.compiler.simd.atomics import Atomics
from anywarp.compiler.simd.check import emit_check
from anywarp.compiler.simd.copies import Copies
from anywarp.compiler.simd.matrix import Matrix
from anywarp.compiler.simd.memory import Memory
from anywarp.compiler.simd.special import Launch, emit_special, field_at, in_launch, per_block
from anywarp.compiler.simd.text import LLVM_TYPE, Text, constant_vector, vector_type
from anywarp.compiler.simd.texture import emit_texture
from anywarp.compiler.simd.values import Values
from anywarp.compiler.simd.warp import Warp
from anywarp.ptx.isa.ops import BITS

_INTEGER: dict[str, Callable[..., str]] = {
    **dict.fromkeys(("add", "sub", "mul", "and", "or", "xor"), integers.binary),
    **dict.fromkeys(("shl", "lshr", "ashr"), integers.shift),
    **dict.fromkeys(("min", "max"), integers.extreme),
    **dict.fromkeys(("ctpop", "ctlz", "cttz", "bitreverse"), integers.count),
    **dict.fromkeys(("trunc", "zext", "sext"), integers.resize),
    **dict.fromkeys(("div", "rem"), integers.divide),
    "not": integers.invert,
    "icmp": integers.compare,
    "select": integers.select,
    "bitcast": integers.bitcast,
    "mulhi": integers.multiply_high,
}

_OF_EACH_LANE = PURE | {"load", "store"}
"""Operations that lanes do each on its own; ordered and volatile accesses are seen for what they are in their lines."""

_STRIP, _RUN = 4, 4
"""Chunks that operations of a run work on at once, and operations that make a run."""


class Operations:
    """Emits operations of the block that `values` says is being emitted."""

    def __init__(self, values: Values, at: Launch) -> None:
        self.v = values
        self.at = at
        self.t: Text = values.t
        values.compute_by(self.compute)
        self.memory = Memory(values, at)
        self.atomics = Atomics(values, self.memory, at)
        self.warp = Warp(values, self.memory)
        self.matrix = matrix = Matrix(values, self.memory)
        self.copies = Copies(values, self.memory)
        f = values.floats
        self._float: dict[str, Callable[..., str]] = {
            **dict.fromkeys(("fadd", "fsub", "fmul", "fma", "fdiv", "fsqrt"), f.arithmetic),
            **dict.fromkeys(("fneg", "fabs"), f.sign),
            **dict.fromkeys(("fmin", "fmax"), f.extreme),
            "fcmp": f.compare, "fround": f.round, "flush": f.flush,
            "approximate": self._approximate, "dot4": self._dot4,
            "fconvert": f.convert, "int_to_float": f.from_int, "float_to_int": f.to_int,
        }  # fmt: skip
        self._own: dict[str, Callable[[Op], None]] = {
            "special": lambda op: emit_special(values, at, op),
            "param": self._param,
            "symbol": self._symbol,
            "element": lambda op: None,  # defined with its load
            "to_generic": self._convert_address,
            "from_generic": self._convert_address,
            "is_space": self._is_space,
            "load": self.memory.load,
            "store": self.memory.store,
            "atomic": self.atomics.atomic,
            "fence": self.atomics.fence,
            "host_call": self.atomics.host_call,
            "texture": lambda op: emit_texture(values, self.memory, at, op),
            "converge": lambda op: None,  # done where masked code begins a block
            "check": lambda op: emit_check(values, self.memory, at, op),
            "shuffle": self.warp.shuffle,
            "ballot": self.warp.ballot,
            "match_any": self.warp.match_any,
            "reduce": self.warp.reduce,
            "matrix": matrix.product,
            "matrix_load": matrix.load,
        }

    def emit(self, op: Op) -> None:
        """Emit an operation and define its value, unless that was hoisted or is made where it is used."""
        if op not in self.v.hoisted and not self.v.lazy(op):
            self._emit(op)

    def emit_run(self, ops: list[Op], start: int) -> int:
        """Emit the operations from `start` on that work lane by lane, some chunks of all before other chunks; returns how far.

        Chunk after chunk, what is alive between two operations stays in registers however wide the gang is.
        """
        v = self.v
        if v.chunks <= _STRIP:
            return start
        run: list[Op] = []
        made: set[Value] = set()
        end = start
        for op in ops[start:]:
            if op in v.conditions or op.guard is not None:
                break
            if op not in v.hoisted and not v.lazy(op):
                if not self._lane_by_lane(op, made):
                    break
                run.append(op)
                made.add(op)
            end += 1
        if len(run) < _RUN:
            return start
        inputs = {a: v.vector(a) for op in run for a in op.args if a not in made}
        results: dict[Value, list[str]] = {op: [] for op in run}
        for first in range(0, v.chunks, _STRIP):
            for op in run:
                how = _INTEGER.get(op.name)
                for i in range(first, first + _STRIP):
                    column = [(results[a] if a in made else inputs[a])[i] for a in op.args]
                    one = how(self.t, op, v.chunk, *column) if how else self._float[op.name](op, v.chunk, *column)
                    results[op].append(one)
        for op in run:
            v.define(op, None, results[op])
            if op.type == "f32":
                self.memory.computed_last(results[op])
        return end

    def _lane_by_lane(self, op: Op, made: set[Value]) -> bool:
        """Tell whether an operation on chunks needs nothing but chunks that are there, or that operations of the run make."""
        v = self.v
        if op.name in ("div", "rem") or not (op.name in _INTEGER or op.name in self._float) or not v.varies(op):
            return False
        return all(a in made or a in v.registers.vectors or self._at_hand(a) for a in op.args)

    def _at_hand(self, value: Value) -> bool:
        """Tell whether a value's chunks can be had at any place of the block: they are made of scalars, or in variables."""
        v = self.v
        if not isinstance(value, (Op, Phi)):
            return True
        return not v.lazy(value) and not v.has_first(value) and (not v.varies(value) or v.home[value] is not v.block)

    def compute(self, op: Op, wide: bool) -> None:
        """Emit a lazy operation: lane 0's value, or all lanes'."""
        v = self.v
        if op.name in ("to_generic", "from_generic"):
            self._rebase(op, "add" if op.name == "to_generic" else "sub", wide)
            return
        how = _INTEGER[op.name]
        if not wide:
            v.hold_scalar(op, how(self.t, op, 0, *(v.scalar(a) for a in op.args)))
        else:
            columns = zip(*(v.vector(a) for a in op.args), strict=True)
            v.hold_chunks(op, [how(self.t, op, v.chunk, *column) for column in columns])

    def _emit(self, op: Op) -> None:
        if op.span is not None:
            self.t.at(op.span.start)
        self.memory.next_operation()
        if op.name not in _OF_EACH_LANE:
            self.t.wall()
            self._emit_any(op)
            self.t.wall()
            return
        self._emit_any(op)

    def _emit_any(self, op: Op) -> None:
        if op in self.copies.loads:
            return  # made with the store
        if op in self.copies.stores:
            self.copies.emit(op)
            return
        own = self._own.get(op.name)
        if own is not None:
            own(op)
            return
        how = _INTEGER.get(op.name)
        v = self.v
        if how is None and op.name not in self._float:
            raise NotImplementedError(f"operation {op.name}")
        if not v.varies(op):
            args = [v.scalar(a) for a in op.args]
            v.define(op, how(self.t, op, 0, *args) if how else self._float[op.name](op, 0, *args))
            return
        if (
            op.name in ("div", "rem")
            and op.type == "i32"
            and isinstance(op.args[1], Op | Phi)
            and v.is_scalar(op.args[1])
        ):
            by = integers.make_divisor(self.t, v.scalar(op.args[1]), Signed.of(op).signed)
            spread = partial(v.splat, "i32")
            v.define(op, None, [integers.divide_by(self.t, op, v.chunk, a, by, spread) for a in v.vector(op.args[0])])
            return
        columns = zip(*(v.vector(a) for a in op.args), strict=True)
        if how:
            v.define(op, None, [how(self.t, op, v.chunk, *column) for column in columns])
        else:
            chunks = [self._float[op.name](op, v.chunk, *column) for column in columns]
            v.define(op, None, chunks)
            if op.type == "f32":
                self.memory.computed_last(chunks)

    def _dot4(self, op: Op, n: int, a: str, b: str, c: str) -> str:
        machine = self.v.machine
        return integers.dot4(self.t, op, n, a, b, c, machine.vnni, machine.avx2)

    def _approximate(self, op: Op, n: int, a: str) -> str:
        return approximate(self.t, self._plain, self.v.machine.avx512, op, n, a)

    def _plain(self, op: Op, n: int, args: list[str]) -> str:
        """Emit a pure operation of the expansion of another."""
        how = _INTEGER.get(op.name)
        return how(self.t, op, n, *args) if how else self._float[op.name](op, n, *args)

    # --- what can be computed once per block, or again anywhere -----------------------------------------------------

    def hoist(self, blocks: list[Block]) -> None:
        """Emit here all that is one value for the whole block of threads; it is then at hand everywhere."""
        v = self.v
        state = v.snapshot()
        for block in blocks:
            for op in block.ops:
                if self._per_block(op):
                    self._emit(op)
                    v.hoist(op, v.registers.scalars[op])
        for symbol in v.symbols():
            v.hoist(symbol, v.scalar(symbol))
        v.restore(state)

    def _per_block(self, op: Op) -> bool:
        if not speculatable(op) or op.name == "element" or v_varies(self.v, op) or not self.v.shape(op).uniform:
            return False
        if op.name == "special" and not per_block(Special.of(op).name):
            return False
        if op.name in ("to_generic", "from_generic", "is_space") and InSpace.of(op).space == "local":
            return False
        return all(isinstance(a, (Const, Undefined)) or a in self.v.hoisted for a in op.args)

    def repeatable(self, value: Value, budget: int = 8) -> bool:
        """Tell whether computing a value again from launch constants costs less than keeping it in memory."""
        return self._cost(value, budget) <= budget

    def _cost(self, value: Value, budget: int) -> int:
        if isinstance(value, (Const, Undefined)) or value in self.v.hoisted:
            return 0
        if not isinstance(value, Op) or not speculatable(value) or value.name in DEAR:
            return budget + 1
        if value in self.v.temporal_loop:
            return budget + 1
        if self.v.lazy(value):
            return sum(self._cost(a, budget) for a in value.args)
        cost = 2 if self.v.varies(value) else 1
        for a in value.args:
            if cost > budget:
                break
            cost += self._cost(a, budget - cost)
        return cost

    def repeat(self, value: Value) -> None:
        """Compute a repeatable value again here."""
        v = self.v
        if (
            isinstance(value, Op)
            and value not in v.hoisted
            and value not in v.registers.scalars
            and value not in v.registers.vectors
        ):
            for a in value.args:
                self.repeat(a)
            self.emit(value)  # nothing for a lazy one: its operands are what is needed

    # --- addresses and launch constants ----------------------------------------------------------------------------

    def _param(self, op: Op) -> None:
        pointer = field_at(self.v, self.at.params, Parameter.of(op).offset)
        if op.type == "i1":
            raise NotImplementedError("parameter of type i1")
        self.v.define(
            op, self.t.let(f"load {LLVM_TYPE[op.type]}, ptr {pointer}, align {SIZE[op.type]}, !invariant.load !0")
        )

    def _symbol(self, op: Op) -> None:
        offset = Symbol.of(op).offset
        if InSpace.of(op).space in ("global", "const"):
            base = self.t.cast("ptrtoint", "ptr", self.at.data, "i64")
            place = self.t.two("add", "i64", base, str(offset)) if offset else base
            type = LLVM_TYPE[op.type]
            self.v.define(op, place if type == "i64" else self.t.cast("trunc", "i64", place, type))
        else:
            self.v.define(op, self.t.two("add", LLVM_TYPE[op.type], "0", str(offset)))

    def _own_base(self, op: Op) -> tuple[str, int]:
        """Return the generic address (i64) at which a space begins for lane 0, "" if flat, and its step per lane."""
        space = InSpace.of(op).space
        return self.memory.space_base(space), self.v.kernel.local_bytes if space == "local" else 0

    def _rebase(self, op: Op, name: str, wide: bool) -> None:
        v, t = self.v, self.t
        base, step = self._own_base(op)
        source = op.args[0]
        width = BITS[source.type]

        def convert(n: int, a: str, start: str, lanes: str) -> str:
            type = vector_type("i64", n)
            if width < 64:
                a = t.cast("zext", vector_type(f"i{width}", n), a, type)
            if start:
                a = t.two(name, type, a, start)
            if lanes:
                a = t.two(name, type, a, lanes)
            return a if BITS[op.type] == 64 else t.cast("trunc", type, a, vector_type(op.type, n))

        if not wide:
            v.hold_scalar(op, convert(0, v.scalar(source), base, ""))
            return
        spread = v.splat("i64", base) if base else ""
        out: list[str] = []
        for i, chunk in enumerate(v.vector(source)):
            lanes = range(i * v.chunk, (i + 1) * v.chunk)
            out.append(
                convert(v.chunk, chunk, spread, constant_vector("i64", [l * step for l in lanes]) if step else "")
            )
        v.hold_chunks(op, out)

    def _convert_address(self, op: Op) -> None:
        wide = self.v.varies(op)
        self._rebase(op, "add" if op.name == "to_generic" else "sub", wide)
        if wide:
            self.v.define(op, None, self.v.registers.vectors[op])
        else:
            self.v.define(op, self.v.registers.scalars[op])

    def _is_space(self, op: Op) -> None:
        """Compare with the bounds of the block's memories; what is in none of them is global."""
        v, t = self.v, self.t

        def bounds(space: str) -> tuple[str, str]:
            if space == "shared":
                size = t.let(f"load i32, ptr {in_launch(v, self.at, 'shared_total')}")
                return t.cast("ptrtoint", "ptr", self.at.shared, "i64"), t.cast("zext", "i32", size, "i64")
            if space == "local":
                size = t.two("mul", "i32", self.at.threads, str(v.kernel.local_bytes))
                return t.cast("ptrtoint", "ptr", self.at.local, "i64"), t.cast("zext", "i32", size, "i64")
            return t.cast("ptrtoint", "ptr", self.at.params, "i64"), str(v.kernel.param_bytes)

        space = InSpace.of(op).space
        if space == "const":  # const variables lie in the module's data, beside global ones
            start, size = (
                t.cast("ptrtoint", "ptr", self.at.data, "i64"),
                t.let(f"load i64, ptr {in_launch(v, self.at, 'module_data_bytes')}"),
            )
            ranges = [(start, size)]
        else:
            ranges = [bounds(s) for s in (("shared", "local", "param") if space == "global" else (space,))]

        def test(n: int, a: str) -> str:
            type, mask = vector_type("i64", n), vector_type("i1", n)
            found = ""
            for start, size in ranges:
                first, extent = (v.splat("i64", start), v.splat("i64", size)) if n else (start, size)
                inside = t.two("icmp ult", type, t.two("sub", type, a, first), extent)
                found = t.two("or", mask, found, inside) if found else inside
            return t.two("xor", mask, found, "splat (i1 true)" if n else "true") if space == "global" else found

        source = op.args[0]
        if not v.varies(op):
            v.define(op, test(0, v.scalar(source)))
        else:
            v.define(op, None, [test(v.chunk, a) for a in v.vector(source)])


def v_varies(values: Values, op: Op) -> bool:
    """Tell whether an operation's value is held as chunks."""
    return values.varies(op)

"""Kernels built by hand from the IR, with a small analysis of their own, for tests of the back end alone."""

from __future__ import annotations

from anywarp.compiler.ir import Block, Const, Kernel, Op, Param, Phi, Specialisation, Terminator, Value
from anywarp.compiler.operation_table import ENDINGS, OPERATIONS
from anywarp.compiler.shapes import VARYING, Analysis, Shape, uniform
from anywarp.compiler.simd.target import this_machine
from anywarp.devices.cpu.execute import Loaded, pack_arguments, three

LANES = 32
STEPS = Shape(tuple(range(LANES)))


def i32(x):
    return Const("i32", x)


def i64(x):
    return Const("i64", x)


def attributes(name, given):
    """The attributes of an operation, where those of accesses need not all be given."""
    usual = {"atomic": {"order": "relaxed", "scope": "gpu", "returns": True}, "load": {}, "store": {}}.get(name, {})
    return OPERATIONS[name].attributes(**{**usual, **given})


class Build:
    """Appends operations to the current block; all values vary unless a shape is given."""

    def __init__(self, name="k", params=()):
        self.kernel = Kernel(name, [], [Param(f"p{i}", o, s, s) for i, (o, s) in enumerate(params)])
        self.kernel.param_bytes = max((o + s for o, s in params), default=0)
        self.shapes = {}
        self.temporal = set()
        self.block = self.new("entry")

    def new(self, name):
        block = Block(name)
        self.kernel.blocks.append(block)
        return block

    def at(self, block):
        self.block = block

    def op(self, name, type, /, *args, shape=VARYING, guard=None, **attrs) -> Value:
        op = Op(name, type, list(args), attributes(name, attrs), guard)
        self.block.ops.append(op)
        self.shapes[op] = shape
        return op

    def param(self, type, offset):
        return self.op("param", type, shape=uniform(LANES), offset=offset)

    def special(self, name, shape=VARYING):
        return self.op("special", "i32", shape=shape, name=name)

    def thread(self, block_x):
        """ctaid.x * block_x + tid.x of a one-dimensional block."""
        c = self.special("ctaid.x", uniform(LANES))
        t = self.special("tid.x", STEPS)
        m = self.op("mul", "i32", c, i32(block_x), shape=uniform(LANES))
        return self.op("add", "i32", m, t, shape=STEPS)

    def place(self, base, index, size, shape):
        wide = self.op("sext", "i64", index, shape=shape)
        scaled = shape if shape.varying else Shape(tuple(o * size for o in shape.offsets))
        bytes = self.op("mul", "i64", wide, i64(size), shape=scaled)
        return self.op("add", "i64", base, bytes, shape=scaled)

    def load(self, type, address, space="global", shape=VARYING, guard=None, **attrs):
        return self.op("load", type, address, shape=shape, guard=guard, space=space, **attrs)

    def store(self, address, *values, space="global", guard=None, **attrs):
        return self.op("store", values[0].type, address, *values, guard=guard, space=space, count=len(values), **attrs)

    def phi(self, type, incoming, shape=VARYING, block=None):
        phi = Phi(type)
        phi.incoming = incoming
        (block or self.block).phis.append(phi)
        self.shapes[phi] = shape
        return phi

    def end(self, name, *targets, args=(), **attrs):
        self.block.terminator = Terminator(name, list(args), list(targets), ENDINGS[name].attributes(**attrs))

    def jump(self, target):
        self.end("jump", target)

    def branch(self, condition, yes, no):
        self.end("branch", yes, no, args=[condition])

    def analysis(self, divergent=()):
        branches = {
            b for b in self.kernel.blocks
            if b.terminator.name in ("branch", "switch") and not self.shapes.get(b.terminator.args[0], uniform(LANES)).uniform
        }  # fmt: skip
        return Analysis(LANES, self.shapes, set(divergent), branches, self.temporal)

    def run(self, grid, block, args, divergent=(), known=True, target=None, shared=0, show=False):
        self.kernel.shared_bytes = shared
        specialisation = Specialisation(three(block) if known else None)
        target = target or this_machine()
        analysis = self.analysis(divergent)
        if show:
            print(target.emit_text(self.kernel, analysis, specialisation)[0])
        artifact = target.emit(self.kernel, analysis, specialisation)
        places = [(p.offset, p.size) for p in self.kernel.params]
        Loaded(artifact).launch(grid, block, pack_arguments(places, args))
        return artifact

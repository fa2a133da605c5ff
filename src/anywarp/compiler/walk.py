"""The blocks of a skeleton while it grows: making them, ending them, branching around a guarded instruction."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from anywarp.compiler.scopes import Frame, Scopes, Walk
from anywarp.compiler.skeleton import ModuleView, Node, Step, StepKind
from anywarp.compiler.variables import Place, Register
from anywarp.diagnostics import Span
from anywarp.ptx.isa.barriers import BarrierForm
from anywarp.ptx.tree import Function, Instruction

TRAP, BAD_POINTER, STACK_OVERFLOW = 0, 1, 2
"""Why a lane traps (`AwReason` of the kernel ABI): a `trap`, a call through what is no function, no stack left."""


class Blocks:
    """The nodes made so far; `current` is the one that statements go to, None behind its end."""

    def __init__(self, module: ModuleView) -> None:
        self.scopes = Scopes(module, self.node)
        self.module = module
        self.nodes: list[Node] = [Node()]
        self.current: int | None = 0
        self.stack: list[Walk] = []

    def node(self) -> int:
        """Make a block."""
        self.nodes.append(Node())
        return len(self.nodes) - 1

    def add(self, step: Step) -> None:
        """Append a step to the current block."""
        assert self.current is not None
        self.nodes[self.current].steps.append(step)

    def do(self, what: StepKind, reads: list[Register], writes: list[Register], span: Span) -> None:
        """Append a step without names."""
        self.add(Step(what, {}, reads, writes, span))

    def continue_at(self, node: int) -> None:
        """Go on in another block, which the current one runs into."""
        if self.current is not None:
            self.end("jump", [node])
        self.current = node

    def end(
        self,
        kind: Literal["jump", "branch", "switch", "exit", "trap", "barrier"],
        targets: list[int],
        step: Step | None = None,
        barrier: BarrierForm | None = None,
        span: Span | None = None,
        reason: int = 0,
    ) -> None:
        """End the current block."""
        assert self.current is not None
        node = self.nodes[self.current]
        node.kind, node.targets, node.step, node.barrier, node.span = kind, targets, step, barrier, span
        node.reason = reason
        self.current = None

    def trap(self, reason: int, span: Span) -> int:
        """Make a block that aborts the grid."""
        node = self.node()
        self.nodes[node].kind, self.nodes[node].reason, self.nodes[node].span = "trap", reason, span
        return node

    def guarded(self, frame: Frame, instruction: Instruction) -> tuple[Instruction, int | None]:
        """Branch around a guarded instruction; returns it without its guard, and the block to continue at."""
        if instruction.guard is None:
            return instruction, None
        inside, after = self.node(), self.node()
        self.branch(frame, instruction, inside, after)
        self.current = inside
        return replace(instruction, guard=None), after

    def branch(self, frame: Frame, instruction: Instruction, taken: int, other: int) -> None:
        """End the current block in a branch on the guard of an instruction."""
        guard = instruction.guard
        assert guard is not None
        step = self.scopes.resolve(frame, replace(instruction, operands=(), opcode="bra", modifiers=()))
        self.end("branch", [other, taken] if guard.negated else [taken, other], step, span=instruction.span)

    def enter(self, function: Function, frame: Frame) -> None:
        """Begin to walk a function's body."""
        assert function.body is not None
        assert self.current is not None
        frame.start = self.current
        walk = Walk(frame, iter(function.body.statements), outermost=True)
        self.stack.append(walk)
        self.scopes.declare(walk, function.body.statements)


def place_in(base: Register, offset: int, size: int, name: str = "") -> Place:
    """Return a variable of a stack frame."""
    return Place(name, "local", size, min(size, 16), frame=base, offset=offset)

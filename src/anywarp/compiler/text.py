"""The kernel IR as text, for people and for tests.

Values are numbered in order of appearance, so that the text of a kernel depends on nothing but the kernel.
"""

from __future__ import annotations

from dataclasses import fields

from anywarp.compiler.attributes import Attributes
from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Terminator, Undefined, Value
from anywarp.compiler.operation_table import OPERATIONS


def print_kernel(kernel: Kernel, notes: dict[Value, str] | None = None) -> str:
    """Return `kernel` as text; `notes` are appended to the lines of the values that they are about."""
    return _Printer(kernel, notes or {}).run()


class _Printer:
    def __init__(self, kernel: Kernel, notes: dict[Value, str]) -> None:
        self.kernel = kernel
        self.notes = notes
        self.numbers: dict[Value, int] = {}
        for block in kernel.blocks:
            for value in (*block.phis, *block.ops):
                self.numbers[value] = len(self.numbers)

    def run(self) -> str:
        k = self.kernel
        params = ", ".join(f"{p.name} at {p.offset} size {p.size}" for p in k.params)
        lines = [f"kernel {k.name}({params}) param {k.param_bytes} shared {k.shared_bytes} local {k.local_bytes}"]
        for block in k.blocks:
            lines.append(f"{block.name}:")
            lines += [f"  {self._noted(p, self._phi(p))}" for p in block.phis]
            lines += [f"  {self._noted(o, self._op(o))}" for o in block.ops]
            lines.append(f"  {self._terminator(block.terminator)}")
        return "\n".join(lines) + "\n"

    def _noted(self, value: Value, text: str) -> str:
        note = self.notes.get(value)
        return text if note is None else f"{text:60} ; {note}"

    def _name(self, value: Value | None) -> str:
        if value is None:
            return "none"
        if isinstance(value, Const):
            return f"{value.type} {value.bits:#x}" if value.bits > 9 else f"{value.type} {value.bits}"
        if isinstance(value, Undefined):
            return f"{value.type} undefined"
        return f"%{self.numbers[value]}" if value in self.numbers else "%outside"

    def _phi(self, phi: Phi) -> str:
        incoming = ", ".join(f"{b.name}: {self._name(v)}" for b, v in phi.incoming.items())
        return f"{self._name(phi)}:{phi.type} = phi {incoming}"

    def _op(self, op: Op) -> str:
        attrs = _attributes(op.attrs)
        args = ", ".join(self._name(a) for a in op.args)
        guard = f" if {self._name(op.guard)}" if op.guard is not None else ""
        parts = [op.name, *([attrs] if attrs else []), *([args] if args else [])]
        declared = OPERATIONS.get(op.name)
        head = "" if declared is not None and not declared.makes else f"{self._name(op)}:{op.type} = "
        return head + " ".join(parts) + guard

    def _terminator(self, end: Terminator) -> str:
        attrs = _attributes(end.attrs)
        args = ", ".join(self._name(a) for a in end.args)
        targets = ", ".join(_label(t) for t in end.targets)
        arrow = f"-> {targets}" if targets else ""
        return " ".join(part for part in (end.name, attrs, args, arrow) if part)


def _label(block: Block) -> str:
    return block.name


def _attributes(attrs: Attributes) -> str:
    """Return the attributes that are not as usual."""
    shown = [f for f in fields(attrs) if f.repr]
    return " ".join(_attribute(f.name, v) for f in shown if (v := getattr(attrs, f.name)) != f.default)


def _attribute(key: str, value: object) -> str:
    name = getattr(value, "name", None)
    return f"{key}={name if name is not None else value}"

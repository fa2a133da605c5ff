"""Random control-flow graphs: blocks that branch anywhere, loops with several entries among them, as no compiler of a
structured language makes them.

Every block computes a little, takes one unit of fuel, and goes on to any block; a thread without fuel ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from semantics.programs import BINARY, COMPARE, VARIABLES, condition, operand, variable

OPERATIONS = [op for op in sorted(BINARY) if op != "div.u32"]


@dataclass(frozen=True)
class Node:
    """Assignments (operation, destination, first, second), then a way on: one target, two by a condition, or several by index."""

    work: tuple
    targets: tuple
    condition: tuple
    index: int


@dataclass(frozen=True)
class Graph:
    nodes: tuple
    fuel: int

    def ptx(self) -> str:
        blocks = "\n".join(self._node(n, node) for n, node in enumerate(self.nodes))
        loads = " ".join(f"ld.global.u32 %v{n}, [%in+{4 * n}];" for n in range(VARIABLES))
        stores = " ".join(f"st.global.u32 [%out+{4 * n}], %v{n};" for n in range(VARIABLES))
        return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry graph(.param .u64 in, .param .u64 out) {{
  .reg .b32 %v<{VARIABLES}>; .reg .b32 %x<4>; .reg .b32 %fuel, %way; .reg .b64 %in, %out, %y; .reg .pred %p, %q;
  mov.u32 %x0, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mul.wide.u32 %y, %x0, {4 * VARIABLES}; add.s64 %in, %in, %y; add.s64 %out, %out, %y;
  {loads} mov.u32 %fuel, {self.fuel};
{blocks}
END: {stores} ret;
}}
"""

    def _node(self, n: int, node: Node) -> str:
        lines = [f"N{n}:"]
        for op, d, a, b in node.work:
            second = f"%v{b[1]}" if b[0] == "v" else str(b[1])
            lines.append(f"{op} %v{d}, %v{a}, {second};")
        lines.append("sub.u32 %fuel, %fuel, 1; setp.eq.u32 %p, %fuel, 0; @%p bra END;")
        if len(node.targets) == 1:
            lines.append(f"bra N{node.targets[0]};")
        elif len(node.targets) == 2:
            kind, op, a, b = node.condition
            second = f"%v{b[1]}" if b[0] == "v" else str(b[1])
            lines.append(
                f"setp.{op}.{'s32' if kind == 's' else 'u32'} %q, %v{a}, {second}; @%q bra N{node.targets[0]};"
            )
            lines.append(f"bra N{node.targets[1]};")
        else:
            names = ", ".join(f"N{t}" for t in node.targets)
            lines.append(f"and.b32 %way, %v{node.index}, 3; T{n}: .branchtargets {names}; brx.idx %way, T{n};")
        return "  " + "\n  ".join(lines)

    def compute(self, inputs: np.ndarray) -> np.ndarray:
        """Return each thread's variables at its end; `inputs` are (threads, variables)."""
        v = [np.array(x) for x in inputs.T]
        at = np.zeros(len(inputs), int)
        for step in range(self.fuel):
            here = at.copy()
            for n, node in enumerate(self.nodes):
                on = here == n
                for op, d, a, b in node.work:
                    second = v[b[1]] if b[0] == "v" else np.full(len(inputs), b[1], np.uint32)
                    v[d] = np.where(on, BINARY[op](v[a], second), v[d]).astype(np.uint32)
                if step < self.fuel - 1:
                    at = np.where(on, self._next(node, v), at)
        return np.stack(v, axis=1)

    @staticmethod
    def _next(node: Node, v: list) -> np.ndarray:
        if len(node.targets) == 1:
            return np.full(len(v[0]), node.targets[0])
        if len(node.targets) == 2:
            kind, op, a, b = node.condition
            left, right = v[a], v[b[1]] if b[0] == "v" else np.full(len(v[0]), b[1], np.uint32)
            if kind == "s":
                left, right = left.view(np.int32), right.view(np.int32)
            return np.where(COMPARE[op](left, right), *node.targets)
        return np.array(node.targets)[v[node.index] & np.uint32(3)]


@st.composite
def graphs(draw, least: int = 2):
    count = draw(st.integers(least, 7))
    anywhere = st.integers(0, count - 1)
    work = st.tuples(st.sampled_from(OPERATIONS), variable, variable, operand)
    choose = condition.filter(lambda c: c[0] != "block")
    nodes = []
    for _ in range(count):
        ways = draw(st.sampled_from([1, 2, 2, 2, 4]))
        nodes.append(
            Node(
                tuple(draw(st.lists(work, min_size=1, max_size=3))),
                tuple(draw(anywhere) for _ in range(ways)),
                draw(choose),
                draw(variable),
            )
        )
    return Graph(tuple(nodes), draw(st.integers(1, 24)))

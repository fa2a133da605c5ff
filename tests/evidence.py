"""What is proven of AMD GPUs, and how: a page made of the tests themselves, of the marks and helpers that each file has. `python tests/evidence.py >docs/hip-checklist.md`"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

PARTS = {
    "code for kernels": (
        "compiler/amdgpu/test_*.py",
        "emulator/test_*.py",
        "semantics/test_*.py",
        "amd_stack/test_kernels.py",
    ),
    "driver: memory, streams, graphs, launches": ("native/hip/test_*.py",),
    "libraries (cuBLAS to NCCL, NVML, NVTX)": (
        "native/rocm/test_*.py",
        "native/test_rocm_*.py",
        "amd_stack/test_libraries.py",
    ),
    "whole CUDA programs": ("amd_stack/test_programs.py", "amd_stack/test_clients.py", "native/hip/test_programs.py"),
    "translated sources": ("migrate/translate/test_*.py", "amd_stack/test_translated.py"),
    "PyTorch and its neighbours for ROCm": ("frameworks/torch/test_rocm*.py",),
    "what the machine is told to have": ("devices/hip/test_*.py",),
}
"""Parts, and where their tests are."""

MARKS = {
    "hip": "a card",
    "amd_stack": "HIP itself, the card emulated",
    "amd_emulator": "instructions emulated",
    "hip_compiler": "compiled by a compiler of HIP",
}
FAKES = (
    "fakes.rocm",
    "fakes import rocm",
    "native.hip.rig",
    "hip.rig import",
    "FAKE_HIP",
    "FAKE_ROCM",
    "rocm_torch",
    "recorder",
)
COLUMNS = (*MARKS.values(), "a fake ROCm", "by itself")


@dataclass(frozen=True)
class Witness:
    """A file of tests, and of which kinds of evidence it has some."""

    name: str
    kinds: frozenset[str]


def witness(path: Path) -> Witness:
    """Read which evidence the tests of a file give."""
    text = path.read_text()
    marks = {
        node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute) and _is_mark(node.value)
    }
    kinds = {column for mark, column in MARKS.items() if mark in marks}
    if any(word in text for word in FAKES):
        kinds.add("a fake ROCm")
    return Witness(str(path.relative_to(HERE)), frozenset(kinds or {"by itself"}))


def _is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "mark"


def about_amd(path: Path) -> bool:
    """Return whether tests in a folder that others share are about AMD GPUs."""
    shared = path.parent.name in ("semantics", "translate")
    return not shared or any(word in path.read_text() for word in ("amd_emulator", "amd_stack", "gfx9", "gfx1"))


HEAD = """# AMD GPUs: what is proven, and how

Made by `tests/evidence.py` from the marks of the tests; `scripts/docs` rewrites it. **No AMD GPU has run anything of this yet**: the first column fills when somebody with a
card sends a report.

## The first day on a card

1. `anywarp doctor --report machine.json`: what is missing, each with the command that mends it. It must end without `warning` in the lines of `rocm`.
2. `anywarp selftest --device hip --report amd.json`: every instruction with exact values, lanes, calls, faults. Minutes.
3. `python examples/cuda/run.py --way shared` under `ANYWARP_DEVICE=hip`, where there is nvcc; else `anywarp run --device hip -- ./program` with one of your own.
4. `HIP_LIBRARY=libamdhip64.so.6 CODE=... python tests/native/hip/contract.py CASE`: HIP's own answers, which [hip-stack.md](hip-stack.md) has from an emulated card.
5. Send `machine.json` and `amd.json`, and what steps 3 and 4 printed. They hold no names of hosts or users and no file contents; read them before you send them.

## What each kind of evidence is worth

| kind | what it shows | what it cannot show |
| --- | --- | --- |
| a card | all of it | |
| HIP itself, the card emulated | AMD's own user space takes our calls and code objects ([hip-stack.md](hip-stack.md)) | the card, the kernel driver, times |
| instructions emulated | our machine code computes what AMD's manuals say ([hip-emulated.md](hip-emulated.md)) | how the hardware departs from its manual |
| compiled by a compiler of HIP | types and names are HIP's | what happens when it runs |
| a fake ROCm | arguments, lifetimes, order of calls | what ROCm does with them |
| by itself | our own arithmetic and text | anything of AMD's |

## Which tests give it

"""


def page() -> str:
    """Return the page."""
    lines = ["| part | " + " | ".join(COLUMNS) + " |", "| --- |" + " --- |" * len(COLUMNS)]
    for part, patterns in PARTS.items():
        paths = {path for pattern in patterns for path in HERE.glob(pattern) if about_amd(path)}
        found = [witness(path) for path in sorted(paths)]
        cells = [
            " ".join(f"`{each.name}`" for each in found if column in each.kinds)
            or ("none" if column == "a card" else "")
            for column in COLUMNS
        ]
        lines.append(f"| {part} | {' | '.join(cells)} |")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")

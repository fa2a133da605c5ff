"""`anywarp compile FILE`: compile kernels as a launch would, and show every stage on the way and the reasons for the code.

Whoever wonders why a kernel is refused, wrong or slow should see what the compiler saw, without building anything.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from anywarp import settings
from anywarp.cli.cache import block_shape
from anywarp.compiler import codes
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.options import read_options
from anywarp.devices import device as devices
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.ptx.index import ModuleIndex
from anywarp.ptx.inspect import contents
from anywarp.runtime import warm
from anywarp.runtime.build_id import build_id
from anywarp.runtime.cache import Cache
from anywarp.runtime.measured import find_record
from anywarp.runtime.modules import open_image

if TYPE_CHECKING:  # late: LLVM takes time to load
    from anywarp.compiler.amdgpu.target import AmdTarget
    from anywarp.compiler.artifact import Amd
    from anywarp.compiler.simd.target import SimdTarget

STAGES = ("tree", "ir", "llvm", "asm", "object")
_LISTED = 20
_WARP = 32


_Stage: TypeAlias = "tuple[str, str | dict[str, object]]"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A kernel of the file: the module it is in, and what the compilation may assume."""

    index: ModuleIndex
    kernel: str
    specialisation: Specialisation


@click.command("compile")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--kernel", "pattern", metavar="NAME", default="*", help="The kernel, or a pattern such as 'gemm*'.")
@click.option(
    "--device",
    "name",
    metavar="NAME",
    help="Device to compile for: cpu, or as hip:gfx942 (default: ANYWARP_DEVICE, else cpu).",
)
@click.option(
    "--block", metavar="X[,Y[,Z]]", help="The block shape (default: the largest the kernel states, else 256)."
)
@click.option(
    "--options", "words", metavar="TEXT", default="", help="Options of the compilation, as 'multiple=24:4:32'."
)
@click.option("--emit", type=click.Choice(STAGES), help="Print this stage of one kernel.")
@click.option("--passes", is_flag=True, help="Print the kernel after each pass, and verify it.")
@click.option(
    "--explain", "reasons", is_flag=True, help="Explain what became of loops, branches and accesses, and why."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write there instead of to stdout.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print the result.")
def command(
    file: Path, pattern: str, name: str | None, block: str | None, words: str, emit: str | None, passes: bool, reasons: bool,
    output: Path | None, style: str,
) -> int:  # fmt: skip
    """Compile the kernels in FILE: PTX, or a fat binary, library, executable or wheel with PTX inside.

    With --emit, --passes or --explain: show one kernel. Exit code 0: compiled; 1: a kernel was refused; 2: nothing to compile.
    """
    target = _target(name or settings.DEVICE.get())
    found = list(_candidates(file, pattern, block, words))
    if not found:
        help = "`anywarp inspect --kernels FILE` shows what a file holds"
        raise AnywarpError(Diagnostic("L003", f"there is no kernel {pattern!r} in PTX in {file.name}", help=help))
    if not (emit or passes or reasons):
        return _compile_all(found, target, style)
    one = _only(found)
    stages, broken = _passes(one, target) if passes else ([], "")
    shown = _show(one, target, stages, None if broken else emit, reasons and not broken, style)
    _write(shown, output)
    if broken:
        raise AnywarpError(
            Diagnostic(codes.INTERNAL, broken, help="this is a defect in anywarp; please report it with the PTX")
        )
    return 0


def _target(name: str) -> SimdTarget | AmdTarget:
    """Return what compiles for a device: `cpu`, or an AMD GPU by its architecture, `hip:gfx942`."""
    device = devices.named(name)
    if device.name == "hip":
        from anywarp.devices.hip.target import target_for  # late: LLVM takes time to load

        return target_for(device.identity().partition(":")[2])
    if device.name != "cpu":
        text = f"only code for the devices 'cpu' and 'hip' can be shown, not that for {device.name!r}"
        raise AnywarpError(Diagnostic("L004", text, help="leave --device out, or name an AMD GPU: --device hip:gfx942"))
    from anywarp.devices.cpu.target import host_target
    from anywarp.devices.cpu.tiles import ask_for_tiles

    found = find_record(Cache(settings.CACHE_DIR.get(), settings.CACHE_LIMIT.get()), build_id(), device.identity())
    return host_target(found.tuning if found is not None else "", found is not None, ask_for_tiles())


def _candidates(file: Path, pattern: str, block: str | None, words: str) -> Iterator[_Candidate]:
    """Yield the kernels of the file that match, each name once, from the PTX that would be compiled."""
    seen: set[str] = set()
    shapes = (block_shape(block),) if block else ()
    for name, content in contents(file):
        for image in warm.images(content):
            index = open_image(image, name)
            for kernel in index.entries:
                if kernel in seen or not fnmatchcase(kernel, pattern):
                    continue
                seen.add(kernel)
                shape = warm.likely_shapes(index, kernel, shapes)[0]
                yield _Candidate(index, kernel, _options(words, shape))


def _options(words: str, shape: warm.Shape) -> Specialisation:
    try:
        return read_options(words, shape)
    except ValueError as error:
        raise click.BadParameter(f"{words!r}: {error}", param_hint="--options") from None


def _only(found: list[_Candidate]) -> _Candidate:
    if len(found) == 1:
        return found[0]
    exact = [f.kernel for f in found[:_LISTED]]
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    raise click.UsageError(f"one kernel at a time; --kernel chooses among: {' '.join(exact)}{more}")


def _compile_all(found: list[_Candidate], target: SimdTarget | AmdTarget, style: str) -> int:
    """Compile every kernel and tell of each how it went."""
    rows: list[dict[str, object]] = []
    for one in found:
        row, line, problem = _compile(one, target)
        if problem is not None:
            click.echo(problem.as_text(), err=True)
        if style == "text":
            click.echo(line)
        rows.append(row)
    if style == "json":
        click.echo(json.dumps({"kernels": rows}, indent=2))
    return int(any("problem" in row for row in rows))


def _compile(one: _Candidate, target: SimdTarget | AmdTarget) -> tuple[dict[str, object], str, Diagnostic | None]:
    """Compile a kernel; return what is told of it as data and as a line, and what is wrong with it."""
    from anywarp.compiler.pipeline import compile_kernel  # late: LLVM takes time to load

    shape = one.specialisation.block or (0, 0, 0)
    row: dict[str, object] = {"kernel": one.kernel, "block": shape}
    head = f"{one.kernel}  block {' x '.join(map(str, shape))}"
    start = time.perf_counter()
    try:
        made = compile_kernel(one.index, one.kernel, one.specialisation, target)
    except AnywarpError as error:
        return {**row, "problem": error.diagnostic.as_json()}, f"{head}: refused", error.diagnostic
    spent = (time.perf_counter() - start) * 1e3
    row |= {"lanes": made.lanes, "object_bytes": len(made.object), "notes": made.notes, "variant": made.variant}
    size, how = len(made.object) / 1024, f"gangs of {made.lanes} lanes"
    if made.amd is not None:
        row["amd"] = asdict(made.amd)
        how = _registers(made.amd, made.shared_bytes)
    return {**row, "milliseconds": round(spent, 1)}, f"{head}: {size:.1f} KiB, {how}, {spent:.0f} ms", None


def _registers(amd: Amd, shared: int) -> str:
    """Say what a kernel takes of an AMD GPU."""
    warps = f"{amd.warps_per_wave} to a wave" if amd.wave > _WARP else "of their own"
    spilled = f", {amd.vgpr_spills + amd.sgpr_spills} spilled" if amd.vgpr_spills or amd.sgpr_spills else ""
    matrix = f" + {amd.agprs}" if amd.agprs else ""
    return (
        f"{amd.arch}: {amd.vgprs}{matrix} vector and {amd.sgprs} scalar registers{spilled}, {shared} bytes shared, "
        f"{amd.scratch} scratch, warps {warps}"
    )


def _show(
    one: _Candidate, target: SimdTarget | AmdTarget, parts: list[_Stage], emit: str | None, reasons: bool, style: str
) -> str | bytes:
    """Return what was asked to be seen of one kernel, behind `parts`."""
    if emit == "tree":
        from anywarp.compiler.stages import tree_text

        parts.append(("tree", tree_text(one.index, one.kernel)))
    elif emit or reasons:
        from anywarp.compiler.explain import Explanation, explain
        from anywarp.compiler.stages import compile_seen

        seen = compile_seen(one.index, one.kernel, one.specialisation, target)
        if emit == "object":
            return seen.artifact.object
        stages = {"ir": seen.ir, "llvm": seen.llvm, "asm": seen.assembly}
        if emit:
            parts.append((emit, stages[emit]()))
        if reasons:
            amd = seen.artifact.amd
            if amd is not None:  # lanes are emitted one by one there: what is to be said stands in the artifact
                said = Explanation([_registers(amd, seen.artifact.shared_bytes), *seen.artifact.notes], [])
            else:
                said = explain(seen, one.index.source)
            parts.append(("explain", said.as_json() if style == "json" else said.as_text()))
    if style == "json":
        return json.dumps({"kernel": one.kernel, "stages": [{"stage": s, "content": c} for s, c in parts]}, indent=2)
    if len(parts) == 1:
        return str(parts[0][1])
    return "\n".join(f"; {stage}\n{content}" for stage, content in parts)


def _passes(one: _Candidate, target: SimdTarget | AmdTarget) -> tuple[list[_Stage], str]:
    """Return the kernel after each pass, and what is wrong with it after the last one shown ("" if nothing is)."""
    from anywarp.compiler.stages import watch_passes

    stages: list[_Stage] = []
    try:
        watch_passes(
            one.index, one.kernel, one.specialisation, target, lambda stage, text: stages.append((stage, text))
        )
    except AssertionError as error:
        return stages, str(error)
    return stages, ""


def _write(shown: str | bytes, output: Path | None) -> None:
    if output is None and isinstance(shown, bytes) and sys.stdout.isatty():
        raise click.UsageError("an object file is not text; -o FILE says where to write it")
    if output is None:
        click.echo(shown, nl=isinstance(shown, str))
        return
    try:
        output.write_bytes(shown if isinstance(shown, bytes) else shown.encode())
    except OSError as error:
        text = f"{output} cannot be written: {error.strerror or error}"
        raise AnywarpError(Diagnostic("L001", text, help="choose another place with -o")) from error

"""The target for processors with vector registers: from the kernel IR to an artifact."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from anywarp.compiler import codes
from anywarp.compiler.analysis import analyse
from anywarp.compiler.artifact import Artifact
from anywarp.compiler.gangs import SINGLE, WARP, Gang, allowed, can_run_apart, choose, too_long
from anywarp.compiler.independence import is_independent
from anywarp.compiler.ir import Kernel, Specialisation
from anywarp.compiler.passes.join_exchanges import join_exchanges
from anywarp.compiler.passes.read_before_writing import read_before_writing
from anywarp.compiler.passes.undo_aggregation import undo_aggregation
from anywarp.compiler.shapes import Analysis
from anywarp.compiler.simd.barriers import block_barriers, needs_lane_states
from anywarp.compiler.simd.bounded_loads import bound_loads
from anywarp.compiler.simd.debug_lines import line_at, machine_code
from anywarp.compiler.simd.flush_mode import flush_by_mode
from anywarp.compiler.simd.kernel import Emitted, emit_kernel
from anywarp.compiler.simd.known import Machine
from anywarp.compiler.simd.machine_code import compile_text, host_cpu, left_plain
from anywarp.compiler.simd.objects import functions, stack_bytes, vectors_on_stack
from anywarp.compiler.simd.tuning import USUAL, Tuning
from anywarp.compiler.variants import scattered

SYMBOL = "aw_kernel"
"""Every object holds one kernel, under this name."""

_WIDEST = 512


@dataclass(frozen=True, slots=True)
class SimdTarget:
    """A processor as LLVM describes it, and how its vectors are used."""

    triple: str
    cpu: str
    features: str
    machine: Machine

    @property
    def name(self) -> str:
        """Identity of what the code runs on."""
        return f"{self.triple}:{self.cpu}:{self.machine.vector_bits}"

    @property
    def waits_at_one_place(self) -> bool:
        """Lanes wait where a block begins (`meetings`), so only those of one block meet."""
        return True

    def suit(self, kernel: Kernel, specialisation: Specialisation) -> None:
        """Add without exchanges, and one for each lane; let reads behind a barrier come before writes; have the processor flush subnormal numbers; make loads behind tests of bounds loads under masks, where those are instructions."""
        join_exchanges(kernel, specialisation)
        if not specialisation.checks:
            undo_aggregation(kernel, specialisation)
            read_before_writing(kernel, specialisation)
        if self.machine.mxcsr:
            flush_by_mode(kernel, self.machine.f16c, self.machine.avx512)
        if self.machine.avx2 and specialisation.lanes != SINGLE and not too_long(kernel, specialisation):
            bound_loads(kernel, replace(specialisation, lanes=WARP), 1 if self.machine.avx512 else 4)

    def choose_gang(self, kernel: Kernel, specialisation: Specialisation) -> Gang:
        """Decide how many lanes are emitted together: at most `specialisation.lanes`, or what is best where that is 0."""
        asked = specialisation.lanes
        if asked == SINGLE:
            alone = can_run_apart(kernel)
            return Gang(SINGLE, "asked for") if alone else Gang(WARP, "lanes take part in what their warp does")
        if asked == WARP:
            return Gang(WARP, "asked for")
        if asked:
            gang = allowed(kernel, specialisation)
            gang = Gang(asked, "asked for") if asked <= gang.lanes else gang
        elif too_long(kernel, specialisation):
            return Gang(SINGLE, "lanes run one by one: as vectors there would be too much code")
        else:
            one = analyse(kernel, replace(specialisation, lanes=WARP))
            gang = choose(kernel, one, specialisation, 32 if self.machine.avx512 else 16, self.machine.chunk)
            gang = _without_scattering(kernel, specialisation, gang, one)
        if gang.lanes > WARP and block_barriers(kernel.blocks):
            wide = replace(specialisation, lanes=gang.lanes)
            if needs_lane_states(kernel.blocks, analyse(kernel, wide)):
                return Gang(WARP, "lanes may wait at barriers apart")
        return gang

    def emit_text(
        self,
        kernel: Kernel,
        analysis: Analysis,
        specialisation: Specialisation,
        line_of: Callable[[int], int] | None = None,
    ) -> tuple[str, int, int]:
        """Return the LLVM IR of a kernel and its frame: fixed bytes, bytes per warp; with its lines if `line_of` tells them."""
        done = self._emitted(kernel, analysis, specialisation, line_of)
        return done.text, done.frame_fixed, done.frame_per_warp

    def _emitted(
        self,
        kernel: Kernel,
        analysis: Analysis,
        specialisation: Specialisation,
        line_of: Callable[[int], int] | None = None,
    ) -> Emitted:
        try:
            return emit_kernel(kernel, analysis, specialisation, self.machine, SYMBOL, self._attributes(), line_of)
        except NotImplementedError as error:
            raise codes.problem(
                codes.UNSUPPORTED, f"kernel {kernel.name!r} uses what the cpu device does not have yet: {error}"
            ) from None

    def _attributes(self) -> str:
        bits = self.machine.vector_bits
        return f'nounwind "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'

    def emit(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation) -> Artifact:
        """Compile `kernel`. Raises AnywarpError naming what cannot be compiled."""
        begin = time.perf_counter()
        done = self._emitted(kernel, analysis, specialisation)
        code = self._compiled(done.text, kernel, specialisation)
        plain = None if specialisation.quick else left_plain(done.text, specialisation.lanes == SINGLE)
        return Artifact(
            kernel.name, SYMBOL, specialisation.block or (0, 0, 0), done.frame_fixed, done.frame_per_warp, kernel.local_bytes, kernel.shared_bytes,
            kernel.param_bytes, code, (time.perf_counter() - begin) * 1e3, (plain,) if plain else (), alone=is_independent(kernel),
            stack=stack_bytes(code, SYMBOL) if functions(code) == 1 else 0, waits=done.waits,
            on_stack=vectors_on_stack(code) * min(self.machine.chunk, specialisation.lanes) / specialisation.lanes,
        )  # fmt: skip

    def _compiled(self, text: str, kernel: Kernel, specialisation: Specialisation) -> bytes:
        one = specialisation.lanes == SINGLE
        return compile_text(text, self.triple, self.cpu, self.features, kernel.name, specialisation.quick, one)

    def locate(
        self,
        kernel: Kernel,
        analysis: Analysis,
        specialisation: Specialisation,
        code: bytes,
        offset: int,
        line_of: Callable[[int], int],
    ) -> int:
        """Return the line of PTX of the instruction at `offset` from the entry of an object that `emit` made; 0: not known.

        The kernel is compiled again with its lines, which counts only if the machine code is the same.
        """
        text = self.emit_text(kernel, analysis, specialisation, line_of)[0]
        again = self._compiled(text, kernel, specialisation)
        return line_at(again, SYMBOL, offset) if machine_code(again) == machine_code(code) else 0


def make_target(triple: str, cpu: str, features: str, tuning: Tuning = USUAL) -> SimdTarget:
    """Return the target for a processor from LLVM's names for it and its features, and what was found of its speed."""
    have = {word[1:] for word in features.split(",") if word.startswith("+")}
    # With narrower vectors the code is that for AVX2; LLVM still has AVX-512's registers and instructions for it.
    avx512 = {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= have and tuning.vector == _WIDEST
    fp16 = avx512 and "avx512fp16" in have
    avx2 = {"avx2", "fma"} <= have
    bits = _WIDEST if avx512 else 256 if avx2 else 128
    bf16 = avx512 and "avx512bf16" in have
    vnni = {"avx512vnni", "avx512vl"} <= have if avx512 else avx2 and "avxvnni" in have
    # LLVM's names: Intel's pairs are at a quarter of the rate (matrix_panels.py), AMD's masked stores without AVX-512 are microcode, and its prefetchers gain by the next
    # block's lines in loops of distant trips; Zen 5 by lines that are asked for before vectors under masks (docs/performance.md).
    named = cpu.startswith("znver")
    quick = bf16 and (named if tuning.pairs is None else bool(tuning.pairs))
    mask_registers = {"avx512f", "avx512bw", "avx512vl"} <= have
    quick_masks = mask_registers or not avx2 or (not named if tuning.masks is None else bool(tuning.masks))
    x86 = triple.startswith(("x86_64", "i686"))
    tiles = avx512 and bool(tuning.tiles) and "amx-tile" in have
    rounds = avx2 or bool(have & {"sse4.1", "avx"}) or not x86
    machine = Machine(
        bits, avx512, fp16, avx2, "f16c" in have, rounds, x86, bf16=bf16, vnni=vnni, gfni=avx512 and "gfni" in have, quick_bf16=quick,
        mask_registers=mask_registers,
        quick_masks=quick_masks, reads_apart=not mask_registers and (named or not tuning.gathers),
        asks_beside=named if tuning.beside is None else bool(tuning.beside),
        asks_first=avx512 and (cpu == "znver5" if tuning.first is None else bool(tuning.first)),
        tiles_bf16=tiles and "amx-bf16" in have, tiles_int8=tiles and "amx-int8" in have, tuning=tuning,
    )  # fmt: skip
    if avx512 and not tuning.gathers:
        features += ",+prefer-no-gather"
    return SimdTarget(triple, cpu, features, machine)


def _without_scattering(kernel: Kernel, specialisation: Specialisation, gang: Gang, one: Analysis) -> Gang:
    """Return the widest gang, at most this one, that scatters no more than one warp: of several rows of a block less may be known than of one."""
    rows = (specialisation.block or (1, 1, 1))[0]
    lanes = gang.lanes
    while lanes > WARP and rows % lanes:
        wide = analyse(kernel, replace(specialisation, lanes=lanes))
        if scattered(kernel, wide) <= scattered(kernel, one):
            break
        lanes //= 2
    return gang if lanes == gang.lanes else Gang(lanes, "less is known of the accesses of several rows of the block")


@cache
def this_machine(tuning: Tuning = USUAL) -> SimdTarget:
    """Return the target for the machine that runs this."""
    return make_target(*host_cpu(), tuning)

"""Libraries and features of NVIDIA's that translation cannot carry over, or only with a condition: wmma, libcu++, CUTLASS, textures, fp8.

Each is told once per place that matters, with what takes its place on AMD GPUs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from anywarp.migrate.translate.brackets import call
from anywarp.migrate.translate.edits import Edit, Need, Outcome, Problem
from anywarp.migrate.translate.scopes import is_anothers
from anywarp.migrate.translate.unit import Unit


class MatrixFragments:
    """`nvcuda::wmma` is `rocwmma`, whose fragments belong to a whole wave."""

    name = "wmma"
    words = frozenset((b"wmma", b"nvcuda", b"include"))
    _USING = re.compile(rb"\busing\s+namespace\s+nvcuda\s*(?=;)")
    _NAME = re.compile(rb"\bnvcuda\s*::\s*wmma\b")

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        for include in unit.includes:
            own = include.quoted and unit.is_local(include.name)
            if include.name == "mma.h" and not own and not unit.options.keep_cuda:
                reason = "rocWMMA is the counterpart of nvcuda::wmma"
                yield Edit(include.start, include.end, b"<rocwmma/rocwmma.hpp>", self.name, reason)
        if b"nvcuda" not in unit.words:
            return
        apart, dead = unit.apart, unit.untaken
        first: int | None = None
        for match in self._NAME.finditer(unit.code):
            if match.start() in apart or any(each.first <= match.start() < each.last for each in dead):
                continue
            first = match.start() if first is None else first
            if not unit.options.keep_cuda:
                yield Edit(match.start(), match.end(), b"rocwmma", self.name, "rocWMMA has the same functions")
        for match in self._USING.finditer(unit.code):
            if match.start() in apart:
                continue
            first = match.start() if first is None else first
            if not unit.options.keep_cuda:
                new = b"namespace wmma = rocwmma"
                yield Edit(match.start(), match.end(), new, self.name, "rocWMMA has the same functions")
        if first is not None and unit.target.wave != 32:
            message = "a matrix fragment belongs to a wave of 64 lanes on AMD Instinct, not to a warp of 32"
            hint = "give each tile to 64 threads: count waves by rocwmma::Constants::AMDGCN_WAVE_SIZE where warps were counted by 32, and launch twice as many threads"
            yield Problem(first, first + 6, "M142", message, hint)


class Collectives:
    """Headers whose functions a support header gives: collective ones of cooperative groups, copies of pipelines."""

    name = "group-collectives"
    words = frozenset((b"include",))
    HEADERS: Mapping[str, bytes] = {
        "cooperative_groups/reduce.h": b'"anywarp_groups.h"', "cooperative_groups/scan.h": b'"anywarp_groups.h"',
        "cooperative_groups/memcpy_async.h": b'"anywarp_groups.h"',
        "cuda_pipeline.h": b'"anywarp_cuda.h"', "cuda_pipeline_primitives.h": b'"anywarp_cuda.h"',
    }  # fmt: skip

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        apart = unit.apart
        for include in unit.includes:
            if include.name in self.HEADERS and include.start not in apart:
                reason = "HIP has no such functions; the support header gives them"
                end = min(include.directive.end + 1, len(unit.data))
                if unit.data[include.end : include.directive.end].strip():
                    yield Edit(include.start, include.end, b"<hip/hip_runtime.h>", self.name, reason)
                else:
                    yield Edit(include.directive.start, end, b"", self.name, reason)
                yield Need(self.HEADERS[include.name], reason)


class GroupFunctions:
    """Functions of cooperative groups that HIP lacks, and no header can give."""

    name = "group-functions"
    words = frozenset((b"labeled_partition", b"this_cluster", b"cluster_group", b"invoke_one", b"invoke_one_broadcast"))
    _HINTS: Mapping[bytes, str] = {
        b"this_cluster": "clusters of blocks do not exist on AMD GPUs; exchange through global memory",
        b"cluster_group": "clusters of blocks do not exist on AMD GPUs; exchange through global memory",
    }

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda or b"cooperative_groups" not in unit.words:
            return
        for match in unit.occurrences(self.words):
            name = match.group()
            if match.start() in unit.apart or unit.code[match.start() - 2 : match.start()] != b"::":
                continue
            if name == b"labeled_partition":
                yield Need(b'"anywarp_groups.h"', "HIP has no partition by labels")
                continue
            message = f"cooperative_groups::{name.decode()} has no equal in HIP"
            hint = self._HINTS.get(name, "let the thread of rank 0 do it, and hand the value on with shfl")
            yield Problem(match.start(), match.end(), "M140", message, hint)


class StandardLibrary:
    """`cuda::std`: what the compiler alone works out is the host's `std`; the rest needs libhipcxx."""

    name = "libcu++"
    words = frozenset((b"cuda",))
    COMPILE_TIME = frozenset(
        b"is_same is_same_v enable_if enable_if_t conditional conditional_t numeric_limits integral_constant bool_constant true_type"
        b" false_type decay_t remove_cv_t remove_const_t remove_reference_t remove_cvref_t is_integral is_integral_v is_floating_point"
        b" is_floating_point_v is_signed_v is_unsigned_v is_pointer_v is_trivially_copyable_v make_unsigned_t make_signed_t"
        b" index_sequence make_index_sequence integer_sequence declval void_t underlying_type_t is_base_of_v is_convertible_v"
        b" invoke_result_t size_t ptrdiff_t uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t nullptr_t".split()
    )
    HEADERS = frozenset("type_traits limits cstdint cstddef utility climits cfloat".split())
    _STD = re.compile(rb"(?<![\w:])(?:::)?cuda\s*::\s*std\s*::\s*(\w+)")
    _OTHER = re.compile(rb"(?<![\w:])(?:::)?cuda\s*::\s*(?:ptx\s*::\s*)?(?!std\b)(atomic_ref|atomic|barrier|pipeline|memcpy_async|annotated_ptr|"
                        rb"aligned_size_t|make_pipeline|ptx|stream_ref|counting_semaphore|latch|access_property)\b")  # fmt: skip

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda:
            return
        apart, dead = unit.apart, unit.untaken
        told: set[bytes] = set()
        for include in unit.includes:
            plain = include.name.removeprefix("cuda/std/")
            if plain != include.name and plain in self.HEADERS and include.start not in apart:
                yield Edit(
                    include.start, include.end, f"<{plain}>".encode(), self.name, "the host's header has the same"
                )
        for match in self._STD.finditer(unit.code):
            if match.start() in apart:
                continue
            name = match.group(1)
            if name in self.COMPILE_TIME:
                yield Edit(match.start(), match.start(1), b"std::", self.name, "worked out by the compiler alone")
                yield Need(_header(name), "std has what cuda::std gave")
            elif name not in told:
                told.add(name)
                message = f"cuda::std::{name.decode()} is of libcu++, which ROCm does not have"
                yield Problem(match.start(), match.end(), "M140", message, _LIBHIPCXX)
        others = [m for m in self._OTHER.finditer(unit.code) if m.start() not in apart]
        others = [m for m in others if not any(each.first <= m.start() < each.last for each in dead)]
        names = dict.fromkeys(m.group(1).decode() for m in others)
        if names:
            message = f"{', '.join('cuda::' + name for name in names)}: of libcu++, which ROCm does not have"
            hint = next((_INSTEAD[n.encode()] for n in names if n.encode() in _INSTEAD), _LIBHIPCXX)
            yield Problem(others[0].start(), others[0].end(), "M140", message, hint)


_LIBHIPCXX = (
    "libhipcxx is AMD's counterpart of libcu++, a library of headers to install beside ROCm; or write the part by hand"
)
_INSTEAD = {
    b"atomic": "libhipcxx has hip::atomic; or use __hip_atomic_load and its like with an order and a scope",
    b"atomic_ref": "libhipcxx has hip::atomic_ref; or use __hip_atomic_fetch_add and its like with an order and a scope",
    b"barrier": "use __syncthreads(), with plain copies before it",
    b"pipeline": "copy plainly, and let the compiler overlap loads; then __syncthreads()",
    b"make_pipeline": "copy plainly, and let the compiler overlap loads; then __syncthreads()",
    b"memcpy_async": "copy plainly in a loop over the threads of the group, then synchronise it",
}


def _header(name: bytes) -> bytes:
    if name == b"numeric_limits":
        return b"<limits>"
    if name.endswith(b"_t") and (name.startswith((b"uint", b"int")) or name in (b"size_t", b"ptrdiff_t", b"nullptr_t")):
        return b"<cstddef>" if name in (b"size_t", b"ptrdiff_t", b"nullptr_t") else b"<cstdint>"
    return (
        b"<utility>"
        if name in (b"declval", b"index_sequence", b"make_index_sequence", b"integer_sequence")
        else b"<type_traits>"
    )


class Cutlass:
    """CUTLASS and CuTe are written for NVIDIA's instructions through and through."""

    name = "cutlass"
    words = frozenset((b"cutlass", b"cute", b"include"))
    _NAME = re.compile(rb"(?<![\w:])(?:cutlass|cute)\s*::")

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if not any(i.name.startswith("cut") for i in unit.includes) and unit.words.isdisjoint((b"cutlass", b"cute")):
            return
        apart = unit.apart
        first = next(
            ((i.start, i.end) for i in unit.includes if re.match(r"cut(?:lass|e)/", i.name) and i.start not in apart),
            None,
        )
        if first is None:
            match = next((m for m in self._NAME.finditer(unit.code) if m.start() not in apart), None)
            first = None if match is None else match.span()
        if first is not None:
            message = "CUTLASS and CuTe have no path by translation: they are made for NVIDIA's matrix instructions and copies"
            yield Problem(
                *first,
                "M140",
                message,
                "composable_kernel is AMD's library of this kind; hipBLASLt has the common products",
            )


class Textures:
    """Texture functions, where the target has no image instructions; and references, which CUDA 12 has dropped."""

    name = "textures"
    _FUNCTIONS = (
        b"tex1D tex1Dfetch tex1DLayered tex1DLod tex1DGrad tex2D tex2DLayered tex2DLod tex2DGrad tex2Dgather tex3D tex3DLod tex3DGrad"
        b" texCubemap texCubemapLayered texCubemapLod surf1Dread surf1Dwrite surf2Dread surf2Dwrite surf3Dread surf3Dwrite"
        b" surf2DLayeredread surf2DLayeredwrite surfCubemapread surfCubemapwrite"
    ).split()
    words = frozenset((*_FUNCTIONS, b"texture"))
    _ASKED = re.compile(rb"\btexture\s*<")
    _REFERENCE = re.compile(
        rb"(?:^|[;}\n])\s*(?:static\s+|__device__\s+)*(texture)\s*<[^<>;]*(?:<[^<>;]*>)?[^<>;]*>\s*\w+\s*[;=,(\[]"
    )

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        apart = unit.apart
        for match in self._REFERENCE.finditer(unit.code) if self._ASKED.search(unit.code) else ():
            if match.start(1) not in apart:
                message = "texture references are gone from CUDA 12 and from HIP"
                hint = "make a texture object on the host, and give it to the kernel as an argument"
                yield Problem(match.start(1), match.end(1), "M144", message, hint)
        if unit.target.device == "hip" and unit.target.has_images:
            return
        told = False
        for match in unit.occurrences(frozenset(self._FUNCTIONS)):
            follows = unit.code[match.end() : match.end() + 2].lstrip()[:1]
            if match.start() in apart or is_anothers(unit, match.start()) or follows not in (b"(", b"<") or told:
                continue
            if follows == b"(" and call(unit.code, match.end()) is None:
                continue
            told = True
            message = f"{match.group().decode()}: {unit.target.architecture} has no image instructions, and HIP no texture functions for it"
            hint = "read through plain pointers (a fetch of one element is a load), and interpolate by hand; Radeon cards have textures"
            yield Problem(match.start(), match.end(), "M144", message, hint)


class SmallFloats:
    """Numbers of 8 bits are of another format on CDNA3."""

    name = "small-floats"
    words = frozenset(
        (
            b"__nv_fp8_e4m3",
            b"__nv_fp8_e5m2",
            b"__nv_fp8x2_e4m3",
            b"__nv_fp8x4_e4m3",
            b"__nv_fp8x2_e5m2",
            b"__nv_fp8x4_e5m2",
        )
    )

    def apply(self, unit: Unit) -> Iterator[Outcome]:
        if unit.options.keep_cuda or not unit.target.has_fnuz:
            return
        apart = unit.apart
        match = next((m for m in unit.occurrences(self.words) if m.start() not in apart), None)
        if match is not None:
            message = "8-bit floats of CUDA are of the OCP formats; the instructions of gfx942 have FNUZ, where the same byte is half the value"
            hint = "values go through conversions unharmed, in software; for the matrix units requantise to __hip_fp8_e4m3_fnuz, with twice the scale"
            yield Problem(match.start(), match.end(), "M143", message, hint, "warning")


RULES = (MatrixFragments(), Collectives(), GroupFunctions(), StandardLibrary(), Cutlass(), Textures(), SmallFloats())

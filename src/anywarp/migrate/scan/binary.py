"""Shared objects, programs, static libraries, cubins and PTX: what GPU code they carry, and what of NVIDIA's they are linked to.

Whether a package can move depends on what its maker compiled: PTX can be compiled again, machine code (SASS) cannot. There is one use per
file and library, not per symbol.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate.findings import Use
from anywarp.migrate.scan.elf_dynamic import Dynamic, dynamic
from anywarp.ptx import elf, fatbin
from anywarp.ptx.carried import carried
from anywarp.ptx.index import index_module
from anywarp.ptx.inspect import lacks

LARGEST = 4 << 30
MAPPED = True
INSTALLED = True

DAMAGED = "M020"
PTX_BUDGET = 24 << 20
"""Most bytes of PTX text of one file whose instructions are looked at; what is left out is said."""
CODE_BUDGET = 96 << 20
"""Most bytes of machine code of one file in which names of kernels are looked up."""

_AR = b"!<arch>\n"
_FATBIN = fatbin.FATBIN_MAGIC.to_bytes(4, "little")
_WRAPPER = fatbin.WRAPPER_MAGIC.to_bytes(4, "little")
_STEMS = (
    r"cuda|cudart|cublas|cublasLt|cudnn\w*|cufft|cufftw|curand|cusolver|cusolverMg|cusparse|cusparseLt|nccl|nvrtc|nvrtc-builtins|nvidia-ml|nvToolsExt|cupti"
    r"|nvJitLink|nvjitlink|cufile\w*|nvinfer\w*|nvonnxparser|nvjpeg\w*|npp\w+|nvshmem_host|nvshmem|cutensor\w*|cudss|nvvm|nvcomp|nvblas|cudadevrt|nvcuvid|nvidia-encode|optix"
)
_SONAME = re.compile(rf"lib({_STEMS})\.so(?:\.[\d.]+)?")
_OPENED = re.compile(rb"(?<=\0)lib(?:" + _STEMS.encode() + rb")\.so(?:\.\d+){0,3}(?=\0)")
_SYMBOL = re.compile(
    r"cublasLt\w+|cublas\w+|cudnn\w+|cufft\w+|curand\w+|cusolver\w+|cusparse\w+|nccl[A-Z]\w+|nvrtc\w+|nvml\w+|nvJitLink\w+|nvtx\w+|cupti\w+|cuda[A-Z]\w+|__cuda\w+|cu[A-Z]\w+"
)
_PART = 380
"""Characters of symbols in one detail; a list of them is continued in the next."""
_PARTS = 40


def wants(path: PurePath, head: bytes) -> bool:
    """Take ELF files, archives of objects, fat binaries and PTX by their first bytes."""
    if head.startswith((elf.MAGIC, _AR, _FATBIN, _WRAPPER)):
        return not path.name.endswith((".debug", ".ko"))
    return path.suffix.lower() == ".ptx" or (b".version" in head and b".target sm_" in head and fatbin.is_ptx(head))


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield what a binary carries and needs. AnywarpError M020 when its tables are damaged."""
    start = bytes(data[:8])
    if start.startswith(_AR):
        yield from _archive(data, path)
        return
    try:
        if start.startswith(elf.MAGIC):
            if data[4:6] != b"\x02\x01":
                return  # 32-bit or big-endian: CUDA has no such
            yield from _elf(data, path)
        else:
            yield from _code(data, path, "")
    except AnywarpError as error:
        raise AnywarpError(
            Diagnostic(
                DAMAGED, f"the binary cannot be read: {error.diagnostic.message}",
                help="if a program can load it, report it with the file; else fetch or build it again",
            )
        ) from None  # fmt: skip


def _elf(data: bytes, path: PurePath) -> Iterator[Use]:
    read = elf.read(data)
    if read.machine == elf.MACHINE_CUDA:
        yield from _code(data, path, "")
        return
    linked = dynamic(read)
    own = _SONAME.fullmatch(linked.soname or path.name) or _SONAME.fullmatch(re.sub(r"\.so.*", ".so", path.name))
    if own:
        yield Use("binary.nvidia", linked.soname or path.name, details=(("library", f"lib{own[1]}"),))
        return
    carries = any(section.name in (".nv_fatbin", "__nv_relfatbin", ".nvFatBinSegment") for section in read.sections)
    if not carries and not _mentions(linked) and not _opens(read):
        return
    runtime = _runtime(read, linked)
    if carries:
        yield from _code(data, path, runtime)
    elif runtime.startswith("static"):
        yield Use("binary.runtime", path.name, details=(("runtime", runtime),))
    yield from _linked(linked)
    known = set(linked.needed)
    for name in _opened(read):
        if name not in known:
            yield Use("binary.dlopen", name)


def _mentions(linked: Dynamic) -> bool:
    return any(_SONAME.fullmatch(name) for name in linked.needed)


def _runtime(read: elf.Elf, linked: Dynamic) -> str:
    """Return how NVIDIA's runtime is linked: shared, static (with its symbols or stripped), or not at all: another library registers the code."""
    if any(name.startswith("libcudart.so") for name in linked.needed) or "__cudaRegisterFatBinary" in linked.imported:
        return "shared"
    return carried(read) or "none"


def _linked(linked: Dynamic) -> Iterator[Use]:
    """Yield one use per library of NVIDIA's that is needed, with the symbols that are imported from it."""
    by_library: dict[str, list[str]] = {}
    for symbol in linked.imported:
        if _SYMBOL.fullmatch(symbol):
            by_library.setdefault(_home(symbol), []).append(symbol)
    libraries = [name for name in linked.needed if _SONAME.fullmatch(name)]
    for name in libraries:
        found = _SONAME.fullmatch(name)
        stem = found[1] if found else ""
        symbols = sorted(by_library.pop(stem, []))
        yield Use(
            "binary.library",
            name,
            details=(("library", f"lib{stem}"), ("imports", str(len(symbols))), *_listed(symbols)),
        )
    for stem, symbols in sorted(by_library.items()):
        if libraries or stem in ("cuda", "cudart"):  # from a library that another one needs
            details = (("library", f"lib{stem}"), ("imports", str(len(symbols))), *_listed(sorted(symbols)))
            yield Use("binary.library", f"lib{stem}.so", details=(*details, ("through", "another library")))


_HOMES = (
    ("cublasLt", "cublasLt"), ("cublas", "cublas"), ("cudnn", "cudnn"), ("cufft", "cufft"), ("curand", "curand"), ("cusolver", "cusolver"),
    ("cusparse", "cusparse"), ("nccl", "nccl"), ("nvrtc", "nvrtc"), ("nvml", "nvidia-ml"), ("nvJitLink", "nvJitLink"), ("__nvJitLink", "nvJitLink"),
    ("nvtx", "nvToolsExt"), ("cupti", "cupti"), ("cuda", "cudart"), ("__cuda", "cudart"), ("cu", "cuda"),
)  # fmt: skip


def _home(symbol: str) -> str:
    return next(home for start, home in _HOMES if symbol.startswith(start))


def _listed(symbols: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the symbols as details, as many as are kept."""
    line, parts = "", 0
    for symbol in symbols:
        if len(line) + len(symbol) + 1 > _PART:
            yield "symbols", line
            line, parts = "", parts + 1
            if parts >= _PARTS:
                return
        line = f"{line} {symbol}" if line else symbol
    if line:
        yield "symbols", line


def _opens(read: elf.Elf) -> bool:
    return next(_opened(read), None) is not None


def _opened(read: elf.Elf) -> Iterator[str]:
    """Yield the libraries of NVIDIA's whose names stand alone as strings: what is opened at run time."""
    content = read.section(".rodata")
    if content is not None:
        found = {match[0].decode() for match in _OPENED.finditer(content)}
        yield from sorted(found)


def _code(data: bytes, path: PurePath, runtime: str) -> Iterator[Use]:
    """Yield the GPU code of one file: how many images of which architectures, and of its PTX what we lack."""
    found = list(fatbin.images(memoryview(data)))
    if not found:
        return
    counts = Counter((image.kind, image.target) for image in found)
    details = [("sass", _targets(counts, "cubin")), ("ptx", _targets(counts, "ptx")), ("runtime", runtime)]
    texts = [image for image in found if image.kind == "ptx"]
    if texts:
        newest = max(image.version for image in texts)
        details += [
            ("ptx_version", f"{newest[0]}.{newest[1]}"),
            *_kernels(texts, [i for i in found if i.kind == "cubin"]),
        ]
    kind = "ptx.file" if path.suffix.lower() == ".ptx" else "binary.code"
    yield Use(kind, path.name, details=tuple((key, value) for key, value in details if value))


def _targets(counts: Counter[tuple[str, str]], kind: str) -> str:
    found = [target for (each, target) in counts if each == kind]
    return " ".join(sorted(found, key=lambda target: (len(target), target)))


def _kernels(texts: list[fatbin.Image], codes: list[fatbin.Image]) -> Iterator[tuple[str, str]]:
    """Yield how many kernels there are, how many of them have no PTX, and how many need what we lack, and what that is."""
    known: dict[str, tuple[str, ...]] = {}
    unread = damaged = 0
    left = PTX_BUDGET
    for image in sorted(texts, key=lambda image: -image.arch):  # the newest architecture's PTX is the one that is taken
        if image.size > left:
            unread += 1
            continue
        left -= image.size
        try:
            index = index_module(image.payload(), image.target)
            known |= {name: lacks(index, name) for name in index.entries if name not in known}
        except AnywarpError:
            damaged += 1
    named = _named(codes)
    missing = Counter(form for forms in known.values() for form in forms)
    yield "kernels", str(len(named | known.keys()))
    if not unread and (bare := len(named - known.keys())):
        yield "sass_only", str(bare)
    if missing:
        yield "lacking", str(sum(bool(forms) for forms in known.values()))
        yield "missing", " ".join(form for form, _ in missing.most_common(12))
    if unread:
        yield "unread", f"{unread} of {len(texts)} images"
    if damaged:
        yield "damaged", f"{damaged} of {len(texts)} images"


def _named(codes: list[fatbin.Image]) -> set[str]:
    """Return the names of the kernels in machine code, as far as the budget reaches."""
    left, names = CODE_BUDGET, set[str]()
    for image in codes:
        if image.size <= left:
            left -= image.size
            try:
                names.update(fatbin.kernels(image.payload()))
            except AnywarpError:
                continue
    return names


def _archive(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the GPU code of the objects in a static library, summed up."""
    sass: set[str] = set()
    ptx: set[str] = set()
    members = 0
    for start, size in _members(data):
        if bytes(data[start : start + 4]) != elf.MAGIC:
            continue
        try:
            for image in fatbin.images(memoryview(data)[start : start + size]):
                (ptx if image.kind == "ptx" else sass).add(image.target)
                members += 1
        except AnywarpError:
            continue
    own = re.fullmatch(rf"lib({_STEMS})_static\.a|libcudadevrt\.a", path.name)
    if own:
        yield Use("binary.nvidia", path.name, details=(("library", path.name),))
    elif members:
        details = (("sass", " ".join(sorted(sass))), ("ptx", " ".join(sorted(ptx))), ("runtime", "none"))
        yield Use("binary.code", path.name, details=tuple(d for d in details if d[1]))


def _members(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the offset and size of each member of an `ar` archive, as long as its headers hold."""
    at, count = len(_AR), 0
    while at + 60 <= len(data) and count < 1 << 20:
        header = bytes(data[at : at + 60])
        if header[58:] != b"`\n" or not header[48:58].strip().isdigit():
            return
        size = int(header[48:58])
        if at + 60 + size > len(data):
            return
        yield at + 60, size
        at += 60 + size + (size & 1)
        count += 1

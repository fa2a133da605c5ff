"""Write the C++ of the driver library for AMD that follows from tables: forwarded functions, exports, absent ones, codes.

The build runs it (`python generate_hip.py DATA NATIVE OUTDIR`, with the standard library only). A forwarded function is a call
of its counterpart in HIP with each argument converted by the pair of its types; a pair that no rule converts stops the build.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__" and not __package__:  # run as a file by the build, where nothing is installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from anywarp.catalogue.generate import absent_functions, aliases, entry_points, exports
from anywarp.catalogue.load import Row, Table, load

COLUMNS = ("name", "route", "target", "context", "reason")
ROUTES = ("forward", "custom", "absent")

HANDLES: Mapping[str, str] = {
    "CUevent": "hipEvent_t",
    "CUgraph": "hipGraph_t",
    "CUgraphNode": "hipGraphNode_t",
    "CUgraphExec": "hipGraphExec_t",
    "CUmemoryPool": "hipMemPool_t",
    "CUuserObject": "hipUserObject_t",
    "CUmemGenericAllocationHandle": "hipMemGenericAllocationHandle_t",
    "CUexternalMemory": "hipExternalMemory_t",
    "CUexternalSemaphore": "hipExternalSemaphore_t",
}
"""Handles that are HIP's own, passed through."""

SAME_VALUES: Mapping[str, str] = {
    "CUmemPool_attribute": "hipMemPoolAttr",
    "CUstreamCaptureMode": "hipStreamCaptureMode",
    "CUstreamCaptureStatus": "hipStreamCaptureStatus",
    "CUmemAllocationHandleType": "hipMemAllocationHandleType",
    "CUgraphMem_attribute": "hipGraphMemAttributeType",
    "CUmemAllocationGranularity_flags": "hipMemAllocationGranularity_flags",
    "CUhostFn": "hipHostFn_t",
}
"""Enums whose enumerators have the same values on both sides, as tests compare, and types of functions that are called alike."""

SAME_LAYOUT: Mapping[str, str] = {
    "CUmemAllocationProp": "hipMemAllocationProp",
    "CUmemAccessDesc": "hipMemAccessDesc",
    "CUmemLocation": "hipMemLocation",
    "CUmemPoolProps": "hipMemPoolProps",
    "CUmemPoolPtrExportData": "hipMemPoolPtrExportData",
    "CUDA_HOST_NODE_PARAMS": "hipHostNodeParams",
    "CUipcEventHandle": "hipIpcEventHandle_t",
    "CUipcMemHandle": "hipIpcMemHandle_t",
    "CUDA_EXTERNAL_MEMORY_HANDLE_DESC": "hipExternalMemoryHandleDesc",
    "CUDA_EXTERNAL_MEMORY_BUFFER_DESC": "hipExternalMemoryBufferDesc",
    "CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC": "hipExternalSemaphoreHandleDesc",
    "CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS": "hipExternalSemaphoreSignalParams",
    "CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS": "hipExternalSemaphoreWaitParams",
    "CUDA_EXT_SEM_SIGNAL_NODE_PARAMS": "hipExternalSemaphoreSignalNodeParams",
    "CUDA_EXT_SEM_WAIT_NODE_PARAMS": "hipExternalSemaphoreWaitNodeParams",
}
"""Structures whose members lie in the same places and mean the same."""

NOT_CAPTURED = frozenset(
    "hipGraphLaunch hipStreamAttachMemAsync hipStreamWriteValue32 hipStreamWriteValue64 "
    "hipSignalExternalSemaphoresAsync hipWaitExternalSemaphoresAsync".split()
)
"""What HIP runs at once on a stream that is being captured, where CUDA makes a node of it or refuses (`hip/capture.h`)."""

_MADE = "// Made by anywarp/catalogue/generate_hip.py; change the tables instead.\n"
_SCALARS = {
    "int": "int",
    "unsigned int": "unsigned",
    "size_t": "size_t",
    "float": "float",
    "unsigned char": "unsigned char",
    "unsigned short": "unsigned short",
    "unsigned long long": "unsigned long long",
    "cuuint32_t": "uint32_t",
    "cuuint64_t": "uint64_t",
    "CUdevice": "int",
    "CUdeviceptr": "uint64_t",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """How one function of libcuda is answered over HIP: `context` is whether a current context is asked for first."""

    name: str
    route: str
    target: str
    context: bool
    reason: str


class TableError(ValueError):
    """Raised for a table that contradicts itself or asks for a conversion that no rule has."""


def load_answers(path: Path) -> dict[str, Answer]:
    """Read cuda_hip.tsv."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if not lines[0].startswith("# ") or lines[1] != "\t".join(COLUMNS):
        raise TableError(f"{path.name}: a table begins with its source and its columns")
    answers: dict[str, Answer] = {}
    for number, line in enumerate(lines[2:], start=3):
        if not line:
            continue
        cells = line.split("\t")
        if len(cells) != len(COLUMNS) or cells[1] not in ROUTES:
            raise TableError(f"{path.name}:{number}: not a row")
        name, route, target, context, reason = cells
        if (route == "forward") != bool(target) or (route == "absent") != bool(reason) or name in answers:
            raise TableError(
                f"{path.name}:{number}: a forwarded function has a target, an absent one a reason, each one row"
            )
        answers[name] = Answer(name, route, target, context == "1", reason)
    return answers


def split_parameters(text: str) -> list[tuple[str, str]]:
    """Return (type, name) of a C parameter list without function pointers; nothing for `void`."""
    if text.strip() in ("", "void"):
        return []
    out: list[tuple[str, str]] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(.*?)(\w+)\s*(\[\w*\])?\s*", part, re.S)
        if not found:
            raise TableError(f"not a parameter: {part!r}")
        kind = " ".join(re.sub(r"\b(struct|enum|union)\b", "", found[1]).replace("*", " * ").split())
        out.append((kind + (" *" if found[3] else ""), found[2]))
    return out


def hip_prototypes(header: str) -> dict[str, list[tuple[str, str]]]:
    """Return the parameters of the functions that hip_api.h declares."""
    found = re.findall(r"^\w[\w ]*?\*? ?(hip\w+)\((.*?)\);", header, re.M)
    return {name: split_parameters(parameters) for name, parameters in found if "(" not in parameters}


def _plain(kind: str) -> str:
    return " ".join(word for word in kind.split() if word != "const")


def parameter_type(kind: str) -> str:
    """Return the type with which a parameter is passed, as far as the calling convention can tell."""
    plain = _plain(kind)
    if plain == "CUdeviceptr *":
        return "CUdeviceptr*"
    if plain.endswith("*"):
        return "void*"
    if plain in _SCALARS:
        return _SCALARS[plain]
    if plain in HANDLES:
        return "uint64_t" if plain == "CUmemGenericAllocationHandle" else "void*"
    if plain in ("CUstream", "CUcontext", "CUarray", "CUhostFn", "CUstreamCallback"):
        return "void*"
    if plain in SAME_VALUES or plain.startswith("CU"):
        return "int"
    raise TableError(f"no rule passes {kind!r}")


def convert(kind: str, name: str, counterpart: str) -> str:
    """Return the expression that makes an argument of HIP's type `counterpart` of the parameter `name` of CUDA's type `kind`."""
    cuda, target = _plain(kind), _plain(counterpart)
    pointer = target.replace(" *", "*")
    if cuda == "CUstream" and target == "hipStream_t":
        return f"stream_for({name})"
    if cuda == "CUstream *" and target == "hipStream_t *":
        return f"static_cast<hipStream_t*>({name})"
    if cuda == "CUdevice" and target in ("int", "hipDevice_t"):
        return f"hip_device({name})"
    if cuda == "CUdeviceptr" and target in ("hipDeviceptr_t", "void *"):
        return f"reinterpret_cast<void*>({name})"
    if cuda == "CUdeviceptr *" and target in ("hipDeviceptr_t *", "void * *"):
        return f"reinterpret_cast<void**>({name})"
    if HANDLES.get(cuda) == target:
        return f"reinterpret_cast<{target}>({name})"
    if SAME_VALUES.get(cuda) == target:
        cast = "reinterpret_cast" if cuda == "CUhostFn" else "static_cast"
        return f"{cast}<{target}>({name})"
    if cuda == target or (cuda in _SCALARS and target in _SCALARS.values() and _SCALARS[cuda] == target):
        return f"static_cast<{pointer}>({name})"
    if {cuda, target} in ({"cuuint32_t", "unsigned int"}, {"cuuint32_t", "uint32_t"}, {"cuuint64_t", "uint64_t"}):
        return name
    base, _, stars = cuda.partition(" *")
    known = {**HANDLES, **SAME_VALUES, **SAME_LAYOUT, "cuuint64_t": "uint64_t"}
    if (
        cuda.endswith("*")
        and f"{known.get(base, base)} *{stars}" == target
        and (base in known or base in _SCALARS or base == "void")
    ):
        return f"static_cast<{pointer}>({name})"
    raise TableError(f"no rule makes {counterpart!r} of {kind!r}")


def forward(answer: Answer, signature: str, counterparts: Mapping[str, list[tuple[str, str]]]) -> str:
    """Return the definition of a forwarded function."""
    if answer.target not in counterparts:
        raise TableError(f"{answer.name}: hip_api.h has no {answer.target}")
    mine, theirs = split_parameters(signature), counterparts[answer.target]
    if len(mine) != len(theirs):
        raise TableError(f"{answer.name} has {len(mine)} parameters and {answer.target} {len(theirs)}")
    try:
        parameters = ", ".join(f"{parameter_type(kind)} {name}" for kind, name in mine)
        arguments = ", ".join(
            convert(kind, name, counterpart) for (kind, name), (counterpart, _) in zip(mine, theirs, strict=True)
        )
        if answer.target in NOT_CAPTURED:
            arguments = re.sub(r"stream_for\((\w+)\)", rf'uncaptured(\1, "{answer.name}")', arguments)
    except TableError as error:
        raise TableError(f"{answer.name} as {answer.target}: {error}") from None
    outputs = [name for kind, name in mine if kind.endswith("*") and not kind.startswith("const") and _is_output(kind)]
    checks = f"require({' && '.join(outputs)}); " if outputs else ""
    context = "require_context(); " if answer.context else ""
    given = "".join(f", {name}" for _, name in mine)
    return (
        f'AW_EXPORT CUresult {answer.name}({parameters}) {{\n  return api<"{answer.name}">([&] {{\n'
        f"    {context}{checks}\n    return to_cuda(AW_HIP({answer.target})({arguments}));\n  }}{given});\n}}\n"
    )


def _is_output(kind: str) -> bool:
    """Whether a null pointer of this type is an error in every forwarded function: handles and addresses to be written."""
    base = _plain(kind).removesuffix(" *")
    return base == "CUdeviceptr" or base in (
        "CUstream",
        "CUevent",
        "CUmemoryPool",
        "CUgraph",
        "CUgraphExec",
        "CUuserObject",
    )


def signatures(path: Path) -> dict[str, str]:
    """Return the parameters of libcuda's functions by name."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[2:] if line)
    return {row[0]: row[2] for row in rows}


def error_codes(path: Path) -> str:
    """Return the driver's codes of HIP's, in order of HIP's."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[2:] if line)
    codes = {int(row[0]): (row[3], row[1]) for row in rows}
    return _MADE + "".join(f"{{{value}, {code}}},  // {name}\n" for value, (code, name) in sorted(codes.items()))


def as_answered(table: Table, answers: Mapping[str, Answer]) -> Table:
    """Return libcuda's table with the routes that functions have over HIP."""

    def row(old: Row) -> Row:
        answer = answers.get(old.name)
        if old.route == "absent" or answer is None or answer.route != "absent":
            return old
        return Row(old.name, old.base, "absent", "", old.since, old.per_thread, old.parameters, answer.reason)

    return Table(table.source, tuple(map(row, table.rows)))


def generate(data: Path, native: Path, directory: Path) -> list[Path]:
    """Write all files into `directory`; returns those written."""
    answers = load_answers(data / "rocm" / "cuda_hip.tsv")
    counterparts = hip_prototypes((native / "hip" / "hip_api.h").read_text(encoding="utf-8"))
    known = signatures(data / "cuda_signatures.tsv")
    table = as_answered(load(data / "cuda.tsv"), answers)
    unknown = set(answers) - {row.name for row in table.rows}
    if unknown:
        raise TableError(f"cuda_hip.tsv speaks of {sorted(unknown)[0]}, which libcuda does not have")
    head = f'{_MADE}#include "hip/capture.h"\n#include "hip/devices.h"\n\nusing namespace aw;\n\n'
    bodies = [
        forward(answer, known[answer.name], counterparts) for answer in answers.values() if answer.route == "forward"
    ]
    files = {
        "hip_forward.cpp": head + "\n".join(bodies),
        "hip_errors.inc": error_codes(data / "rocm" / "errors_from_hip.tsv"),
        "hip_absent.cpp": absent_functions(table, 801),
        "hip_entries.cpp": entry_points(table, "cuda_entries.h"),
        "hip_exports.map": exports(table),
        "hip_aliases.ld": aliases(table),
    }
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).write_text(content, encoding="utf-8")
    return [directory / name for name in files]


def main(arguments: Sequence[str]) -> int:
    """Run as a command: the catalogue's data, native/, the output folder; returns the exit code."""
    if len(arguments) != 3:
        print("usage: generate_hip.py DATA NATIVE DIRECTORY", file=sys.stderr)
        return 2
    generate(*map(Path, arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

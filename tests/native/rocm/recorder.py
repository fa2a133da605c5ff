"""Libraries under ROCm's names that write down what they are called with, made from the declarations in the tables.

They are read here a second time, apart from the generator's reading: what it misreads must show.
"""

from __future__ import annotations

import csv
import ctypes
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import anywarp.catalogue

TABLES = Path(anywarp.catalogue.__file__).parent / "data" / "rocm"

C_TYPES = {
    "int": "int", "unsigned": "unsigned", "unsigned int": "unsigned", "int32_t": "int", "uint32_t": "unsigned",
    "int64_t": "long", "uint64_t": "unsigned long", "size_t": "unsigned long", "long long": "long", "long long int": "long",
    "unsigned long long": "unsigned long", "unsigned long long int": "unsigned long", "long": "long", "char": "char",
    "float": "float", "double": "double", "float2": "float2", "double2": "double2", "_Bool": "_Bool", "bool": "_Bool",
    "unsigned char": "unsigned char", "uint8_t": "unsigned char", "int8_t": "signed char", "uint16_t": "unsigned short",
    "signed char": "signed char", "unsigned short": "unsigned short", "short": "short",
    "hipComplex": "float2", "hipFloatComplex": "float2", "hipblasComplex": "float2", "hipDoubleComplex": "double2",
    "hipblasDoubleComplex": "double2", "hipblasStride": "long", "__half": "unsigned short", "hipblasHalf": "unsigned short",
    "ncclUniqueId": "struct id128", "cuComplex": "float2", "cuDoubleComplex": "double2", "cufftHandle": "int",
    "hipfftReal": "float", "hipfftComplex": "float2", "hipfftDoubleComplex": "double2", "hipfftDoubleReal": "double",
    "cuFloatComplex": "float2", "hiprandGenerator_t": "void*",
}  # fmt: skip


HANDLES = {"hipsolverDnHandle_t", "hipfftHandle", "hipsolverSpHandle_t", "hipsolverRfHandle_t"}
UNKNOWN = "int"
"""How a parameter is passed of whose type the tables say nothing: it belongs to functions that are written by hand."""


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the catalogue."""
    with (TABLES / name).open(encoding="utf-8", newline="") as lines:
        return list(
            csv.DictReader(
                (line for line in lines if not line.startswith("# ")), delimiter="\t", quoting=csv.QUOTE_NONE
            )
        )


@dataclass(frozen=True)
class Declared:
    """A parameter as written: its type's name, whether it is an address, and whether the function may write there."""

    type: str
    pointers: int
    writes: bool


def declared(text: str) -> list[Declared]:
    """Read a parameter list."""
    if text.strip() in ("", "void"):
        return []
    found: list[Declared] = []
    for part in re.split(r",(?![^()]*\))", text):
        pointers = part.count("*") + part.count("[")
        if "(" in part:
            found.append(Declared("callback", 1, False))
            continue
        writes = pointers > 0 and "const" not in part.split("*")[0]
        words = re.sub(r"\[.*?\]|\*|\bconst\b|\bstruct\b|\benum\b", " ", part).split()
        if len(words) > 1 and " ".join(words) not in C_TYPES:
            words.pop()
        found.append(Declared(" ".join(words), pointers, writes))
    return found


@dataclass
class Side:
    """What is known of a library's types on one side (CUDA's or ROCm's)."""

    kinds: dict[str, str] = field(default_factory=dict[str, str])
    underlying: dict[str, str] = field(default_factory=dict[str, str])


def side_of(stem: str, target: bool) -> Side:
    """Return the kinds of the types of one side."""
    side = Side()
    for row in rows(f"{stem}_types.tsv"):
        name = row["target"] if target else row["name"]
        if not name:
            continue
        if row["kind"] == "alias":
            definition = row["target_definition"] if target else row["definition"]
            if side.kinds.get(name, "alias") == "alias":
                side.kinds[name] = "alias"
                side.underlying[name] = re.sub(r"\b(const|struct|enum)\b", "", definition).strip()
        else:
            side.kinds[name] = row["kind"]
    return side


def c_type(side: Side, parameter: Declared) -> str:
    """Return what a C compiler calls the type of a parameter, as far as it matters to how it is passed."""
    name = parameter.type
    for _ in range(4):
        if parameter.pointers or name.endswith("*"):
            return "void*"
        if name in C_TYPES:
            return C_TYPES[name]
        kind = side.kinds.get(name) or side.kinds.get(name + "_t") or side.kinds.get(name.removesuffix("_t"), "")
        if kind == "enum":
            return "int"
        if (
            kind == "handle"
            or name in HANDLES
            or name.endswith("Info_t")
            or name in ("hipStream_t", "cudaStream_t", "hipEvent_t", "cudaEvent_t")
        ):
            return "void*"
        if kind != "alias":
            break
        name = side.underlying[name]
    return UNKNOWN


PROLOGUE = """
#include <string.h>
typedef struct { float x, y; } float2;
typedef struct { double x, y; } double2;
struct id128 { char bytes[128]; };
typedef struct { const char* name; int count; int sizes[40]; unsigned char bytes[40][128]; } Call;
Call fake_calls[256];
int fake_count, fake_status;
struct { int index, size; unsigned char bytes[512]; } fake_writes[8];
int fake_write_count;
static Call* begin(const char* name) {
  Call* call = &fake_calls[fake_count++ & 255];
  memset(call, 0, sizeof *call);
  call->name = name;
  return call;
}
static void take(Call* call, const void* value, int size) {
  call->sizes[call->count] = size;
  memcpy(call->bytes[call->count++], value, size < 128 ? size : 128);
}
static void put(int index, void* to) {
  for (int i = 0; i < fake_write_count; i++)
    if (fake_writes[i].index == index && to) memcpy(to, fake_writes[i].bytes, fake_writes[i].size);
}
"""


def source_of(stem: str, runtime: int, without: frozenset[str] = frozenset(), extra: str = "") -> str:
    """Return the C of a library that has what the tables say of a version of ROCm (6 or 7), except `without`."""
    side = side_of(stem, target=True)
    made: dict[str, str] = {}
    for row in rows(f"{stem}.tsv"):
        if not row["target"]:
            continue
        for symbol in symbols_of(row, runtime):
            if symbol not in without and symbol not in made:
                made[symbol] = _function(side, symbol, row["target_result"], row["target_parameters"])
    return PROLOGUE + "".join(made.values()) + extra


def symbols_of(row: dict[str, str], runtime: int) -> list[str]:
    """Return the symbols that a version of ROCm has for a row."""
    older = dict(part.split("=") for part in row["earlier"].split())
    if runtime == 6:
        if sixes := [name for version, name in older.items() if version.startswith("6.")]:
            return [sixes[-1]]
        return [] if row["since"] and float(row["since"]) >= 7 else [row["target"]]
    return [] if row["removed"] and float(row["removed"]) <= 7.1 else [row["target"]]


def _function(side: Side, symbol: str, result: str, parameters: str) -> str:
    listed = declared(parameters)
    taken = ", ".join(f"{c_type(side, each)} p{n}" for n, each in enumerate(listed))
    body = "".join(
        f"take(c, &p{n}, sizeof p{n});" + (f"put({n}, p{n});" if each.pointers and each.writes else "")
        for n, each in enumerate(listed)
    )
    kind = "void*" if "*" in result else C_TYPES.get(result, "void" if result == "void" else "int")
    back = {"void*": "return (void*)(long)fake_status;", "void": ""}.get(kind, "return fake_status;")
    return f'{kind} {symbol}({taken or "void"}) {{ Call* c = begin("{symbol}"); {body} (void)c; {back} }}\n'


def build(folder: Path, soname: str, source: str) -> Path:
    """Compile a library of that name into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / f"{soname}.c"
    text.write_text(source, encoding="utf-8")
    library = folder / soname
    subprocess.run(
        ["cc", "-O0", "-w", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", library, text], check=True, timeout=120
    )
    return library


class Call(ctypes.Structure):
    """One call that the library wrote down."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("count", ctypes.c_int),
        ("sizes", ctypes.c_int * 40),
        ("bytes", (ctypes.c_ubyte * 128) * 40),
    )


class Write(ctypes.Structure):
    """What the library shall write through a pointer."""

    _fields_ = (("index", ctypes.c_int), ("size", ctypes.c_int), ("bytes", ctypes.c_ubyte * 512))


class Recorder:
    """The recording library, as loaded by the process that also loads the one under test."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        self._count = ctypes.c_int.in_dll(library, "fake_count")
        self._status = ctypes.c_int.in_dll(library, "fake_status")
        self._calls = (Call * 256).in_dll(library, "fake_calls")
        self._writes = (Write * 8).in_dll(library, "fake_writes")
        self._write_count = ctypes.c_int.in_dll(library, "fake_write_count")

    def reset(self, status: int = 0, writes: dict[int, bytes] | None = None) -> None:
        """Forget the calls; from now on functions return `status` and write these bytes through their parameters."""
        self._count.value = 0
        self._status.value = status
        self._write_count.value = len(writes or {})
        for slot, (index, data) in enumerate((writes or {}).items()):
            self._writes[slot].index, self._writes[slot].size = index, len(data)
            ctypes.memmove(self._writes[slot].bytes, data, len(data))

    def calls(self) -> list[tuple[str, list[bytes]]]:
        """Return the calls since then: name, and the bytes of each argument."""
        found: list[tuple[str, list[bytes]]] = []
        for n in range(self._count.value):
            call = self._calls[n]
            found.append((call.name.decode(), [bytes(call.bytes[i][: call.sizes[i]]) for i in range(call.count)]))
        return found

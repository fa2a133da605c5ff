"""Inline PTX made of the instruction table, translated, and compiled for the machine at hand with stand-ins for HIP's functions.

The stand-ins are written here, so that what is tested is the translation and `support/anywarp_ptx.h`.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path, PurePath

from anywarp.check.conformance.rows import KINDS, Row
from anywarp.migrate.target import parse_target
from anywarp.migrate.translate.inline_ptx import convert
from anywarp.migrate.translate.inline_ptx_text import statements
from anywarp.migrate.translate.unit import Options, Unit

SUPPORT = Path(__file__).parents[3] / "src/anywarp/migrate/translate/support"
OPTIONS = Options(parse_target("hip:gfx942", "7.1"))
CONSTRAINT = {"pred": "r", "b8": "h", "b16": "h", "b32": "r", "b64": "l", "b128": "q", "f32": "f", "f64": "d"}
C_TYPE = {
    "pred": "unsigned", "b8": "unsigned short", "b16": "unsigned short", "b32": "unsigned", "b64": "unsigned long long",
    "b128": "unsigned __int128", "f32": "float", "f64": "double",
}  # fmt: skip

STAND_INS = """
#include <cmath>
#include <cstring>
#include <algorithm>
using std::isunordered;
static inline unsigned __float_as_uint(float a) { unsigned u; std::memcpy(&u, &a, 4); return u; }
static inline float __uint_as_float(unsigned u) { float a; std::memcpy(&a, &u, 4); return a; }
static inline long long __double_as_longlong(double a) { long long u; std::memcpy(&u, &a, 8); return u; }
static inline double __longlong_as_double(long long u) { double a; std::memcpy(&a, &u, 8); return a; }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
static inline int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static inline long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
static inline int __popc(unsigned a) { return __builtin_popcount(a); }
static inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
static inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned)a); }
static inline int __clzll(long long a) { return a == 0 ? 64 : __builtin_clzll((unsigned long long)a); }
static inline unsigned __brev(unsigned a) {
  unsigned r = 0;
  for (int n = 0; n < 32; ++n) r |= (a >> n & 1u) << (31 - n);
  return r;
}
static inline unsigned long long __brevll(unsigned long long a) {
  return (unsigned long long)__brev((unsigned)a) << 32 | __brev((unsigned)(a >> 32));
}
using std::min;
using std::max;
#include "anywarp_ptx.h"
"""


def statement(row: Row) -> str:
    """The asm statement that runs a row on variables `rN` and `sN`; predicates pass through whole registers."""
    before, after = "", ""
    outputs, inputs, names = [], [], {}
    written = [n for n in range(len(row.sources)) if f"{{s{n}}}, {{s{n}}}" in row.text]
    order = [*written, *(n for n in range(len(row.sources)) if n not in written)]
    for n, kind in enumerate(row.results):
        type = KINDS[kind]
        if type == "pred":
            before += f".reg .pred d{n}; "
            after += f" selp.u32 %{n}, 1, 0, d{n};"
        names[f"r{n}"] = f"d{n}" if type == "pred" else f"%{n}"
        outputs.append(f'"={CONSTRAINT[type]}"(r{n})')
    for at, n in enumerate(order, len(row.results)):
        type = KINDS[row.sources[n]]
        if type == "pred":
            before += f".reg .pred p{n}; setp.ne.u32 p{n}, %{at}, 0; "
        names[f"s{n}"] = f"p{n}" if type == "pred" else f"%{at}"
        (outputs if n in written else inputs).append(f'"{"+" if n in written else ""}{CONSTRAINT[type]}"(s{n})')
    text = row.text.format(**names)
    body = "{ " + before + text + after + " }" if before or row.text.count(";") > 1 else text
    return f'asm("{body}" : {", ".join(outputs)} : {", ".join(inputs)});'


def translated(source: str) -> str:
    """Translate the one asm statement of a text."""
    unit = Unit(source.encode(), PurePath("row.cu"), OPTIONS)
    (found,) = statements(unit.code, unit.data)
    made = convert(found, unit.data)
    text = "".join(p if isinstance(p, str) else unit.data[p.start : p.end].decode() for p in made.text)
    return text if made.block else text + ";"


def function(name: str, row: Row, body: str) -> str:
    """A function of C that runs a translated row: each operand has sixteen bytes of `in` or `out`."""
    lines = [f'extern "C" void {name}(const char *in, char *out) {{']
    for n, kind in enumerate(row.sources):
        type = C_TYPE[KINDS[kind]]
        lines.append(f"  {type} s{n}; std::memcpy(&s{n}, in + {16 * n}, sizeof s{n});")
    for n, kind in enumerate(row.results):
        lines.append(f"  {C_TYPE[KINDS[kind]]} r{n} = {{}};")
    lines.append(re.sub("^", "  ", body, flags=re.MULTILINE))
    for n in range(len(row.results)):
        lines.append(f"  std::memcpy(out + {16 * n}, &r{n}, sizeof r{n});")
    return "\n".join([*lines, "}"])


def compiled(functions: list[str], folder: Path) -> ctypes.CDLL:
    """Compile functions into a library and load it."""
    source, library = folder / "rows.cpp", folder / "rows.so"
    source.write_text(STAND_INS + "\n".join(functions))
    command = [
        "g++",
        "-std=c++17",
        "-O0",
        "-fPIC",
        "-shared",
        "-Wall",
        "-Wno-unused-but-set-variable",
        "-Wno-tautological-compare",
        "-Werror",
        "-ffp-contract=off",
    ]
    done = subprocess.run([*command, f"-I{SUPPORT}", str(source), "-o", str(library)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return ctypes.CDLL(str(library))


def run(library: ctypes.CDLL, name: str, row: Row, values: tuple[int, ...]) -> list[int]:
    """Run one function on bit patterns; return those of the destinations."""
    given = b"".join(v.to_bytes(16, "little") for v in values)
    out = ctypes.create_string_buffer(16 * len(row.results))
    getattr(library, name)(given, out)
    return [int.from_bytes(out.raw[16 * n : 16 * n + 16], "little") for n in range(len(row.results))]

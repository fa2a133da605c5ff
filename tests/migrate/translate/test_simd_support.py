"""`support/anywarp_simd.h` computes on parts of words what CUDA's guide says of each function, on this machine's processor."""

# pyright: basic
from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from anywarp.migrate.translate.rules_device import FUNCTIONS, SIMD

SUPPORT = Path(__file__).parents[3] / "src/anywarp/migrate/translate/support"
NAMES = sorted(new.text.decode().removeprefix("anywarp::") for new in FUNCTIONS.values() if new.header == SIMD)
PARTS = [name for name in NAMES if name[-1] in "24" and "_" not in name]
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")


def clamp(value, width, signed):
    high = (1 << (width - signed)) - 1
    return max(-high - 1 if signed else 0, min(high, value))


def signed_of(name: str) -> bool:
    stem = name[1:-1]
    if stem in ("add", "sub", "addus", "subus", "cmpeq", "cmpne", "seteq", "setne", "haddu"):
        return False
    return stem.endswith("s") or stem in ("abs", "neg")


def part(stem: str, x: int, y: int, width: int) -> int:
    """One part of the result; x and y have the sign that the name asks for."""
    compared = {"eq": x == y, "ne": x != y, "ge": x >= y, "gt": x > y, "le": x <= y, "lt": x < y}
    if stem.startswith(("cmp", "set")):
        return (-1 if stem.startswith("cmp") else 1) if compared[stem[3:5]] else 0
    away = 1 if x + y >= 0 else 0
    return {
        "add": x + y, "sub": x - y, "addus": clamp(x + y, width, 0), "addss": clamp(x + y, width, 1),
        "subus": clamp(x - y, width, 0), "subss": clamp(x - y, width, 1), "absdiffu": abs(x - y), "absdiffs": abs(x - y),
        "minu": min(x, y), "mins": min(x, y), "maxu": max(x, y), "maxs": max(x, y), "avgu": (x + y + 1) // 2,
        "avgs": (x + y + away) // 2, "haddu": (x + y) // 2, "abs": abs(x), "absss": clamp(abs(x), width, 1), "neg": -x,
        "negss": clamp(-x, width, 1), "sadu": abs(x - y), "sads": abs(x - y),
    }[stem]  # fmt: skip


def expected(name: str, a: int, b: int) -> int:
    count, stem = int(name[-1]), name[1:-1]
    width = 32 // count
    total = []
    for n in range(count):
        x, y = ((v >> n * width) & ((1 << width) - 1) for v in (a, b))
        if signed_of(name):
            x, y = (v - (1 << width) if v >> (width - 1) else v for v in (x, y))
        total.append(part(stem, x, y, width))
    if stem.startswith("sad"):
        return sum(total) & 0xFFFFFFFF
    return sum((v & ((1 << width) - 1)) << n * width for n, v in enumerate(total))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simd")
    one = ("vabs2", "vabs4", "vabsss2", "vabsss4", "vneg2", "vneg4", "vnegss2", "vnegss4")
    lines = ['#include "anywarp_simd.h"']
    for name in PARTS:
        call = f"anywarp::{name}(a)" if name in one else f"anywarp::{name}(a, b)"
        lines.append(f'extern "C" unsigned {name}(unsigned a, unsigned b) {{ (void)b; return {call}; }}')
    (folder / "simd.cpp").write_text("\n".join(lines))
    command = ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", f"-I{SUPPORT}"]
    subprocess.run([*command, str(folder / "simd.cpp"), "-o", str(folder / "simd.so")], check=True)
    return ctypes.CDLL(str(folder / "simd.so"))


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_words(library, name: str):
    function = getattr(library, name)
    function.restype = ctypes.c_uint32
    rng = random.Random(name)
    edges = [0, 0x80808080, 0x7F7F7F7F, 0xFFFFFFFF, 0x80007FFF, 0x01FF80FE, 0xFF00FF00]
    for _ in range(200):
        a, b = (rng.choice(edges) if rng.random() < 0.4 else rng.getrandbits(32) for _ in range(2))
        assert function(a, b) == expected(name, a, b), (name, hex(a), hex(b))

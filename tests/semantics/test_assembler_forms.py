"""Forms that the manual does not show and NVIDIA's assembler (ptxas 13.0) takes: programs have them."""

import shutil
import subprocess

import numpy as np
import pytest

from semantics.devices import DEVICES

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = """.visible .entry k(.param .u64 out) {
  .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .v4 .b32 %v<3>; .reg .v2 .b32 %w<3>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  mad.lo.u32 %r2, %r1, 5, 2; mad.lo.u32 %r3, %r1, 7, 3; mov.u32 %r4, 11; mov.u32 %r5, 13;
"""
TAIL = " st.global.u32 [%d1], %r9; ret; }\n"
T = np.arange(64, dtype=np.uint32)
SUM = " add.u32 %r9, %v1.x, %v1.y; mad.lo.u32 %r9, %v1.z, 100, %r9; mad.lo.u32 %r9, %v1.w, 1000, %r9;"

FORMS = {
    "a whole vector": (
        "",
        "mov.v4.b32 %v2, {%r1, %r2, %r3, %r4}; mov.v4.b32 %v1, %v2;" + SUM,
        T + (5 * T + 2) + 100 * (7 * T + 3) + 11000,
    ),
    "elements that change places": (
        "",
        "mov.v2.u32 {%r2, %r3}, {%r3, %r2}; mad.lo.u32 %r9, %r2, 100, %r3;",
        100 * (7 * T + 3) + 5 * T + 2,
    ),
    "constants": ("", "mov.v4.u32 %v1, {1, 2, 3, 4};" + SUM, T * 0 + 1 + 2 + 300 + 4000),
    "a special register": ("", "mov.v4.u32 %v1, %tid;" + SUM, T),
    "of 64 bits": (
        "",
        "cvt.u64.u32 %d3, %r2; cvt.u64.u32 %d4, %r3; mov.v2.b64 {%d5, %d6}, {%d4, %d3}; sub.u64 %d5, %d5, %d6; cvt.u32.u64 %r9, %d5;",
        2 * T + 1,
    ),
    "an offset in a source": ("", "add.u32 %r9, %r2+4, %r3; mov.u32 %r9, %r9+-1;", 12 * T + 8),
    "an offset in what is stored": ("", "st.global.u32 [%d1], %r2 + 1; ld.global.u32 %r9, [%d1];", 5 * T + 3),
    "a vector as a call's result": (
        ".func (.reg .v4 .b32 r) four(.reg .u32 a) { .reg .b32 b; add.u32 b, a, 1; mov.v4.b32 r, {a, b, b, a}; ret; }\n",
        "call (%v1), four, (%r2);" + SUM,
        (5 * T + 2) + (5 * T + 3) + 100 * (5 * T + 3) + 1000 * (5 * T + 2),
    ),
    "a vector as an argument": (
        ".func (.reg .b32 r) first(.reg .v2 .b32 a) { mad.lo.u32 r, a.x, 100, a.y; ret; }\n",
        "mov.v2.b32 %w1, {%r2, %r3}; call (%r9), first, (%w1);",
        100 * (5 * T + 2) + 7 * T + 3,
    ),
    "a variable of the module inside a function": (
        "",
        ".global .u32 g[4] = {5, 6, 7, 8}; .const .align 8 .u32 c[2] = {100, 200}; ld.global.u32 %r9, [g+8];"
        " ld.const.u32 %r8, [c+4]; mad.lo.u32 %r9, %r8, %r1, %r9;",
        200 * T + 7,
    ),
    "variables of one name, the nearest counts": (
        ".global .u32 g = 1;\n",
        "ld.global.u32 %r9, [g]; { .global .u32 g = 50; { /* { .global .u32 g = 9; */ .global .u32 g = 700; ld.global.u32 %r8, [g]; }"
        " ld.global.u32 %r7, [g]; } add.u32 %r9, %r9, %r8; add.u32 %r9, %r9, %r7;",
        T * 0 + 751,
    ),
    "a variable that a function keeps": (
        ".func (.reg .b32 r) next(.reg .b32 a) { .global .u32 g = 9; atom.global.add.u32 r, [g], a; ld.global.u32 r, [g]; ret; }\n",
        ".global .u32 g = 4; mov.u32 %r8, 0; call (%r7), next, (%r8); call (%r8), next, (%r8); ld.global.u32 %r6, [g];"
        " mad.lo.u32 %r9, %r7, 100, %r6; add.u32 %r9, %r9, %r8;",
        T * 0 + 904 + 9,
    ),
    "an element of an array, loaded": (
        ".global .u32 g[4] = {5, 6, 7, 8}; .const .u16 h[4] = {50, 60, 70, 80};\n",
        ".reg .u16 %h; ld.global.u32 %r9, g[2]; ld.const.u16 %h, h[3]; cvt.u32.u16 %r8, %h; mad.lo.u32 %r9, %r8, %r1, %r9;",
        80 * T + 7,
    ),
    "an element of an array, stored": (
        "",
        ".shared .u64 s[3]; .local .v2 .u32 l[2]; st.shared.u64 s[2], 77; st.local.u32 l[1], %r2; ld.local.u32 %r9, [l+8];"
        " mov.u32 %r8, s[2]; mov.u32 %r7, s; sub.u32 %r8, %r8, %r7; mad.lo.u32 %r9, %r8, 1000, %r9; ld.shared.u32 %r7, [s+16];"
        " add.u32 %r9, %r9, %r7;",
        5 * T + 2 + 16000 + 77,
    ),
    "an element's address": (
        ".global .align 8 .u32 g[4] = {5, 6, 7, 8};\n",
        "mov.u64 %d3, g[3]; ld.global.u32 %r9, [%d3]; mov.u64 %d4, g; sub.u64 %d3, %d3, %d4; cvt.u32.u64 %r8, %d3;"
        " mad.lo.u32 %r9, %r8, 100, %r9;",
        T * 0 + 1208,
    ),
    "lines of a preprocessor": (
        '# 1 "a.cu"\n#line 3 "b {.cu"\n',
        '\n#line 9 "e.cu"\n# 4 "c d.cu"\n mov.u32 %r9, %r2;\n#line 12 "}"\n',
        5 * T + 2,
    ),
}


def program(name):
    before, body, _ = FORMS[name]
    return HEAD + before + KERNEL + body + TAIL


# The reference interpreter passes scalars only in registers.
CASES = [
    (device, name) for device in DEVICES for name in FORMS if device != "reference" or ".func" not in FORMS[name][0]
]


@pytest.mark.parametrize(("device", "name"), CASES)
def test_a_form_means_what_it_says(device, name):
    out = np.zeros(64, np.uint32)
    DEVICES[device](program(name), "k", 1, 64, [out])
    np.testing.assert_array_equal(out, FORMS[name][2])


@pytest.mark.nvcc
@pytest.mark.parametrize("name", FORMS)
def test_nvidias_assembler_takes_the_form(name, tmp_path):
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    source = tmp_path / "form.ptx"
    source.write_text(program(name))
    done = subprocess.run(
        [ptxas, "-arch=sm_80", "-o", str(tmp_path / "out"), str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

"""What holds for every source, also for such that no compiler takes: nothing but the edits changes, and twice is once."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.migrate.target import parse_target
from anywarp.migrate.translate import Options, translate
from migrate.translate.tokens import tokens

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cuda"
MODES = {
    "plain": Options(parse_target("hip:gfx942", rocm="7.1")),
    "macro": Options(parse_target("hip", rocm="7.2"), launch="macro"),
    "both": Options(parse_target("hip", rocm="7.1"), keep_cuda=True),
}

LINES = (
    "#include <cuda_runtime.h>\n", '#include "cufft.h"\n', "#ifdef USE_X\n", "#else\n", "#endif\n", "#ifdef __HIP_PLATFORM_AMD__\n",
    "#define CALL(x) cuda##x(x)\n", "#pragma once\n", "#if CUDA_VERSION > 9000\n", "#ifndef A_H\n#define A_H\n", "// cudaFree(p)\n", "\\\n",
)  # fmt: skip
WORDS = (
    "cudaMalloc", "cudaFree", "cudaError_t", "cudaMemcpyToSymbol", "cudaGraphInstantiate", "cudaFuncSetAttribute", "CUdeviceptr", "p", "k",
    "cudaCtxResetPersistingL2Cache", "CUBLAS_STATUS_LICENSE_ERROR", "cublasHandle_t", "enum", "struct", "class", "namespace", "switch",
    "case", "return", "int", "warpSize", "__shfl_sync", "0xffffffff", "32", "1'000", "mine::", "::", ".", "->", "<<<", ">>>", "<", ">",
    "(", ")", "{", "}", "[", "]", ",", ";", ":", "=", "+", "-", "+=", "&", "*", "...", "dim3", "R\"x(", ")x\"", "\"", "'", "'a'", "\"a\\\"\"",
    "/*", "*/", "/* cudaFree */", "asm", "volatile", "__CUDA_ARCH__", "template", "typename", "é", "CUDAAPI", "\t", " ", " ", "\n", "\n",
)  # fmt: skip


def sources() -> st.SearchStrategy[bytes]:
    """Text of CUDA's words and signs in any order, with any line end."""
    part = st.one_of(st.sampled_from(WORDS), st.sampled_from(LINES))
    text = st.lists(st.tuples(part, st.sampled_from(("", " ", "", "\n"))), max_size=60)
    joined = text.map(lambda parts: "".join(a + b for a, b in parts).encode())
    return st.tuples(joined, st.booleans()).map(lambda pair: pair[0].replace(b"\n", b"\r\n") if pair[1] else pair[0])


def check(data: bytes, mode: str, name: str = "a.cu") -> None:
    done = translate(data, PurePath(name), MODES[mode])
    after, at, kept = b"", 0, list[tuple[int, int, int]]()
    for edit in done.edits:
        assert at <= edit.start <= edit.end <= len(data)
        assert isinstance(edit.replacement, bytes) and data[edit.start : edit.end] != edit.replacement
        kept.append((at, edit.start, len(after) - at))
        after += data[at : edit.start] + edit.replacement
        at = edit.end
    kept.append((at, len(data), len(after) - at))
    after += data[at:]
    assert after == done.text
    assert translate(done.text, PurePath(name), MODES[mode]).text == done.text


@given(sources(), st.sampled_from(sorted(MODES)))
@settings(max_examples=150, deadline=None)
def test_text_is_edited_and_twice_is_once(data: bytes, mode: str):
    if mode == "both":  # conditions that are never closed, or have two branches `else`, would take in what is added
        data = re.sub(rb"#[ \t]*(?:if|el|endif)[^\n]*", b"", data)
    check(data, mode)


@given(st.binary(max_size=300), st.sampled_from(sorted(MODES)))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_taken(data: bytes, mode: str):
    check(data, mode)


STATEMENTS = (
    "cudaMalloc(&p, n);", "k<<<g, b>>>(p);", "k<float, 2><<<g, b, 0, s>>>();", "cudaMemcpyToSymbol(c, h, 4);", "cudaGraphInstantiate(&e, g, 0);",
    "CUdeviceptr q = 0; q += 4 * n; f(q + 1);", "x.cudaFree(p);", "auto s = R\"(cudaFree \" ')\" \"\\\"cudaFree\";", "enum cudaError e = cudaSuccess;",
    "cudaFuncSetAttribute(k<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1);", "int n = 1'000 * 'c';", "// cudaFree(p);\n", "/* <<< */",
    "cudaCtxResetPersistingL2Cache();", "switch (s) { case CUBLAS_STATUS_LICENSE_ERROR: return 1; case CUBLAS_STATUS_SUCCESS: return 0; }",
    "\n#define API(x) cuda##x\n", "\n#if CUDART_VERSION > 9000\n#endif\n", "typedef void CUDART_CB cb(cudaStream_t);", "namespace a { void cudaFree(int); }",
    "\n#include <cuda_runtime.h>\n", "\n#include <cublas_v2.h> // blas\n", "unsigned m = __ballot_sync(0xffffffff, p);", "v += __shfl_down_sync(~0u, v, 16);",
)  # fmt: skip


def check_tokens(data: bytes, mode: str, name: str):
    """Every token that no edit touches is still there, in its place."""
    done = translate(data, PurePath(name), MODES[mode])
    assert translate(done.text, PurePath(name), MODES[mode]).text == done.text, name
    new = {(start, end): text for start, end, text in tokens(done.text.decode("latin-1"))}
    edits = [
        (e.start, e.end, len(e.replacement) - (e.end - e.start)) for e in done.edits if isinstance(e.replacement, bytes)
    ]
    assert len(edits) == len(done.edits)
    moved = index = 0
    for start, end, text in tokens(data.decode("latin-1")):
        while index < len(edits) and edits[index][1] <= start:
            moved += edits[index][2]
            index += 1
        if index < len(edits) and edits[index][0] < end:
            continue
        assert new.get((start + moved, end + moved)) == text, (name, text)
    return len(edits)


@given(
    st.lists(
        st.tuples(st.sampled_from(STATEMENTS), st.sampled_from((" ", "\n", " /* cudaFree */ ", "\t"))), max_size=25
    ),
    st.sampled_from(sorted(MODES)),
)
@settings(max_examples=120, deadline=None)
def test_tokens_outside_the_edits_stay(parts: list[tuple[str, str]], mode: str):
    check_tokens("".join(a + b for a, b in parts).encode(), mode, "a.cu")


@pytest.mark.parametrize("mode", sorted(MODES))
def test_real_sources_keep_their_tokens(mode: str):
    files = sorted(EXAMPLES.glob("*.cu"))
    assert len(files) > 40
    assert sum(check_tokens(path.read_bytes(), mode, path.name) for path in files) > (50 if mode == "both" else 1000)


def test_line_ends_and_byte_order_mark_stay():
    data = b"\xef\xbb\xbf#include <cuda.h>\r\n#include <cufft.h>\r\nint main() { cudaFree(0); }\r\n"
    done = translate(data, PurePath("a.cu"), MODES["plain"])
    expected = (
        b"\xef\xbb\xbf#include <hip/hip_runtime.h>\r\n#include <hipfft/hipfft.h>\r\nint main() { hipFree(0); }\r\n"
    )
    assert done.text == expected


def test_needed_include_follows_the_byte_order_mark_with_the_files_line_end():
    data = b"\xef\xbb\xbf__global__ void k() {}\r\n"
    done = translate(data, PurePath("a.cu"), MODES["plain"])
    assert done.text == b"\xef\xbb\xbf#include <hip/hip_runtime.h>\r\n__global__ void k() {}\r\n"


def test_text_that_is_no_utf8_stays_byte_for_byte():
    data = b"// caf\xe9 \xff\xfe\nint x = cudaSuccess; // \x80\ncudaCtxResetPersistingL2Cache();\n"
    done = translate(data, PurePath("a.cpp"), MODES["plain"])
    assert done.text == data.replace(b"cudaSuccess", b"hipSuccess")
    (problem,) = done.diagnostics
    assert problem.as_json()["line"] == 3 and problem.as_json()["column"] == 1


HOSTILE = {
    "quote and backslashes": b'"' + b"\\\\" * 100_000,
    "open brackets": b"cudaFuncSetAttribute(" * 5_000,
    "open launches": b"k<<<" * 20_000,
    "nested launches": b"k<<<g,b>>>(" * 20_000,
    "templates": b"a<" * 100_000 + b"b<<<1,2>>>(x)",
    "comments": b"/*" + b"*/ /*" * 50_000,
    "raw text": b'R"x(' * 50_000,
    "conditions": b"#if X\n" * 50_000,
    "branches": b"#else\n#elif\n" * 20_000,
    "number signs": b"#" * 300_000,
    "one long word": b"c" * 500_000,
    "quotes": b"'\"" * 100_000,
    "spaces": b" " * 300_000 + b"cudaFree(p)" + b" " * 300_000,
    "labels": b"switch(x){case CUBLAS_STATUS_LICENSE_ERROR: return 1;" * 3_000,
    "name spaces": b"namespace a {" * 20_000 + b"int cudaFree(int);",
    "symbols": b"cudaMemcpyToSymbol(a," * 5_000,
    "pasting": b"#define F(x) cuda##x\n" + b"F(Free) " * 10_000,
    "assembly": b'asm("' * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_taken_in_bounded_steps(name: str):
    """Doubling the text must not make it ten times the work: each of these was quadratic once, or would be."""
    for options in (MODES["plain"], MODES["macro"]):
        done = translate(HOSTILE[name], PurePath("a.cu"), options)
        assert len(done.text) >= 10_000 and len(done.diagnostics) <= 2_000


def test_more_problems_than_can_be_read_are_counted():
    done = translate(b"cudaCtxResetPersistingL2Cache();\n" * 700, PurePath("a.cpp"), MODES["plain"])
    codes = [each.code for each in done.diagnostics]
    assert codes.count("M111") == 500 and codes[-1] == "M117" and "200 more" in done.diagnostics[-1].message


def test_what_is_no_text_is_refused_and_kept():
    data = b"\x7fELF\0\0cudaFree(p)"
    done = translate(data, PurePath("a.cu"), MODES["plain"])
    assert done.text == data and [each.code for each in done.diagnostics] == ["M102"]


def test_what_is_too_large_is_refused_and_kept():
    data = b"cudaFree(p); " * (17 << 20)  # 200 MB on one line
    done = translate(data, PurePath("a.cu"), MODES["plain"])
    assert done.text is data and [each.code for each in done.diagnostics] == ["M101"]


def test_a_header_of_the_tree_is_not_cudas():
    options = Options(parse_target("hip", rocm="7.1"), local=frozenset(("src/a.cpp", "include/mma.h")))
    data = b'#include "mma.h"\n#include "nvrtc.h"\n#include <cufft.h>\n'
    done = translate(data, PurePath("src/a.cpp"), options)
    assert done.text == b'#include "mma.h"\n#include "hip/hiprtc.h"\n#include <hipfft/hipfft.h>\n'

"""libnvrtc as programs call it: every function, through the compile service."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp import settings
from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import clang

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("same_compiler")]

SUCCESS, INVALID_INPUT, INVALID_PROGRAM, INVALID_OPTION, COMPILATION = 0, 3, 4, 5, 6
AFTER_COMPILATION, BEFORE_COMPILATION, NOT_VALID, INTERNAL, NO_PCH, CANCELLED = 8, 9, 10, 11, 13, 16
TEXT = b'template <class T> __global__ void fill(T* p) { p[threadIdx.x] = VALUE; }\nextern "C" __global__ void k(int*) {}\n'


@pytest.fixture(scope="module", params=[12, 13])
def library(request):
    path = settings.LIBRARY_DIR.get() / f"libnvrtc.so.{request.param}"
    if not path.exists():
        pytest.skip(f"{path.name} is not built")
    return ctypes.CDLL(str(path))


@pytest.fixture(scope="module", autouse=True)
def needs_clang():
    try:
        clang.find()
    except AnywarpError:
        pytest.skip("this machine has no clang for CUDA: python -m pip install ziglang")


@pytest.fixture
def program(library):
    made = create(library, TEXT)
    yield made
    assert library.nvrtcDestroyProgram(ctypes.byref(made)) == SUCCESS
    assert not made.value


def create(library, text, headers=()):
    made = ctypes.c_void_p()
    bodies = (ctypes.c_char_p * len(headers))(*(body for _, body in headers))
    names = (ctypes.c_char_p * len(headers))(*(name for name, _ in headers))
    assert library.nvrtcCreateProgram(ctypes.byref(made), text, b"fill.cu", len(headers), bodies, names) == SUCCESS
    return made


def build(library, program, *options):
    words = (ctypes.c_char_p * len(options))(*options)
    return library.nvrtcCompileProgram(program, len(options), words)


def read(library, program, what):
    size = ctypes.c_size_t()
    assert getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) == SUCCESS
    text = ctypes.create_string_buffer(size.value)
    assert getattr(library, f"nvrtcGet{what}")(program, text) == SUCCESS
    assert text.raw.endswith(b"\0")
    return text.value.decode()


def test_a_source_becomes_ptx_with_the_names_asked_for(library, program):
    assert library.nvrtcAddNameExpression(program, b"fill<double>") == SUCCESS
    name = ctypes.c_char_p()
    assert library.nvrtcGetLoweredName(program, b"fill<double>", ctypes.byref(name)) == BEFORE_COMPILATION
    assert build(library, program, b"--gpu-architecture=compute_75", b"-DVALUE=3") == SUCCESS
    assert library.nvrtcGetLoweredName(program, b"fill<double>", ctypes.byref(name)) == SUCCESS
    assert name.value == b"_Z4fillIdEvPT_"
    assert library.nvrtcGetLoweredName(program, b"fill<int>", ctypes.byref(name)) == NOT_VALID
    assert library.nvrtcAddNameExpression(program, b"fill<int>") == AFTER_COMPILATION
    ptx = read(library, program, "PTX")
    assert ".target sm_75" in ptx
    assert ".entry _Z4fillIdEvPT_" in ptx
    size = ctypes.c_size_t(9)
    assert library.nvrtcGetCUBINSize(program, ctypes.byref(size)) == SUCCESS
    assert size.value == 0, "there is no cubin of a compute_ architecture"


def test_machine_code_is_asked_for_and_loadable_ptx_given(library, program, driver, context):
    assert build(library, program, b"-arch=sm_80", b"-DVALUE=0") == SUCCESS
    image = read(library, program, "CUBIN").encode()
    module = driver.out("cuModuleLoadData", image)
    assert driver.out("cuModuleGetFunction", module, b"k")
    driver.code("cuModuleUnload", module)


def test_the_log_says_what_is_wrong_and_where(library):
    program = create(library, b"#define A 1\n__global__ void k() { missing(); }\n")
    assert build(library, program) == COMPILATION
    log = read(library, program, "ProgramLog")
    assert "fill.cu:2:" in log
    assert "missing" in log
    size = ctypes.c_size_t()
    assert library.nvrtcGetPTXSize(program, ctypes.byref(size)) == INVALID_PROGRAM


def test_headers_are_handed_over(library):
    program = create(
        library, b'#include <a/b.h>\nextern "C" __global__ void k(int* p) { *p = B; }', [(b"a/b.h", b"#define B 4711")]
    )
    assert build(library, program) == SUCCESS
    assert "4711" in read(library, program, "PTX")


def test_options_it_does_not_know_are_named(library, program):
    assert build(library, program, b"--frobnicate") == INVALID_OPTION
    assert "--frobnicate" in read(library, program, "ProgramLog")


def test_wrong_arguments_are_told_from_wrong_programs(library, program):
    null, size, stranger = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p(4711)
    assert library.nvrtcCreateProgram(None, TEXT, None, 0, None, None) == INVALID_INPUT
    assert library.nvrtcCreateProgram(ctypes.byref(null), None, None, 0, None, None) == INVALID_INPUT
    assert library.nvrtcCreateProgram(ctypes.byref(null), TEXT, None, 1, None, None) == INVALID_INPUT
    assert library.nvrtcCompileProgram(program, 1, None) == INVALID_INPUT
    for name in ("PTX", "CUBIN", "LTOIR", "OptiXIR", "ProgramLog"):
        assert getattr(library, f"nvrtcGet{name}Size")(stranger, ctypes.byref(size)) == INVALID_PROGRAM
        assert getattr(library, f"nvrtcGet{name}")(stranger, ctypes.create_string_buffer(9)) == INVALID_PROGRAM
    assert library.nvrtcAddNameExpression(program, None) == INVALID_INPUT
    assert library.nvrtcDestroyProgram(ctypes.byref(stranger)) == INVALID_PROGRAM
    assert library.nvrtcDestroyProgram(None) == INVALID_PROGRAM
    assert library.nvrtcSetFlowCallback(program, None, None) == INVALID_INPUT


def test_what_is_never_made_has_no_bytes(library, program):
    kinds = ["LTOIR", "OptiXIR"] + (["TileIR"] if hasattr(library, "nvrtcGetTileIR") else ["NVVM"])
    for kind in kinds:
        size = ctypes.c_size_t(5)
        assert getattr(library, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)) == SUCCESS
        assert size.value == 0
        assert getattr(library, f"nvrtcGet{kind}")(program, ctypes.create_string_buffer(9)) == INVALID_PROGRAM


def test_versions_and_architectures_are_those_of_the_name(library):
    major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    assert library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == SUCCESS
    assert library._name.endswith(f".{major.value}")
    assert library.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == SUCCESS
    numbers = (ctypes.c_int * count.value)()
    assert library.nvrtcGetSupportedArchs(numbers) == SUCCESS
    assert 80 in list(numbers) and list(numbers) == sorted(numbers)


def test_every_result_has_its_name(library):
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    assert library.nvrtcGetErrorString(0) == b"NVRTC_SUCCESS"
    assert library.nvrtcGetErrorString(6) == b"NVRTC_ERROR_COMPILATION"
    assert library.nvrtcGetErrorString(18) == b"NVRTC_ERROR_BUSY"
    assert library.nvrtcGetErrorString(19) == library.nvrtcGetErrorString(-1) == b"NVRTC_ERROR unknown"


def test_a_callback_may_stop_a_compilation(library, program):
    seen = []
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
        lambda payload, _: seen.append(payload) or 1
    )
    assert library.nvrtcSetFlowCallback(program, callback, ctypes.c_void_p(77)) == SUCCESS
    assert build(library, program, b"-DVALUE=1") == CANCELLED
    assert seen == [77]


def test_headers_compiled_ahead_are_accepted_and_not_made(library, program):
    size = ctypes.c_size_t()
    assert library.nvrtcSetPCHHeapSize(ctypes.c_size_t(12345)) == SUCCESS
    assert library.nvrtcGetPCHHeapSize(ctypes.byref(size)) == SUCCESS
    assert size.value == 12345
    assert build(library, program, b"--pch", b"-DVALUE=1") == SUCCESS
    assert library.nvrtcGetPCHCreateStatus(program) == NO_PCH
    assert library.nvrtcGetPCHHeapSizeRequired(program, ctypes.byref(size)) == SUCCESS
    assert size.value == 0


def test_no_headers_are_bundled(library):
    if library._name.endswith(".12"):  # the functions came with CUDA 13
        assert not hasattr(library, "nvrtcGetBundledHeadersInfo")
        return
    info = (ctypes.c_uint8 * 40)(*[255] * 40)
    log = ctypes.c_char_p()
    assert library.nvrtcGetBundledHeadersInfo(info, ctypes.byref(log)) == SUCCESS
    assert int.from_bytes(bytes(info[:4]), "little") == 0
    assert library.nvrtcInstallBundledHeaders(b"/nowhere", 0, ctypes.byref(log)) == INTERNAL
    assert b"no headers" in log.value
    assert library.nvrtcRemoveBundledHeaders(b"/nowhere", ctypes.byref(log)) == INTERNAL


ASKS = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
major, minor = ctypes.c_int(), ctypes.c_int()
print(library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), major.value, minor.value)
"""


def ask(library, value):
    environment = {**os.environ, "ANYWARP_NVRTC": value}
    command = [sys.executable, "-c", ASKS, library._name]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)


def test_another_library_answers_when_asked_for(library, tmp_path):
    source, theirs = tmp_path / "theirs.c", tmp_path / "theirs.so"
    source.write_text("int nvrtcVersion(int* a, int* b) { *a = 47; *b = 11; return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", theirs, source], check=True)
    assert ask(library, str(theirs)).stdout.split() == ["0", "47", "11"]


def test_a_library_that_is_not_there_is_told(library, tmp_path):
    done = ask(library, str(Path(tmp_path, "missing.so")))
    assert done.stdout.split()[0] == str(INTERNAL)
    assert "ANYWARP_NVRTC" in done.stderr

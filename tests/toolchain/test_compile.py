"""What the driver makes of a source: PTX that computes what it should, rules for make, and the compiler's own messages."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from anywarp.devices.cpu.execute import run_kernel
from anywarp.ptx.fatbin import images
from anywarp.ptx.index import index_module

SAXPY = """
#include <array>
#include "factor.h"
template <int N> constexpr int twice() { return 2 * N; }
template <class F> __global__ void apply(F f, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = f(y[i], i);
}
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  constexpr std::array<float, 2> factors = {FACTOR, twice<3>()};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaf(a, x[i], y[i]) * factors[0] + factors[1];
}
void launch(float* y, int n) {
  float shift = 3;
  apply<<<(n + 63) / 64, 64>>>([=] __device__(float v, int i) { return v + shift * i; }, y, n);
}
"""


@pytest.fixture
def saxpy(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "factor.h").write_text("#ifndef FACTOR\n#define FACTOR 4\n#endif\n")
    (tmp_path / "saxpy.cu").write_text(SAXPY)
    return tmp_path


def compute(ptx, factor):
    x, y = np.linspace(-3, 5, 77, dtype=np.float32), np.arange(77, dtype=np.float32)
    expected = np.float32(factor) * (np.float32(2) * x.astype(np.float64) + y).astype(np.float32) + 6
    run_kernel(ptx, "saxpy", (2, 1, 1), (64, 1, 1), [np.float32(2), x, y, 77])
    np.testing.assert_allclose(y, expected, rtol=3e-7)


@pytest.mark.parametrize(
    "words, factor", [([], 4), (["-DFACTOR=9"], 9), (["--define-macro", "FACTOR=5", "-std=c++20"], 5)]
)
def test_ptx_computes_what_the_source_says(nvcc, saxpy, words, factor):
    nvcc("-ptx", "saxpy.cu", "-Iinclude", *words)
    compute((saxpy / "saxpy.ptx").read_text(), factor)


def test_kernels_with_lambdas_are_in_the_ptx(nvcc, saxpy):
    nvcc("--ptx", "saxpy.cu", "-I", "include", "-o", "out.ptx")
    entries = index_module((saxpy / "out.ptx").read_bytes(), "out.ptx").entries
    assert sorted(entry[:7] for entry in entries) == ["_Z5appl", "saxpy"]


def test_a_cubin_is_ptx_and_a_fat_binary_holds_it(nvcc, saxpy):
    nvcc("-cubin", "-arch=sm_80", "-Iinclude", "saxpy.cu")
    compute((saxpy / "saxpy.cubin").read_text(), 4)
    nvcc("-fatbin", "-gencode", "arch=compute_75,code=sm_75", "-Iinclude", "saxpy.cu", "-o", "all.fatbin")
    found = list(images((saxpy / "all.fatbin").read_bytes()))
    assert [(image.kind, image.target) for image in found] == [("ptx", "sm_75")]
    compute(found[0].payload().rstrip(b"\0").decode(), 4)


def test_ptx_is_packed(nvcc, saxpy):
    nvcc("-ptx", "saxpy.cu", "-Iinclude")
    nvcc("-fatbin", "saxpy.ptx", "-o", "packed.fatbin")
    packed = next(images((saxpy / "packed.fatbin").read_bytes())).payload().rstrip(b"\0")
    assert packed == (saxpy / "saxpy.ptx").read_bytes()


def test_architectures_decide_macros_and_target(nvcc, tmp_path):
    (tmp_path / "a.cu").write_text('extern "C" __global__ void k(int* p) { *p = __CUDA_ARCH__; }\n')
    for number in (75, 86):
        nvcc("-ptx", f"-arch=sm_{number}", "a.cu")
        ptx = (tmp_path / "a.ptx").read_text()
        assert f".target sm_{number}" in ptx
        assert f", {number}0;" in ptx


@pytest.mark.parametrize(
    "words, found, missing",
    [
        ([], ["div.rn.f32", "sqrt.rn.f32", "fma.rn.f32"], [".ftz", "approx"]),
        (["-use_fast_math"], ["div.approx.ftz.f32", "sqrt.approx.ftz.f32", "fma.rn.ftz.f32"], []),
        (["-ftz=true"], ["div.rn.ftz.f32", "sqrt.rn.ftz.f32"], ["approx"]),
        (["-prec-div=false"], ["div.full.f32", "sqrt.rn.f32"], [".ftz"]),
        (["-fmad=false"], ["mul.rn.f32", "add.rn.f32"], ["fma.rn.f32"]),
        (["-use_fast_math", "-ftz=false"], ["sqrt.approx.f32"], [".ftz"]),
    ],
)
def test_options_of_arithmetic_reach_the_code(nvcc, tmp_path, words, found, missing):
    source = 'extern "C" __global__ void k(float* p) { p[0] = p[1] / p[2]; p[3] = sqrtf(p[4]); p[5] = p[6] * p[7] + p[8]; }\n'
    (tmp_path / "f.cu").write_text(source)
    nvcc("-ptx", "f.cu", *words)
    body = re.sub(r"//.*", "", (tmp_path / "f.ptx").read_text())
    assert [word for word in found if word not in body] == []
    assert [word for word in missing if word in body] == []


def test_line_information_names_the_source(nvcc, saxpy):
    nvcc("-ptx", "-lineinfo", "saxpy.cu", "-Iinclude")
    ptx = (saxpy / "saxpy.ptx").read_text()
    assert "saxpy.cu" in ptx and ".loc" in ptx
    compute(ptx, 4)


def test_the_compilers_messages_are_shown_and_its_failure_passed_on(nvcc, tmp_path):
    (tmp_path / "bad.cu").write_text("\n__global__ void k() { undefined_name = 1; }\n")
    done = nvcc("-c", "bad.cu", code=1)
    assert "bad.cu:2:" in done.stderr and "undefined_name" in done.stderr
    assert not (tmp_path / "bad.o").exists()


def test_warnings_become_errors_when_asked(nvcc, tmp_path):
    (tmp_path / "w.cu").write_text("#warning something\n")
    assert "something" in nvcc("-c", "w.cu").stderr
    nvcc("-c", "w.cu", "-Werror", "all-warnings", code=1)
    assert nvcc("-c", "w.cu", "-w").stderr == ""


def test_preprocessing_goes_to_the_terminal_or_a_file(nvcc, saxpy):
    text = nvcc("-E", "saxpy.cu", "-Iinclude", "-DFACTOR=31").stdout
    assert "factors = {31," in text
    nvcc("-E", "saxpy.cu", "-Iinclude", "-o", "out.ii")
    assert "factors = {4," in (saxpy / "out.ii").read_text()


def test_rules_for_make_name_target_and_headers(nvcc, saxpy):
    nvcc("-c", "saxpy.cu", "-Iinclude", "-MD", "-MF", "deps", "-MT", "some/target.o", "-o", "x.o")
    rule = (saxpy / "deps").read_text()
    assert rule.startswith("some/target.o:")
    assert "include/factor.h" in rule and "saxpy.cu" in rule
    nvcc("-c", "saxpy.cu", "-Iinclude", "--generate-nonsystem-dependencies-with-compile", "-o", "y.o")
    assert "cuda_runtime.h" not in (saxpy / "y.d").read_text()
    assert "include/factor.h" in nvcc("-MM", "saxpy.cu", "-Iinclude").stdout


def test_several_sources_become_several_objects(nvcc, saxpy):
    (saxpy / "other.cpp").write_text("#include <cuda_runtime.h>\nfloat2 f() { return make_float2(1, 2); }\n")
    nvcc("-c", "saxpy.cu", "other.cpp", "-Iinclude", "-t", "2")
    assert (saxpy / "saxpy.o").exists() and (saxpy / "other.o").exists()
    done = nvcc("-c", "saxpy.cu", "other.cpp", "-o", "both.o", code=2)
    assert "T002" in done.stderr


def test_dryrun_makes_nothing_and_prints_commands(nvcc, saxpy):
    done = nvcc("-c", "saxpy.cu", "--dryrun")
    assert not (saxpy / "saxpy.o").exists()
    commands = [line for line in done.stderr.splitlines() if line.startswith("#$ ")]
    assert any("--cuda-device-only" in line for line in commands)
    assert any("--cuda-host-only" in line for line in commands)


def test_what_lies_between_is_kept_when_asked(nvcc, saxpy):
    (saxpy / "kept").mkdir()
    nvcc("-c", "saxpy.cu", "-Iinclude", "--keep", "--keep-dir", "kept", "-time", "times.csv")
    assert {path.suffix for path in (saxpy / "kept").iterdir()} >= {".ptx", ".fatbin"}
    assert "device" in (saxpy / "times.csv").read_text()


def test_an_input_of_no_known_kind_is_refused(nvcc, tmp_path):
    (tmp_path / "x.txt").write_text("")
    assert "x.txt" in nvcc("-c", "x.txt", code=2).stderr
    assert "T003" in nvcc("-c", code=2).stderr


def test_the_version_reads_as_build_systems_expect(nvcc):
    text = nvcc("--version").stdout
    assert re.search(r"release (\d+\.\d+)", text)[1] == "13.5"  # as our headers' CUDART_VERSION
    assert re.search(r"V([0-9]+)\.([0-9]+)\.([0-9]+)", text)
    assert "compute_80" in nvcc("--list-gpu-arch").stdout.split()
    assert "sm_90" in nvcc("--list-gpu-code").stdout.split()
    assert "-gencode" in nvcc("--help").stdout


@pytest.mark.skipif(shutil.which("g++") is None, reason="this machine has no g++")
def test_headers_serve_a_host_compiler_without_device_code(needs_clang, tmp_path, nvcc):
    (tmp_path / "host.cpp").write_text(
        "#include <cuda.h>\n#include <cuda_runtime.h>\n#include <nvrtc.h>\n"
        "int main() { dim3 d(2); float4 v = make_float4(1, 2, 3, 4); return d.x == 2 && v.w == 4 ? 0 : 1; }\n"
    )
    home = nvcc("--print-cuda-home").stdout.strip()
    subprocess.run(["g++", "-Wall", "-Werror", f"-I{home}/include", "host.cpp", "-o", "host"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "host"], check=True)


def test_a_toolkit_of_nvidias_gives_only_what_we_lack(nvcc, tmp_path):
    (tmp_path / "toolkit").mkdir()
    (tmp_path / "toolkit" / "cuda_runtime.h").write_text("#error taken from the toolkit\n")
    (tmp_path / "toolkit" / "vector_functions.h").write_text("#error taken from the toolkit\n")
    (tmp_path / "toolkit" / "only_there.h").write_text("#define ONLY 5\n")
    (tmp_path / "t.cu").write_text("#include <vector_functions.h>\n#include <only_there.h>\nint x = ONLY;\n")
    nvcc("-c", "t.cu", "-Itoolkit")


def test_options_come_from_the_environment_too(nvcc, saxpy, monkeypatch):
    monkeypatch.setenv("NVCC_PREPEND_FLAGS", "-Iinclude -DFACTOR=8")
    monkeypatch.setenv("NVCC_APPEND_FLAGS", '-UFACTOR "-DFACTOR=2"')
    assert "factors = {2," in nvcc("-E", "saxpy.cu").stdout


def test_options_for_gcc_alone_do_not_stop_clang(nvcc, saxpy):
    nvcc("-c", "saxpy.cu", "-Iinclude", "-Xcompiler", "-fno-gnu-unique,'-Wall',-fmax-errors=3", "-Xcompiler=-O2 -fPIC")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="this machine has no gcc")
def test_build_files_learn_which_compiler_is_behind_it(nvcc):
    """They ask as CMake files do: with `.c` for a source, which need not exist."""
    assert "Free Software Foundation" in nvcc("-ccbin", "gcc", ".c", "-Xcompiler", "--version", code=2).stdout
    assert re.fullmatch(
        r"\d+\.[\d.]+\s", nvcc("-ccbin", "gcc", ".c", "-Xcompiler", "-dumpfullversion -dumpversion", code=2).stdout
    )


HALVES = """
#include <cuda_fp16.h>
extern "C" __global__ void halves(const half2* x, half2* y, float* z) {
  int i = threadIdx.x;
  half2 one = __float2half2_rn(1.0f);
  y[3 * i] = __hfma2(x[i], one, __float2half2_rn(0.0f));
  y[3 * i + 1] = -(x[i] * __float2half2_rn(-2.0f));
  asm("fma.rn.ftz.f16x2 %0, %1, %2, %3;" : "=r"((unsigned&)y[3 * i + 2]) : "r"((const unsigned&)x[i]), "r"((const unsigned&)one), "r"(0));
  z[2 * i] = __uint_as_float(i) * 2.0f;
  z[2 * i + 1] = __half2float(__low2half(x[i]));
}
"""


@pytest.mark.parametrize("words", [["-use_fast_math"], ["-ftz=true"], []])
def test_flushing_is_of_floats_and_leaves_subnormal_halves(nvcc, tmp_path, words):
    """cuda_fp16.h of NVIDIA's has no .ftz in its operations, whatever the options; a program's own assembly says what it says."""
    (tmp_path / "halves.cu").write_text(HALVES)
    nvcc("-ptx", "halves.cu", *words)
    x = np.arange(64, dtype=np.uint16).view(np.float16)  # all subnormal, or zero
    y, z = np.zeros((32, 3, 2), np.float16), np.zeros((32, 2), np.float32)
    run_kernel((tmp_path / "halves.ptx").read_text(), "halves", (1, 1, 1), (32, 1, 1), [x, y, z])
    np.testing.assert_array_equal(y[:, 0], x.reshape(32, 2))
    np.testing.assert_array_equal(y[:, 1], 2 * x.reshape(32, 2))
    assert not y[:, 2].any()
    np.testing.assert_array_equal(z[:, 0], 0 if words else (np.arange(32) * 2.0**-148).astype(np.float32))
    np.testing.assert_array_equal(z[:, 1], x[::2].astype(np.float32))

"""Sources as programs give them to NVRTC, compiled and run against numpy."""

import math
from dataclasses import replace

import numpy as np
import pytest

from anywarp.devices.cpu.execute import run_kernel
from anywarp.runtime import translation
from anywarp.toolchain import nvrtc

pytestmark = pytest.mark.usefixtures("needs_clang")

AXPY = """
#include "scale.h"
template <class T> __global__ void axpy(T a, const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += scale(a) * x[i];
}
namespace space { __constant__ float table[3]; __device__ int counter; }
extern "C" __global__ void plain(float* out) { out[threadIdx.x] = FACTOR * threadIdx.x; }
"""
SOURCE = nvrtc.Source(
    name="axpy.cu",
    text=AXPY,
    headers={"scale.h": "template <class T> __device__ T scale(T x) { return 3 * x; }"},
    options=["--gpu-architecture=compute_80", "-DFACTOR=7", "--std=c++17"],
    expressions=["axpy<float>", "&axpy<double>", "space::table", "&space::counter"],
    folder="/",
)


@pytest.fixture(scope="module")
def made(needs_clang):
    return nvrtc.translate(SOURCE)


def test_names_are_looked_up_as_they_were_asked_for(made):
    assert dict(made.lowered) == {
        "axpy<float>": "_Z4axpyIfEvT_PKS0_PS0_i",
        "&axpy<double>": "_Z4axpyIdEvT_PKS0_PS0_i",
        "space::table": "_ZN5space5tableE",
        "&space::counter": "_ZN5space7counterE",
    }
    assert "__anywarp_name" not in made.ptx


@pytest.mark.parametrize("expression, type_", [("axpy<float>", np.float32), ("&axpy<double>", np.float64)])
def test_a_template_runs_for_each_type_asked_for(made, expression, type_):
    x, y = np.arange(100, dtype=type_), np.arange(100, dtype=type_) ** 2
    expected = y + 3 * type_(2) * x
    run_kernel(made.ptx, dict(made.lowered)[expression], (4, 1, 1), (32, 1, 1), [type_(2), x, y, 100])
    np.testing.assert_array_equal(y, expected)


def test_macros_of_the_options_reach_the_source(made):
    out = np.zeros(32, np.float32)
    run_kernel(made.ptx, "plain", (1, 1, 1), (32, 1, 1), [out])
    np.testing.assert_array_equal(out, 7 * np.arange(32))


def test_errors_carry_the_programs_own_name_and_line():
    with pytest.raises(nvrtc.Rejected) as caught:
        nvrtc.translate(replace(SOURCE, text="\n\n__global__ void k() { nothing = 1; }\n", expressions=[]))
    assert caught.value.code == 6
    assert "axpy.cu:3:" in caught.value.log
    assert "nothing" in caught.value.log


@pytest.mark.parametrize("option", ["--no-such-option", "-arch=sm_1", "-dlto", "file.cu"])
def test_options_that_nvrtc_has_not_are_named(option):
    with pytest.raises(nvrtc.Rejected) as caught:
        nvrtc.translate(replace(SOURCE, options=[option]))
    assert caught.value.code == 5
    assert option.lstrip("-").split("=")[-1] in caught.value.log or "dlink" in caught.value.log


def test_registers_may_have_one_percent_in_the_source_and_in_headers_but_pragmas_come_from_no_macro():
    text = '#include "scale.h"\n__global__ void k(unsigned *p) { asm("mov.u32 %0, %laneid;" : "=r"(p[threadIdx.x])); ready(); }'
    header = '__device__ void ready() { asm volatile("{.reg .u32 %x; mov.u32 %x, 5;}" ::: "memory"); }'
    source = replace(SOURCE, text=text, headers={"scale.h": header}, expressions=["k"])
    out = np.zeros(32, np.uint32)
    made = nvrtc.translate(source)
    run_kernel(made.ptx, dict(made.lowered)["k"], (1, 1, 1), (32, 1, 1), [out])
    np.testing.assert_array_equal(out, np.arange(32))
    with pytest.raises(nvrtc.Rejected):  # NVRTC 13 says: "#" not expected here
        nvrtc.translate(
            replace(source, headers={"scale.h": "#define U #pragma unroll\n" + header.replace("asm", "U\nasm")})
        )


def test_no_header_of_the_host_is_found():
    with pytest.raises(nvrtc.Rejected) as caught:
        nvrtc.translate(replace(SOURCE, text="#include <sys/types.h>\n", expressions=[]))
    assert "sys/types.h" in caught.value.log


OURS = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "mma.h", "cooperative_groups.h", "curand_kernel.h", "cuComplex.h")
STANDARD = (
    "stdint.h",
    "limits.h",
    "float.h",
    "math.h",
    "string.h",
    "assert.h",
    "stdio.h",
    "stdlib.h",
    "stddef.h",
    "inttypes.h",
    "time.h",
)


@pytest.mark.skipif(not nvrtc._is_of_c_library("/usr/include"), reason="this machine has no headers of a C library")
@pytest.mark.parametrize("header", [*OURS, *STANDARD])
def test_the_systems_own_folder_of_headers_may_be_named(header):
    """As tinygrad and others do: there limits.h and the like are halves of headers, and half of them lie elsewhere."""
    text = (
        f"#include <{header}>\n"
        'extern "C" __global__ void k(double* out, const float* in) {\n'
        "  struct __attribute__((aligned(64))) Wide { char c; };\n"
        "  out[threadIdx.x] = sqrtf(in[threadIdx.x]) * sizeof(Wide);\n}\n"
    )
    made = nvrtc.translate(replace(SOURCE, text=text, headers={}, expressions=[], options=["-I/usr/include"]))
    values = np.array([0.0, 1.0, 4.0, 2.25], np.float32)
    out = np.full(4, -1.0)
    run_kernel(made.ptx, "k", (1, 1, 1), (4, 1, 1), [out, values])
    assert out.tolist() == [0.0, 64.0, 128.0, 96.0]


BUILT_IN = """
#pragma once
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 3)
#define DECL __device__
#define DECLARED_ONLY
#else
#define DECL static __device__ __inline__
#endif
DECL int twice_{name}(int x);
#ifndef DECLARED_ONLY
DECL int twice_{name}(int x) {{ return 2 * x + {add}; }}
#endif
#undef DECL
#undef DECLARED_ONLY
"""


@pytest.mark.parametrize("header", ["cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h"])
@pytest.mark.parametrize("on_disk", [True, False])
def test_headers_that_leave_definitions_to_a_library_of_built_ins_define_them(header, on_disk, tmp_path):
    """NVIDIA's cuda_fp16.h and cuda_bf16.h do since 12.3; the narrower types' headers lie beside them and include them from there."""
    headers = {f"cuda_{name}.h": BUILT_IN.format(name=name, add=add) for name, add in (("fp16", 1), ("bf16", 5))}
    for name, beside in (("fp8", ("fp16", "bf16")), ("fp6", ("fp8",)), ("fp4", ("fp6",))):
        headers[f"cuda_{name}.h"] = "#pragma once\n" + "".join(f'#include "cuda_{other}.h"\n' for other in beside)
    for name, text in headers.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    calls = {"cuda_fp16.h": ["fp16"], "cuda_bf16.h": ["bf16"]}.get(header, ["fp16", "bf16"])
    text = (
        f'#include "{header}"\n#if __CUDACC_VER_MAJOR__ < 13\n#error "the version stays"\n#endif\n'
        f'extern "C" __global__ void k(int* p) {{ *p = {" + ".join(f"twice_{name}(*p)" for name in calls)}; }}'
    )
    options = ["-rdc=true", *([f"-I{tmp_path}"] if on_disk else [])]
    made = nvrtc.translate(
        replace(SOURCE, text=text, headers={} if on_disk else headers, options=options, expressions=[])
    )
    out = np.array([20], np.int32)
    run_kernel(made.ptx, "k", (1, 1, 1), (1, 1, 1), [out])
    assert out.tolist() == [sum({"fp16": 41, "bf16": 45}[name] for name in calls)]


def test_headers_on_disk_are_found_and_watched(tmp_path):
    header = tmp_path / "include" / "mine.h"
    header.parent.mkdir()
    header.write_text("#define VALUE 11\n")
    source = replace(
        SOURCE,
        text='#include <mine.h>\nextern "C" __global__ void k(int* p) { *p = VALUE; }',
        options=["-I", "include"],
        expressions=[],
        folder=str(tmp_path),
    )
    first = nvrtc.translate(source)
    assert header in first.files
    header.write_text("#define VALUE 12\n")
    out = np.zeros(1, np.int32)
    run_kernel(nvrtc.translate(source).ptx, "k", (1, 1, 1), (1, 1, 1), [out])
    assert out[0] == 12


def test_functions_without_a_space_may_be_made_the_devices():
    text = "struct S { int f() const { return 5; } };\nint g() { return S().f(); }\n" + (
        'extern "C" __global__ void k(int* p) { *p = g(); }'
    )
    made = nvrtc.translate(replace(SOURCE, text=text, options=["-default-device"], expressions=[]))
    out = np.zeros(1, np.int32)
    run_kernel(made.ptx, "k", (1, 1, 1), (1, 1, 1), [out])
    assert out[0] == 5


def test_names_of_headers_cannot_leave_the_folder(tmp_path):
    escaped = tmp_path / "escaped.h"
    headers = {str(escaped): "x", "../../escaped.h": "x"}
    nvrtc.translate(replace(SOURCE, text="", headers=headers, expressions=[]))
    assert not escaped.exists()


def test_what_travels_between_program_and_service_is_read_back():
    text, header = b"source", b"header text"
    lines = f"name a%20b.cu\nfolder /x\noption -DA=1\nexpression f<int>\ntext {len(text)}\nheader h.h {len(header)}\n".encode()
    payload = len(lines).to_bytes(4, "little") + (len(text) + len(header)).to_bytes(8, "little") + lines + text + header
    assert translation._source(payload) == nvrtc.Source(
        "a b.cu", "source", {"h.h": "header text"}, ["-DA=1"], ["f<int>"], "/x"
    )


@pytest.mark.parametrize("payload", [b"", b"\0" * 11, b"\1\0\0\0" + b"\0" * 8, b"\xff" * 40])
def test_damaged_requests_are_refused(payload):
    with pytest.raises(translation.wire.WireError):
        translation._source(payload)


LIKE_NVRTC = """
#if defined(__clang__) || defined(__GNUC__) || defined(__CUDA__) || defined(__NVCC__)
#error another compiler shows
#endif
#if !defined(__CUDACC_RTC__) || !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10 != CUDART_VERSION
#error the macros of NVRTC are not there
#endif
__device__ int sum(std::initializer_list<int> values) {
  int all = 0;
  for (int value : values) all += value;
  return all;
}
struct Moved {
  int value;
  __device__ Moved(int v) : value(v) {}
  __device__ Moved(Moved&& other) : value(other.value) { other.value = 0; }
};
extern "C" __global__ void k(int* p) {
  Moved first(40);
  Moved second(std::move(first));
  p[0] = sum({1, 2, 3}) + second.value + first.value;
  p[1] = sizeof(std::size_t) + alignof(float4) + warpSize;
  assert(p[0] == 46);
}
"""


def test_a_source_finds_what_nvrtc_has_without_an_include():
    made = nvrtc.translate(replace(SOURCE, text=LIKE_NVRTC, expressions=[]))
    out = np.zeros(2, np.int32)
    run_kernel(made.ptx, "k", (1, 1, 1), (1, 1, 1), [out])
    assert out.tolist() == [46, 8 + 16 + 32]


INTERNAL = """
// weights (a comment with brackets) of
#define TWICE(x) (2 * (x))
__align__(16) static __device__ float counted = 3.0f;
static __constant__ float weight = 2.0f;
__device__ const int fixed[2] = {5, 6};
namespace inner { static __device__ int hidden = 10; }
static __device__ float helper(float x) { return TWICE(x); }
extern "C" __global__ void state(float* y) {
  y[threadIdx.x] = helper(counted) * weight + inner::hidden + fixed[threadIdx.x & 1];
}
"""


@pytest.mark.parametrize("options", [[], ["-rdc=true"]])
def test_static_variables_keep_their_names_and_are_read_when_the_kernel_runs(options):
    """NVRTC 13.5 writes `.global .align 4 .f32 counted = ...` for the like; the program may change what is in there."""
    source = replace(SOURCE, text=INTERNAL, options=["-arch=compute_80", *options], expressions=["weight", "&counted"])
    made = nvrtc.translate(source)
    assert dict(made.lowered) == {"weight": "weight", "&counted": "counted"}
    lines = made.ptx.splitlines()
    assert ".const .align 4 .f32 weight = 0f40000000;" in lines
    assert ".global .align 16 .f32 counted = 0f40400000;" in lines
    for load in ("ld.global.b32", "[counted]", "ld.const.b32", "[weight]", "hidden"):
        assert load in made.ptx[made.ptx.index("entry state") :]


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("static __device__ int f(int x);", False),
        ("__device__ static int table[2] = {1, 2};", True),
        ("__constant__ const float t[] = {1};", True),
        ("__constant__ float t[4];", False),
        ("// static __device__ int x;", False),
        ("/* (a) */ static __constant__ int x;", True),
        ("/*" * 200000 + "static __device__ int x;", False),
        ("(" * 100000 + "static " * 100000 + "__device__", False),
    ],
)
def test_only_sources_that_may_have_such_variables_take_the_longer_way(text, declared):
    assert nvrtc._declares_internal(replace(SOURCE, text=text, headers={})) is declared


SPACELESS = """
#define NAMED(name) name  // in the place of a kernel's: __global__ is a word of a comment
int twice(int x) { return 2 * x; }  /* { __global__ */
struct Adder { int by; Adder(int b) : by(b) {} int operator()(int x) const { return x + by; } };
template <class T> __global__ void scaled(T* out);
#if 1
template <class T>
__global__ void __launch_bounds__(64) scaled(T* out) { if (threadIdx.x < 8) { out[threadIdx.x] = twice(int(threadIdx.x)); } }
#endif
template <>
__global__ void scaled<short>(short* out) { const char* s = "};{"; out[threadIdx.x] = Adder(s[0] == '}')(twice(threadIdx.x)); }
template __global__ void scaled<long>(long*);
namespace inner { extern "C" { __global__ void NAMED(plain)(int* out); } }
int thrice(int x) { return 3 * x; }
extern "C" __global__ void plain(int* out) { out[threadIdx.x] = thrice(threadIdx.x); }
int late(int x) { return __LINE__ + x; }
extern "C" __global__ void line(int* out) { out[threadIdx.x] = late(0); }
"""


def test_kernels_may_be_declared_twice_and_specialised_where_functions_without_a_space_run_on_the_device():
    """CuPy's kernels of signals are specialised for half; clang takes no kernel for a function of both sides."""
    names = ["scaled<float>", "scaled<short>"]
    source = replace(
        SOURCE, text=SPACELESS, options=["--device-as-default-execution-space", "--std=c++17"], expressions=names
    )
    made = nvrtc.translate(source)
    lowered = dict(made.lowered)
    number = SPACELESS[: SPACELESS.index("__LINE__")].count("\n") + 1
    wanted = [
        (lowered["scaled<float>"], np.float32, 2 * np.arange(8)), (lowered["scaled<short>"], np.int16, 2 * np.arange(8) + 1),
        ("_Z6scaledIlEvPT_", np.int64, 2 * np.arange(8)), ("plain", np.int32, 3 * np.arange(8)), ("line", np.int32, np.full(8, number)),
    ]  # fmt: skip
    for kernel, dtype, values in wanted:
        out = np.zeros(8, dtype)
        run_kernel(made.ptx, kernel, (1, 1, 1), (8, 1, 1), [out])
        np.testing.assert_array_equal(out, values)


MIXED = """
extern "C" __global__ void k(double* out, int i, float f) {
  unsigned char u = 3;
  double values[] = {pow(i + 1, 2), pow(2, 0.5), pow(2.0f, i), pow(i, -1.5f), std::pow(-1, i), pow(u, 3ul), atan2(1, i),
                     atan2(1, f), fmod(7, i), fmod(7.5f, 2.0), fmax(i, 2.5), fmax(f, 1e300), fmin(f, -i), hypot(3, 4),
                     copysign(u, -1), fdim(5, i), remainder(5, i), nextafter(1, 2), nextafter(f, 1.0)};
  for (int n = 0; n < sizeof(values) / sizeof(double); n++) out[n] = values[n];
}
"""


def test_functions_of_two_numbers_take_any_two_types_and_count_in_double():
    made = nvrtc.translate(replace(SOURCE, text=MIXED, expressions=[]))
    out = np.zeros(19)
    run_kernel(made.ptx, "k", (1, 1, 1), (1, 1, 1), [out, 3, np.float32(0.1)])
    tenth = float(np.float32(0.1))
    powers = [16, 2**0.5, 8, 3**-1.5, -1, 27]
    angles = [math.atan2(1, 3), math.atan2(1, tenth)]
    rest = [1, 1.5, 3, 1e300, -3, 5, -3, 2, -1, math.nextafter(1, 2), math.nextafter(tenth, 1)]
    np.testing.assert_allclose(out[:8], powers + angles, rtol=4e-16)
    assert out[8:].tolist() == rest


MATHEMATICS = """
extern "C" __global__ void k(double* out, double x, float f) {
  double whole;
  int bits;
  double values[] = {__builtin_exp(x), __builtin_log2(x), __builtin_sinh(x), __builtin_atan2(x, 2.0), __builtin_pow(x, 1.5),
                     __builtin_erf(x), __builtin_tgamma(x), __builtin_remquo(7.0, 2.0, &bits), __builtin_modf(x, &whole),
                     (double)__builtin_llrint(x), (double)__builtin_lroundf(f), (double)__builtin_ilogb(x), __builtin_scalbn(x, 3)};
  for (int n = 0; n < 13; n++) out[n] = values[n];
  out[13] = whole;
  out[14] = __builtin_expf(f);
}
"""


def test_built_in_functions_of_mathematics_are_the_devices():
    made = nvrtc.translate(replace(SOURCE, text=MATHEMATICS, expressions=[]))
    assert ".extern .func" not in made.ptx
    out = np.zeros(15)
    run_kernel(made.ptx, "k", (1, 1, 1), (1, 1, 1), [out, 2.25, np.float32(1.5)])
    smooth = [math.exp(2.25), math.log2(2.25), math.sinh(2.25), math.atan2(2.25, 2), 2.25**1.5, math.erf(2.25)]
    np.testing.assert_allclose(out[:7], [*smooth, math.gamma(2.25)], rtol=1e-15)
    assert out[7:14].tolist() == [-1, 0.25, 2, 2, 1, 18, 2]
    np.testing.assert_allclose(out[14], math.exp(1.5), rtol=2e-7)


VOLATILE = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
struct Both {
  __half h;
  __nv_bfloat16 b;
  __device__ __half half() const volatile { return h; }
  __device__ __nv_bfloat16 bfloat() const volatile { return b; }
};
extern "C" __global__ void k(float* out, Both* both) {
  volatile Both* seen = both;
  out[0] = __half2float(seen->half());
  out[1] = __bfloat162float(seen->bfloat());
}
"""


def test_narrow_numbers_are_copied_out_of_volatile_memory():
    made = nvrtc.translate(replace(SOURCE, text=VOLATILE, expressions=[]))
    out = np.zeros(2, np.float32)
    run_kernel(made.ptx, "k", (1, 1, 1), (1, 1, 1), [out, np.array([0x3C00, 0x4000], np.uint16)])
    assert out.tolist() == [1, 2]


def test_kernels_that_launch_kernels_compile_as_relocatable_code():
    text = """
extern "C" __global__ void child(int* p) { *p = 1; }
extern "C" __global__ void parent(int* p) {
  cudaStream_t stream;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  child<<<1, dim3(1), 0, stream>>>(p);
  child<<<1, 1, 0, cudaStreamTailLaunch>>>(p);
  cudaStreamDestroy(stream);
}
"""
    source = replace(SOURCE, text=text, expressions=[], options=["-rdc=true", "--gpu-architecture=compute_80"])
    assert nvrtc.translate(source).ptx.count("cudaLaunchDevice, (") == 2

"""What nvcc takes and clang refuses, and is shown otherwise: registers by one `%`, pragmas from macros, dependent templates without `template`, wrong bodies of templates."""

import pytest

from anywarp.toolchain import kernel_bodies, shown
from anywarp.toolchain.asm_percents import escaped
from anywarp.toolchain.dependent_templates import named, refused
from anywarp.toolchain.pragma_macros import written
from anywarp.toolchain.unused_templates import MARK, emptied
from toolchain.programs import started


@pytest.mark.parametrize(
    ("plain", "doubled"),
    [
        ('asm("mov.u32 %0, %laneid;" : "=r"(i));', 'asm("mov.u32 %0, %%laneid;" : "=r"(i));'),
        (
            'asm volatile ("{.reg .u16 %al, %_b;" /* %c */\n  "mov.b32 {%al,%_b}, %1; }" : "=r"(r) : "r"(x));',
            'asm volatile ("{.reg .u16 %%al, %%_b;" /* %%c */\n  "mov.b32 {%%al,%%_b}, %1; }" : "=r"(r) : "r"(x));',
        ),
        (
            '#define A(x) asm volatile("{.reg .b32 %t" \\\n #x ";" : : "r"(x));',
            '#define A(x) asm volatile("{.reg .b32 %%t" \\\n #x ";" : : "r"(x));',
        ),
    ],
)
def test_a_percent_before_a_name_is_doubled_in_assembly_with_operands(plain, doubled):
    assert escaped(plain) == doubled and escaped(doubled) == doubled


@pytest.mark.parametrize(
    "text",
    [
        'asm("mov.u32 %0, %%tid.x; add %0, %r1, %[n];" : "=r"(t));',
        'asm volatile("{ .reg .u32 %x; mov.u32 %x, %tid.x; }");',
        'printf("%d %s\\n", asm_1, "asm(\\"%x\\" :"); // asm("%laneid" : )',
        'int asm_(int x); int y = b ? asm_(1) : 2; printf("%d", y);',
    ],
)
def test_what_is_no_such_name_stays(text):
    assert escaped(text) == text


def test_a_macro_that_stands_for_a_pragma():
    assert written("#define U #pragma unroll\nint a;") == '#define U _Pragma("unroll")\nint a;'
    assert written('  #  define U #pragma message "a"  \n') == '  #  define U _Pragma("message \\"a\\"")  \n'
    for other in ("#pragma unroll\n", "#define S(x) #x\n#define P pragma\n", "#define U(x) #pragma unroll x\n"):
        assert written(other) == other


def test_template_is_put_behind_typename_alone():
    said = "a.hpp:2:27: error: use 'template' keyword to treat 'rebind' as a dependent template name\n    2 | x\n"
    [(file, places)] = refused(said).items()
    text = "template <class A, class B>\nusing T = typename A::B::rebind<int>;\nint y = A::f<int>();"
    assert (file.name, places) == ("a.hpp", [(2, 27)])
    assert named(text, [(2, 26)]) == text.replace("::rebind", "::template rebind")
    assert named(text, [(3, 12), (9, 1)]) == text


_HEADER = """
#pragma once
#ifdef __CUDA_ARCH__
#define UNROLLED #pragma unroll
#else
#define UNROLLED
#endif
template <class A> struct Holder {
  using type = typename A::rebind<float>;
};
struct Maker {
  template <class T> struct rebind { T value; };
};
__device__ inline unsigned product(unsigned both) {
  unsigned r = 0;
  asm("{\\n\\t.reg .u16 %low, %high;\\n\\tmov.b32 {%low, %high}, %1;\\n\\tmul.wide.u16 %0, %low, %high;\\n\\t}" : "=r"(r) : "r"(both));
  UNROLLED
  for (int i = 0; i < 4; i++) r += i;
  return r;
}
"""
_PROGRAM = """
#include <cstdio>
#include <parts/product.hpp>
__global__ void kernel(unsigned *out) {
  unsigned lane;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  typename Holder<Maker>::type half{0.5f};
  out[threadIdx.x] = product(threadIdx.x << 16 | 7) + lane + (unsigned)(2 * half.value);
}
int main() {
  unsigned *out;
  cudaMallocManaged(&out, 128);
  kernel<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  printf("%u %u %u\\n", out[0], out[1], out[31]);
}
"""


def test_a_program_whose_header_clang_refuses_in_each_of_these_ways_runs(nvcc, tmp_path):
    (tmp_path / "include/parts").mkdir(parents=True)
    (tmp_path / "include/parts/product.hpp").write_text(_HEADER)
    (tmp_path / "a.cu").write_text(_PROGRAM)
    said = nvcc("-I", "include", "a.cu", "-o", "a").stderr
    assert said == ""
    # 7 * i, 0 + 1 + 2 + 3, the lane and one
    assert started(tmp_path / "a").stdout == f"{7} {7 + 6 + 1 + 1} {31 * 7 + 6 + 31 + 1}\n"
    (tmp_path / "a.cu").write_text(_PROGRAM.replace("cudaMallocManaged", "cudaMallocWhere"))
    assert (
        "a.cu:12:3: error: use of undeclared identifier 'cudaMallocWhere'" in nvcc("-Iinclude", "a.cu", code=1).stderr
    )


_LOST = """
#ifdef __CUDA_ARCH__
namespace tools {
template <class T> struct Tool {
  __device__ Tool(T x) : start(x) { lost = x; }
  __device__ Tool() : start(0) {}
  __device__ T wrong(T x) const {
#ifdef WITH
    if (x > 0) { x = "}"[0]; }
#endif
    for (int i = 0; i < limbs; i++) { lost += nowhere<limbs>(x); }
    return lost;
  }
  __device__ T later(T x) { return x + two(); }
  __device__ T right(T x) { return x + start; }
  T start;
};
template <int N> __device__ __forceinline__ auto piece(const int (&a)[N]) -> decltype(a[0]) { return min(topmost, N); }
}
__device__ int two() { return 2; }
#endif
"""
_USES_TOOL = (
    "#include <cstdio>"
    + _LOST
    + """
__global__ void kernel(int *p) {
#ifdef __CUDA_ARCH__
  *p = tools::Tool<int>().METHOD(5);
#endif
}
int main() {
  int *p;
  cudaMallocManaged(&p, 4);
  kernel<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  printf("%d\\n", *p);
}
"""
)


def test_the_body_of_a_template_that_nobody_uses_may_be_wrong_on_the_device(nvcc, tmp_path):
    (tmp_path / "a.cu").write_text(_USES_TOOL)
    assert nvcc("-DMETHOD=right", "a.cu", "-o", "a").stderr == ""
    assert started(tmp_path / "a").stdout == "5\n"
    # nvcc looks names up where the template stands, and refuses both
    for method, message in (
        ("wrong", "11:39: error: use of undeclared identifier 'lost'"),
        ("later", "14:40: error: use of undeclared identifier 'two'"),
    ):
        assert f"a.cu:{message}" in nvcc(f"-DMETHOD={method}", "a.cu", "-o", "b", code=1).stderr
    (tmp_path / "a.cu").write_text(_USES_TOOL.replace("#ifdef __CUDA_ARCH__", "#ifndef OTHER"))
    assert nvcc("-DMETHOD=right", "-ptx", "a.cu").stderr == ""
    # g++ refuses them for the host, used or not
    assert "undeclared identifier 'lost'" in nvcc("-DMETHOD=right", "a.cu", "-o", "b", code=1).stderr


def test_bodies_are_emptied_around_places():
    made = emptied(_LOST, [(5, 38), (11, 45), (18, 107), (99, 1)])
    assert made.count(MARK) == 3 and made.count("\n") == _LOST.count("\n")
    for gone in ("lost", "nowhere", "topmost", "WITH"):
        assert gone not in made
    for left in (": start(x) {", "start(0) {}", "x + two();", "-> decltype(a[0]) {", "struct Tool {"):
        assert left in made


@pytest.mark.parametrize(
    "text",
    [
        "int f() {\n return lost; }",  # no template
        "template <class T> struct A {\n int a[lost]; };",  # no function
        "template <class T> int f() {\n return lost;\n#ifdef A\n}\n#else\n}\n#endif",  # in two pieces
        "template <class T> int f() {\n return lost;",
    ],
)
def test_other_bodies_stay(text):
    assert emptied(text, [(2, 9)]) == text


def test_cooperative_groups_bring_atomics_where_they_are_used(nvcc, tmp_path):
    program = "#include <cooperative_groups.h>\n__device__ int load(cuda::atomic<int> &a) { return a.load(cuda::memory_order_relaxed); }\n"
    (tmp_path / "a.cu").write_text(program)
    assert nvcc("-c", "a.cu", "-o", "a.o").stderr == ""
    (tmp_path / "a.cu").write_text(program.replace("order_relaxed", "order_loose"))
    said = nvcc("-c", "a.cu", "-o", "a.o", code=1).stderr
    assert "a.cu:2:" in said and "namespace 'cuda'" in said
    (tmp_path / "a.cu").write_text(program.replace("#include", "//"))  # else nobody has included them
    assert "undeclared identifier 'cuda'" in nvcc("-c", "a.cu", "-o", "a.o", code=1).stderr


def test_bodies_of_kernels_are_blank_and_nothing_else_is():
    text = "#define K __global__ void\n__global__ void a(int);\ntemplate <int N> __global__ void __launch_bounds__(N) b(int *p) {\n  if (p) { *p = N; } // }\n}\nvoid c() { d(); }\n"
    blanks = text.replace(body := "  if (p) { *p = N; } // }", len(body) * " ")
    assert kernel_bodies.emptied(text) == blanks and kernel_bodies.emptied(blanks) == blanks


def test_a_kernel_over_a_class_that_the_host_has_otherwise(nvcc, tmp_path):
    program = """#include <cstdio>
#ifdef __CUDA_ARCH__
struct Number { int value; __device__ Number(int a, int b) : value(a * b) {} };
#else
struct Number { __host__ Number(int); };
#endif
template <int N> __global__ void kernel(int *p) { Number product(N, *p); *p = product.value; }
int main() {
  int *p;
  cudaMallocManaged(&p, 4);
  *p = 6;
  kernel<7><<<1, 1>>>(p);
  cudaDeviceSynchronize();
  printf("%d\\n", *p);
}
"""
    (tmp_path / "a.cu").write_text(program)
    assert nvcc("a.cu", "-o", "a").stderr == ""
    assert started(tmp_path / "a").stdout == "42\n"
    (tmp_path / "a.cu").write_text(program.replace("*p = 6;", "*p = six;"))
    assert "a.cu:11:8: error: use of undeclared identifier 'six'" in nvcc("a.cu", code=1).stderr


def test_nothing_is_tried_again_where_nothing_is_to_be_mended(tmp_path):
    (tmp_path / "a.cu").write_text("int x = y;\n")
    assert shown.first(str(tmp_path / "a.cu"), ()) == {}
    assert shown.after(f"{tmp_path}/a.cu:1:9: error: use of undeclared identifier 'y'\n", {}) is None


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("mend", "text"),
    [
        (written, "#define A #pragma" + " " * 200_000 + "\\\n"),
        (written, "#define A #pragma x" + " " * 200_000 + "\\\n"),
        (kernel_bodies.emptied, "__global__ void k() {" * 20_000),
        (escaped, 'asm("%a' * 50_000),
        (escaped, "asm volatile " * 50_000 + "%a"),
    ],
    ids=["spaces", "spaces behind", "braces", "assembly", "words"],
)
def test_hostile_sources_are_left_as_they_are(mend, text):
    assert mend(text) == text

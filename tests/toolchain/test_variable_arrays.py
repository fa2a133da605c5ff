"""Initialised arrays of variable length, which g++ takes as nvcc's host compiler: they hold what g++ puts there, and other lines stay."""

import subprocess

import pytest

from anywarp.toolchain.variable_arrays import filled, refused
from toolchain.programs import started

PROGRAM = r"""#include <cstdio>
template <int N> struct Fixed { int values[N]; };
__global__ void add(int *p) { int table[] = {1, 2}; p[threadIdx.x] += table[threadIdx.x & 1]; }
int main() {
  int rows = 2, n = 3;
  constexpr int known = 2;
  int plain[known][2] = {{1, 2}, {3, 4}};
  int line[n] = {1, 2};
  const float table[2][n] = { {1.0, 2.5}, // a comment with { and }
                                 {3, 4, 5} };
  unsigned char cube[2][2][n] = {
    {{1}, {2, 'a'}},
    {{3}}
  };
  int wide [2][ n * 2 ] = {{1}, {7, 8, 9, 10, 11, 12}}; int after = 5;
  int nothing[n] = {};
  for (int i = 0; i < 2; ++i) { double within[i + 1] = {0.5}; printf("%g ", within[i]); }
  printf("%d %d %d %d\n", plain[1][0], line[0], line[1], line[2]);
  for (int i = 0; i < rows; ++i) for (int k = 0; k < n; ++k) printf("%g ", table[i][k]);
  for (int i = 0; i < 2; ++i) for (int k = 0; k < rows; ++k) for (int l = 0; l < n; ++l) printf("%d ", cube[i][k][l]);
  printf("%d %d %d %d %d %d line %d\n", wide[0][5], wide[1][0], wide[1][5], after, nothing[0], nothing[2], __LINE__);
#ifdef __CUDACC__
  int *p;
  cudaMallocManaged(&p, n * sizeof *p);
  for (int i = 0; i < n; ++i) p[i] = line[i];
  add<<<1, n>>>(p);
  cudaDeviceSynchronize();
  printf("%d %d %d\n", p[0], p[1], p[2]);
#endif
}
"""


def test_they_hold_what_the_hosts_compiler_puts_there(nvcc, tmp_path):
    (tmp_path / "a.cu").write_text(PROGRAM)
    nvcc("-std=c++17", "a.cu", "-o", "a")
    *told, of_device = started(tmp_path / "a").stdout.splitlines()
    (tmp_path / "a.cpp").write_text(
        PROGRAM.replace("__global__ void add", "#if 0\nvoid add").replace("int main", "#endif\n#line 4\nint main")
    )
    subprocess.run(["g++", "-std=gnu++17", "-w", "a.cpp", "-o", "b"], cwd=tmp_path, check=True)
    assert told == subprocess.run([tmp_path / "b"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert of_device == "2 4 1"


@pytest.mark.parametrize(
    "text, column, made",
    [
        (
            "void f(int n) { int a[n] = {1,\n2}; }",
            23,
            "void f(int n) { int a[n];__builtin_memset(a, 0, sizeof a); { int anywarp_values[] = {1,\n2}; __builtin_memcpy(a, anywarp_values, sizeof anywarp_values); } }",
        ),
        ("void f(int n) { static int a[n] = {1}; }", 30, None),
        ("void f(int n) { int a[2][n] = {1, 2}; }", 23, None),
        ("void f(int n) { int b, a[n] = {1}; }", 26, None),
        ("void f(int n) { char a[n] = \"x\"; }", 24, None),
        ("void f(int n) { int a[n] = {1}, b; }", 23, None),
        ("void f(int n) { int a[n] = {1", 23, None),
    ],
)  # fmt: skip
def test_declarations_of_other_forms_stay(text, column, made):
    assert filled(text, [(1, column)]) == (made or text)


def test_lines_that_the_source_counts_itself_and_long_ones_do_no_harm():
    text = "#line 900\nvoid f(int n) { int a[n] = {1}; }"
    assert filled(text, [(900, 23)]) == text
    long = f"void f(int n) {{ {'a' * 200_000} a[n] = {{1}}; }}"
    assert filled(long, [(1, long.index("[n]") + 2)]) == long


def test_clangs_messages_give_the_places():
    said = "\x1b[1ma/b.cu:18:24: \x1b[0m\x1b[0;1;31merror: \x1b[0mvariable-sized object may not be initialized\x1b[0m\n  18 | int\nb.cu:1:2: error: other\n"
    [(file, places)] = refused(said).items()
    assert (file.name, file.parent.name, places) == ("b.cu", "a", [(18, 24)])


def test_what_cannot_be_mended_is_told_as_clang_says_it(nvcc, tmp_path):
    (tmp_path / "a.cu").write_text("int main() {\n  int n = 2;\n  int a[n] = {1}, b = 2;\n  return a[0] + b;\n}\n")
    assert "a.cu:3:9: error: variable-sized object may not be initialized" in nvcc("a.cu", "-o", "a", code=1).stderr
    (tmp_path / "a.cu").write_text("int main() {\n  int n = 2;\n  int a[n] = {1};\n  return a[0] + c;\n}\n")
    said = nvcc("a.cu", "-o", "a", code=1).stderr
    assert "a.cu:4:17: error: use of undeclared identifier 'c'" in said
    assert "variable-sized" not in said

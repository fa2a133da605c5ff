"""Launches with blanks between their brackets, as formatters leave them, compile as nvcc compiles them; everything else stays where it is."""

import pytest

from anywarp.toolchain.spaced_launches import joined
from toolchain.programs import started


@pytest.mark.parametrize(
    ("spaced", "together"),
    [
        ("k << <1, 32 >> > (p);", "k <<< 1, 32 >>>  (p);"),
        ("k<< <dim3((n + 1) >> 1, 2), b, 0, s>> >(p);", "k<<< dim3((n + 1) >> 1, 2), b, 0, s>>> (p);"),
        ("k < << g, b > >> ();", "k <<<  g, b >>>  ();"),
        ("k << < g, b >>> ();", "k <<<  g, b >>> ();"),
        ("f << <a, b>> >(); std::vector<std::vector<int>> > c;", "f <<< a, b>>> (); std::vector<std::vector<int>> > c;"),
    ],
)  # fmt: skip
def test_brackets_of_launches_stand_together_and_nothing_moves(spaced, together):
    assert joined(spaced) == together and len(spaced) == len(together)


@pytest.mark.parametrize(
    "text",
    [
        "A<B<C<int>> > x; y = a << b; std::cout << \"<< <1, 2>> >\" << c; // << <1>> >\n/* k << <1,\n2>> >() */",
        "k<<<1, 2>>>(p); z >>= 2;",
        "k << < g, b;  x = y >> > z;",
        "char c = '<'; auto s = R\"x(k << <1, 2>> >())x\";",
    ],
)  # fmt: skip
def test_what_is_no_launch_stays(text):
    assert joined(text) == text


def test_a_program_and_its_header_run_and_errors_name_their_lines(nvcc, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/twice.cuh").write_text(
        '#include <cstdio>\n#include "../twice_kernel.cuh"\nvoid twice(int *p) { twice_kernel << <dim3((64 + 31) / 32), 32 >> > (p); }\n'
    )
    (tmp_path / "twice_kernel.cuh").write_text(
        "__global__ void twice_kernel(int *p) { p[blockIdx.x * 32 + threadIdx.x] *= 2; }\n"
    )
    program = '#include "twice.cuh"\nint main() {\n  int *p;\n  cudaMallocManaged(&p, 256);\n  for (int i = 0; i < 64; i++) p[i] = i;\n  twice(p);\n'
    program += '  twice_kernel << < 1, 32 >> >(p);\n  cudaDeviceSynchronize();\n  printf("%d %d %s\\n", p[31], p[63], "<< <>> >");\n}\n'
    (tmp_path / "a.cu").write_text(program)
    nvcc("-I", "parts", "a.cu", "-o", "a")
    done = started(tmp_path / "a")
    assert (done.stdout, done.stderr) == ("124 126 << <>> >\n", "")
    (tmp_path / "a.cu").write_text(program.replace("printf(", "print_f("))
    assert "a.cu:9:3: error" in nvcc("-I", "parts", "a.cu", "-o", "a", code=1).stderr

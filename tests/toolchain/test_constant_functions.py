"""What nvcc takes in constant expressions of the C library's functions, and what it refuses there: as nvcc 13.0 was seen to do."""

import pytest

from anywarp import settings
from toolchain.programs import started

TAKEN = """
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#define AT_ONCE(x) static_assert(x, #x)
AT_ONCE(std::ceil(0.5) == 1 && ceil(-0.5) == 0 && ceil(7) == 7 && std::ceil(7 / 2) == 3);
AT_ONCE(ceil(0.5f) == 1 && std::ceil(-1.5f) == -1 && std::ceil(2.25L) == 3 && ceil(-3.0) == -3);
AT_ONCE(ceil(-0x1.8p62) == -0x1.8p62 && ceil(0x1.fp300) == 0x1.fp300 && ceil(HUGE_VAL) == HUGE_VAL);
AT_ONCE(std::ceil(0x1p62L + 0.5L) == 0x1p62L + 1 && ceil(0x1p-1074) == 1);
AT_ONCE(__builtin_signbit(ceil(-0.5)) && __builtin_signbit(std::ceil(-0.0f)) && !__builtin_signbit(ceil(0.0)));
AT_ONCE(abs(-3) == 3 && std::abs(-4) == 4 && strlen("abc") == 3 && std::strlen("a\\0b") == 1);
constexpr int blocks = ceil(1000 / 256.0);
__device__ constexpr double per_block = ceil(7.5);
__device__ double scale = std::ceil(8.5);
__constant__ int offset = abs(-6);
__global__ void k(int* out, const char* text, double x, float y, int z) {
  __shared__ int kept[(int)ceil(blocks / 3.0)];
  constexpr int at_once = abs(-3) + ceil(7.5) + std::ceil(7.5f) + strlen("abc");
  out[0] = at_once, out[1] = sizeof kept / sizeof(int), out[2] = per_block + scale + offset;
  out[3] = ceil(x) + std::ceil(y) + ceil(z) + abs(z) + strlen(text);
}
int main() {
  int (*f)(int) = abs, (*g)(int) = std::abs, v[3] = {-1, 2, -3}, *out;
  double (*up)(double) = ceil;
  std::function<size_t(const char*)> length = strlen;
  std::transform(v, v + 3, v, static_cast<int (*)(int)>(std::abs));
  char* text;
  cudaMallocManaged(&out, 16), cudaMallocManaged(&text, 16);
  strcpy(text, "four");
  k<<<1, 1>>>(out, text, 1.25, -1.25f, -5);
  cudaDeviceSynchronize();
  volatile double x = -1.5;
  volatile int z = -9;
  printf("%d %d %d %g %d %g ", blocks, f(-5) + g(-6), v[0] + v[2], up(2.5), (int)length(text), ceil(x) + std::ceil((float)x));
  printf("%d %d %d %d %d\\n", abs(z) + std::abs(z), out[0], out[1], out[2], out[3]);
}
"""


@pytest.mark.native
@pytest.mark.skipif(
    not (settings.LIBRARY_DIR.get() / "libcudart.so.13").exists(), reason="libcudart.so.13 is not built"
)
@pytest.mark.parametrize("version", ["c++11", "c++17", "c++20"])
def test_constants_of_ceil_abs_and_strlen(nvcc, tmp_path, version):
    (tmp_path / "a.cu").write_text(TAKEN)
    nvcc(f"-std={version}", "a.cu", "-o", "a")
    # 3 + 8 + 8 + 3; ceil(4 / 3); 8 + 9 + 6; 2 - 1 - 5 + 5 + 4
    assert started(tmp_path / "a").stdout.split() == "4 11 4 3 4 -2 18 22 2 23 5".split()


REFUSED = ("std::sqrt(2.0)", "std::pow(2.0f, 3)", "sin(1.0)", "std::floor(2.5)", "ceilf(2.5f)", "labs(-3L)")


@pytest.mark.parametrize("value", REFUSED)
def test_what_nvcc_refuses_there(nvcc, tmp_path, value):
    (tmp_path / "a.cu").write_text(f"#include <cmath>\n#include <cstdlib>\nconstexpr auto x = {value};\n")
    assert "a.cu:3:16: error: constexpr variable 'x'" in nvcc("-c", "a.cu", code=1).stderr

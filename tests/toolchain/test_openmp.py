"""OpenMP in CUDA C++: its header is found as nvcc finds it, its regions run in parallel with LLVM's runtime, and without that nothing is built."""

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import openmp
from toolchain.programs import started

TEAMS = r"""
#include <cstdio>
#include <omp.h>
int team();
__global__ void twice(int *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}
int main() {
  int *a, seen[4] = {0, 0, 0, 0};
  long sum = 0;
  cudaMallocManaged(&a, 1000 * sizeof(int));
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 7) num_threads(3)
  for (int i = 0; i < 1000; i++) { a[i] = 3 * i; sum += i; }
  twice<<<4, 256>>>(a, 1000);
  cudaDeviceSynchronize();
#pragma omp parallel num_threads(4)
  seen[omp_get_thread_num()] = omp_get_num_threads();
  printf("%ld %d %d%d%d%d %d\n", sum, a[999], seen[0], seen[1], seen[2], seen[3], team());
}
"""
PLAIN = """
int team() {
  int n = 0;
#pragma omp parallel num_threads(5)
#pragma omp atomic
  n++;
  return n;
}
"""


@pytest.fixture
def without_runtime(monkeypatch):
    monkeypatch.setattr(openmp, "_places", lambda: iter(()))


def test_who_asks_for_openmp_without_a_runtime_is_told_what_to_install(without_runtime):
    for ask in (openmp.as_clang, openmp.linked):
        with pytest.raises(AnywarpError) as caught:
            ask(["-O2", "-fopenmp"])
        assert caught.value.diagnostic.code == "T010" and "intel-openmp" in caught.value.diagnostic.help


def test_who_does_not_ask_needs_no_runtime(without_runtime):
    assert openmp.as_clang(["-O2"]) == ["-O2"] and openmp.linked(["-O2"]) == (["-O2"], [])


def test_the_runtime_is_linked_in_the_place_of_gccs(monkeypatch, tmp_path):
    """libgomp lacks what clang's code calls; both at once would be two teams of threads."""
    place = tmp_path / "libomp.so"
    place.write_text("")
    monkeypatch.setattr(openmp, "_places", lambda: iter([tmp_path / "none.so", place]))
    assert openmp.as_clang(["-fopenmp", "-g"]) == ["-fopenmp=libomp", "-g"]
    assert openmp.linked(["-fopenmp", "-g"]) == (["-g"], [str(place), f"-Wl,-rpath,{tmp_path}"])


def test_the_header_is_found_as_by_nvcc_without_an_option(nvcc, tmp_path):
    if not openmp.header():
        pytest.skip("the host's compiler has no omp.h")
    (tmp_path / "a.cu").write_text(
        "#include <omp.h>\n__global__ void k() {}\ndouble now() { return omp_get_wtime(); }\n"
    )
    nvcc("-c", "a.cu", "-o", "a.o")


def test_regions_of_both_compilers_run_in_parallel(nvcc, tmp_path):
    try:
        openmp.runtime()
    except AnywarpError:
        pytest.skip("no libomp for clang")
    (tmp_path / "teams.cu").write_text(TEAMS)
    (tmp_path / "plain.cpp").write_text(PLAIN)
    program = tmp_path / "teams"
    nvcc("-Xcompiler", "-fopenmp", "teams.cu", "plain.cpp", "-o", program, "-lgomp")
    done = started(program)
    assert (done.stdout, done.stderr) == ("499500 5994 4444 5\n", "")

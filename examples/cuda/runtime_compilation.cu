// Compiles a kernel while the program runs (NVRTC), with a template instance found by its name,
// and launches it.
//
// build: -lnvrtc -lcuda
// expect: runtime_compilation: right
#include <cuda.h>
#include <nvrtc.h>

#include <string>
#include <vector>

#include "example.h"

template <typename Status>
void need(Status status, const char* what) {
  if (status == Status(0)) return;
  std::fprintf(stderr, "%s: %d\n", what, static_cast<int>(status));
  std::exit(1);
}
#define NEED(call) need((call), #call)

const char* const kSource = R"(
#include "polynomial.h"
template <typename T, int Degree>
__global__ void evaluate(const T* x, T* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = polynomial<T, Degree>(x[i]) + EXTRA;
}
)";

// 1 + 2x + 3x^2 + ...
const char* const kHeader = R"(
template <typename T, int Degree>
__device__ T polynomial(T x) {
  T sum = 0;
  for (int k = Degree; k >= 0; --k) sum = sum * x + T(k + 1);
  return sum;
}
)";

int main() {
  nvrtcProgram program;
  const char* const name = "evaluate<double, 3>";
  const char* headers[] = {kHeader};
  const char* header_names[] = {"polynomial.h"};
  NEED(nvrtcCreateProgram(&program, kSource, "evaluate.cu", 1, headers, header_names));
  NEED(nvrtcAddNameExpression(program, name));
  const char* options[] = {"--gpu-architecture=compute_80", "-DEXTRA=100", "--std=c++17"};
  const nvrtcResult compiled = nvrtcCompileProgram(program, 3, options);
  if (compiled != NVRTC_SUCCESS) {
    size_t bytes = 0;
    NEED(nvrtcGetProgramLogSize(program, &bytes));
    std::string log(bytes, ' ');
    NEED(nvrtcGetProgramLog(program, log.data()));
    std::fprintf(stderr, "%s\n", log.c_str());
    return 1;
  }
  const char* lowered;
  NEED(nvrtcGetLoweredName(program, name, &lowered));
  size_t bytes = 0;
  NEED(nvrtcGetPTXSize(program, &bytes));
  std::string ptx(bytes, ' ');
  NEED(nvrtcGetPTX(program, ptx.data()));

  CHECK(cudaFree(nullptr));
  CUmodule module;
  CUfunction kernel;
  NEED(cuModuleLoadData(&module, ptx.c_str()));
  NEED(cuModuleGetFunction(&kernel, module, lowered));
  NEED(nvrtcDestroyProgram(&program));

  int count = 700;
  double *x, *y;
  CHECK(cudaMallocManaged(&x, count * sizeof(double)));
  CHECK(cudaMallocManaged(&y, count * sizeof(double)));
  for (int i = 0; i < count; ++i) x[i] = i * 0.125;
  void* arguments[] = {&x, &y, &count};
  NEED(
      cuLaunchKernel(kernel, (count + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += y[i] != ((4 * x[i] + 3) * x[i] + 2) * x[i] + 1 + 100;  // exact in binary
  std::printf("%s as %s: %d wrong\n", name, lowered, wrong);
  NEED(cuModuleUnload(module));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  return verdict("runtime_compilation", wrong == 0);
}

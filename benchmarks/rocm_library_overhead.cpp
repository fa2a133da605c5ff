// Calls functions of CUDA's libraries through ours and their counterparts directly, in turns; prints a
// line of JSON for each.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

// What answers: functions that return at once, in a library of their own.
#ifdef TARGET
extern "C" {
int hipblasGetPointerMode(void*, int* mode) { return *mode = 1, 0; }
int hipblasSetStream(void*, void*) { return 0; }
int hipblasSgemm(void*, int, int, int, int, int, const float*, const float*, int, const float*, int,
                 const float*, float*, int) {
  return 0;
}
int hipblasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                  int, int, const void*, void*, int, int, int, int) {
  return 0;
}
int hipfftPlan1d(void** plan, int, int, int) { return *plan = plan, 0; }
int hipfftExecC2C(void*, void*, void*, int) { return 0; }
int ncclAllReduce(const void*, void*, size_t, int, int, void*, void*) { return 0; }
}
#else
namespace {

double best(const std::function<void()>& round) {
  double least = 1e9;
  for (int i = 0; i < 60; i++) {
    const auto start = std::chrono::steady_clock::now();
    round();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (took.count() < least) least = took.count();
  }
  return least;
}

constexpr int kCalls = 4000;

template <typename Ours, typename Counterpart, typename Call, typename CallCounterpart>
void measure(const char* library, const char* name, const char* counterpart, double goal, Ours ours,
             Counterpart direct, Call call, CallCounterpart call_counterpart) {
  if (!ours || !direct) fprintf(stderr, "no %s or %s\n", name, counterpart), exit(1);
  double through = 1e9, straight = 1e9;
  for (int turn = 0; turn < 5; turn++) {
    const double first = best([&] {
      for (int i = 0; i < kCalls; i++) call(ours);
    });
    const double second = best([&] {
      for (int i = 0; i < kCalls; i++) call_counterpart(direct);
    });
    if (first < through) through = first;
    if (second < straight) straight = second;
  }
  printf(
      "{\"library\": \"%s\", \"function\": \"%s\", \"counterpart\": \"%s\", \"ours\": %.2f, \"direct\": "
      "%.2f, \"goal\": %.0f}\n",
      library, name, counterpart, through / kCalls, straight / kCalls, goal);
}

void* open(const char* name) {
  void* library = dlopen(name, RTLD_NOW);
  if (!library) fprintf(stderr, "%s\n", dlerror()), exit(1);
  return library;
}

template <typename Type>
Type find(void* library, const char* name) {
  return reinterpret_cast<Type>(dlsym(library, name));
}

}  // namespace

int main() {
  void *blas = open("libcublas.so.12"), *fft = open("libcufft.so.11"), *nccl = open("libnccl.so.2");
  void *hipblas = open("libhipblas.so.3"), *hipfft = open("libhipfft.so.0"),
       *rccl = open("librccl.so.1");
  void* const handle = &blas;
  float one = 1, data[4] = {};
  int mode = 0;

  using Mode = int (*)(void*, int*);
  const auto get = [&](Mode f) { f(handle, &mode); };
  measure("cuBLAS", "cublasGetPointerMode_v2", "hipblasGetPointerMode", 15,
          find<Mode>(blas, "cublasGetPointerMode_v2"), find<Mode>(hipblas, "hipblasGetPointerMode"),
          get, get);
  using Stream = int (*)(void*, void*);
  const auto stream = [&](Stream f) { f(handle, nullptr); };
  measure("cuBLAS", "cublasSetStream_v2", "hipblasSetStream", 15,
          find<Stream>(blas, "cublasSetStream_v2"), find<Stream>(hipblas, "hipblasSetStream"),
          stream, stream);
  using Gemm = int (*)(void*, int, int, int, int, int, const float*, const float*, int,
                       const float*, int, const float*, float*, int);
  measure(
      "cuBLAS", "cublasSgemm_v2", "hipblasSgemm", 60, find<Gemm>(blas, "cublasSgemm_v2"),
      find<Gemm>(hipblas, "hipblasSgemm"),
      [&](Gemm f) { f(handle, 0, 1, 1, 1, 1, &one, data, 1, data, 1, &one, data, 1); },
      [&](Gemm f) { f(handle, 111, 112, 1, 1, 1, &one, data, 1, data, 1, &one, data, 1); });
  using GemmEx = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int,
                         const void*, int, int, const void*, void*, int, int, int, int);
  measure(
      "cuBLAS", "cublasGemmEx", "hipblasGemmEx", 60, find<GemmEx>(blas, "cublasGemmEx"),
      find<GemmEx>(hipblas, "hipblasGemmEx"),
      [&](GemmEx f) {
        f(handle, 0, 1, 1, 1, 1, &one, data, 2, 1, data, 2, 1, &one, data, 2, 1, 68, 99);
      },
      [&](GemmEx f) {
        f(handle, 111, 112, 1, 1, 1, &one, data, 2, 1, data, 2, 1, &one, data, 2, 1, 2, 160);
      });
  int plan = 0;
  if (find<int (*)(int*, int, int, int)>(fft, "cufftPlan1d")(&plan, 64, 41, 1))
    fprintf(stderr, "no plan\n"), exit(1);
  using Ours = int (*)(int, void*, void*, int);
  using Counterpart = int (*)(void*, void*, void*, int);
  measure(
      "cuFFT", "cufftExecC2C", "hipfftExecC2C", 60, find<Ours>(fft, "cufftExecC2C"),
      find<Counterpart>(hipfft, "hipfftExecC2C"), [&](Ours f) { f(plan, data, data, 1); },
      [&](Counterpart f) { f(data, data, data, 1); });
  using Reduce = int (*)(const void*, void*, size_t, int, int, void*, void*);
  const auto reduce = [&](Reduce f) { f(data, data, 4, 7, 0, handle, nullptr); };
  measure("NCCL", "ncclAllReduce", "ncclAllReduce", 60, find<Reduce>(nccl, "ncclAllReduce"),
          find<Reduce>(rccl, "ncclAllReduce"), reduce, reduce);
}
#endif

// Uses the driver from many threads at once: contexts, streams, events, copies, graphs, pools.
// Prints "done" when all sums are right. Built by a test against libcuda; build it with
// -fsanitize=thread together with native/ to look for races.
//
// usage: stress IMAGE_FILE   (a module with vecadd(u64 a, u64 b, u64 c, u32 n))
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "cuda/cuda_api.h"

extern "C" {
CUresult cuInit(unsigned);
CUresult cuCtxCreate_v2(CUcontext*, unsigned, CUdevice);
CUresult cuCtxSetCurrent(CUcontext);
CUresult cuCtxSynchronize();
CUresult cuCtxDestroy_v2(CUcontext);
CUresult cuModuleLoadData(CUmodule*, const void*);
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*);
CUresult cuMemAlloc_v2(CUdeviceptr*, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemAllocAsync(CUdeviceptr*, size_t, CUstream);
CUresult cuMemFreeAsync(CUdeviceptr, CUstream);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void*, size_t, CUstream);
CUresult cuMemcpyDtoHAsync_v2(void*, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t);
CUresult cuStreamCreate(CUstream*, unsigned);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned);
CUresult cuStreamBeginCapture_v2(CUstream, int);
CUresult cuStreamEndCapture(CUstream, CUgraph*);
CUresult cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph, unsigned long long);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
CUresult cuGraphExecDestroy(CUgraphExec);
CUresult cuGraphDestroy(CUgraph);
CUresult cuEventCreate(CUevent*, unsigned);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventQuery(CUevent);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void**, void**);
}

namespace {

constexpr unsigned kCount = 5000;

void check(CUresult code, int line) {
  if (code == CUDA_SUCCESS) return;
  fprintf(stderr, "line %d: %d\n", line, code);
  exit(1);
}
#define CHECK(call) check(call, __LINE__)

void add(CUfunction function, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, CUstream stream) {
  unsigned n = kCount;
  void* params[] = {&a, &b, &c, &n};
  CHECK(cuLaunchKernel(function, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, nullptr));
}

// Doubles a vector `rounds` times over two streams and once more by a graph.
void work(CUcontext context, CUfunction function, unsigned flags, int rounds) {
  CHECK(cuCtxSetCurrent(context));
  CUstream first, second;
  CHECK(cuStreamCreate(&first, flags));
  CHECK(cuStreamCreate(&second, flags));
  CUdeviceptr a, b;
  size_t bytes = kCount * sizeof(float);
  CHECK(cuMemAlloc_v2(&a, bytes));
  CHECK(cuMemAllocAsync(&b, bytes, first));
  std::vector<float> host(kCount, 1.0f), back(kCount);
  CHECK(cuMemcpyHtoDAsync_v2(a, host.data(), bytes, first));
  CUevent event;
  CHECK(cuEventCreate(&event, 0));
  for (int i = 0; i < rounds; ++i) {
    add(function, a, a, b, first);
    CHECK(cuEventRecord(event, first));
    CHECK(cuStreamWaitEvent(second, event, 0));
    add(function, b, b, a, second);
    CHECK(cuEventRecord(event, second));
    CHECK(cuStreamWaitEvent(first, event, 0));
    if (CUresult code = cuEventQuery(event); code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY)
      CHECK(code);
  }
  CUgraph graph;
  CUgraphExec exec;
  CHECK(cuStreamBeginCapture_v2(first, 2));
  add(function, a, a, b, first);
  CHECK(cuStreamEndCapture(first, &graph));
  CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, first));
  CHECK(cuMemcpyDtoHAsync_v2(back.data(), b, bytes, first));
  CHECK(cuStreamSynchronize(first));
  float expected = 2;
  for (int i = 0; i < 2 * rounds; ++i) expected *= 2;
  for (float value : back) {
    if (value == expected) continue;
    fprintf(stderr, "%g where %g should be\n", static_cast<double>(value),
            static_cast<double>(expected));
    exit(1);
  }
  CHECK(cuMemFreeAsync(b, first));
  CHECK(cuMemFree_v2(a));
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuEventDestroy_v2(event));
  CHECK(cuStreamDestroy_v2(first));
  CHECK(cuStreamDestroy_v2(second));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1]);
  std::string image(std::istreambuf_iterator<char>(file), {});
  CHECK(cuInit(0));
  CUcontext context;
  CHECK(cuCtxCreate_v2(&context, 0, 0));
  CUmodule module;
  CUfunction function;
  CHECK(cuModuleLoadData(&module, image.c_str()));
  CHECK(cuModuleGetFunction(&function, module, "vecadd"));
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 6; ++i) threads.emplace_back(work, context, function, i % 2, 8);
    for (auto& thread : threads) thread.join();
  }
  CHECK(cuCtxSynchronize());
  CHECK(cuCtxDestroy_v2(context));
  puts("done");
}

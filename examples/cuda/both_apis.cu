// Runtime and driver API in one program: they share the context, streams, events and memory;
// handles go both ways.
//
// build: -lcuda
// expect: both_apis: right
#include <cuda.h>

#include <vector>

#include "example.h"

#define NEED(call)                                                   \
  do {                                                               \
    const CUresult status = (call);                                  \
    if (status != CUDA_SUCCESS) {                                    \
      std::fprintf(stderr, "line %d: error %d\n", __LINE__, status); \
      std::exit(1);                                                  \
    }                                                                \
  } while (0)

__global__ void triple(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= 3;
}

using SetDevice32 = CUresult (*)(CUdeviceptr, unsigned, size_t, CUstream);

int main() {
  int count = 3'000;
  // The runtime made the primary context current; the driver sees the same one.
  CHECK(cudaSetDevice(0));
  CHECK(cudaFree(nullptr));
  CUcontext current, primary;
  NEED(cuCtxGetCurrent(&current));
  NEED(cuDevicePrimaryCtxRetain(&primary, 0));
  bool right = current == primary;

  // Memory from one, filled by the other; the driver's function found through the runtime.
  int* data;
  CHECK(cudaMalloc(&data, count * sizeof(int)));
  void* symbol = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuMemsetD32Async", &symbol, 12000, cudaEnableDefault,
                                         &found));
  right = right && found == cudaDriverEntryPointSuccess && symbol;
  CUstream stream;
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  NEED(
      reinterpret_cast<SetDevice32>(symbol)(reinterpret_cast<CUdeviceptr>(data), 7, count, stream));

  // A kernel of this file: by <<<>>> on the driver's stream, and by the driver on a runtime's
  // function handle.
  triple<<<(count + 255) / 256, 256, 0, stream>>>(data, count);
  CHECK(cudaGetLastError());
  cudaFunction_t function;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(triple)));
  void* arguments[] = {&data, &count};
  NEED(cuLaunchKernel(function, (count + 127) / 128, 1, 1, 128, 1, 1, 0, stream, arguments,
                      nullptr));
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  NEED(cuEventRecord(event, stream));
  CHECK(cudaEventSynchronize(event));

  std::vector<int> result(count);
  NEED(cuMemcpyDtoH(result.data(), reinterpret_cast<CUdeviceptr>(data), count * sizeof(int)));
  int wrong = 0, registers = 0, block = 0;
  for (int value : result) wrong += value != 63;
  NEED(cuFuncGetAttribute(&block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  NEED(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  right = right && block >= 256 && registers > 0;

  // The end of the address range of what the runtime allocated.
  CUdeviceptr base = 0;
  size_t bytes = 0;
  NEED(cuMemGetAddressRange(&base, &bytes, reinterpret_cast<CUdeviceptr>(data + 77)));
  right = right && base == reinterpret_cast<CUdeviceptr>(data) && bytes >= count * sizeof(int);
  std::printf("%d elements, %d wrong\n", count, wrong);
  CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(data));
  NEED(cuDevicePrimaryCtxRelease(0));
  return verdict("both_apis", right && wrong == 0);
}

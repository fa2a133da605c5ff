// The driver API alone: a context, a module from PTX text, a launch with a packed parameter
// buffer, and its JIT log.
//
// build: -lcuda
// expect: driver_api: right
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                             \
  do {                                                                          \
    const CUresult status = (call);                                             \
    if (status != CUDA_SUCCESS) {                                               \
      const char* name = "?";                                                   \
      cuGetErrorName(status, &name);                                            \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name); \
      std::exit(1);                                                             \
    }                                                                           \
  } while (0)

// y = a * x + y on integers, and a variable that counts the threads.
const char* const kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .u32 threads;
.visible .entry axpy(.param .u64 x_, .param .u64 y_, .param .u32 a_, .param .u32 count_) {
  .reg .pred %p;
  .reg .b32 %i, %n, %a, %v, %w, %t<4>;
  .reg .b64 %x, %y, %o, %c;
  ld.param.u64 %x, [x_];
  ld.param.u64 %y, [y_];
  ld.param.u32 %a, [a_];
  ld.param.u32 %n, [count_];
  mov.u32 %t0, %ctaid.x;
  mov.u32 %t1, %ntid.x;
  mov.u32 %t2, %tid.x;
  mad.lo.u32 %i, %t0, %t1, %t2;
  setp.ge.u32 %p, %i, %n;
  @%p bra DONE;
  mov.u64 %c, threads;
  red.global.add.u32 [%c], 1;
  mul.wide.u32 %o, %i, 4;
  add.u64 %x, %x, %o;
  add.u64 %y, %y, %o;
  ld.global.u32 %v, [%x];
  ld.global.u32 %w, [%y];
  mad.lo.u32 %w, %a, %v, %w;
  st.global.u32 [%y], %w;
DONE:
  ret;
}
)";

struct Arguments {  // laid out as the kernel's parameters are
  CUdeviceptr x, y;
  unsigned a, count;
};

int main() {
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));

  CUmodule module;
  CUfunction kernel;
  CUdeviceptr threads;
  size_t threads_bytes = 0;
  CHECK(cuModuleLoadData(&module, kPtx));
  CHECK(cuModuleGetFunction(&kernel, module, "axpy"));
  CHECK(cuModuleGetGlobal(&threads, &threads_bytes, module, "threads"));

  const unsigned count = 1000;
  std::vector<unsigned> x(count), y(count), result(count);
  for (unsigned i = 0; i < count; ++i) x[i] = i, y[i] = 5 * i + 1;
  Arguments arguments = {0, 0, 7, count};
  CHECK(cuMemAlloc(&arguments.x, count * 4));
  CHECK(cuMemAlloc(&arguments.y, count * 4));
  CHECK(cuMemcpyHtoD(arguments.x, x.data(), count * 4));
  CHECK(cuMemcpyHtoD(arguments.y, y.data(), count * 4));
  CHECK(cuMemsetD32(threads, 0, 1));
  size_t bytes = sizeof arguments;
  void* packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                    CU_LAUNCH_PARAM_END};
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamSynchronize(nullptr));
  CHECK(cuLaunchKernel(kernel, (count + 127) / 128, 1, 1, 128, 1, 1, 0, stream, nullptr, packed));
  CHECK(cuMemcpyDtoHAsync(result.data(), arguments.y, count * 4, stream));
  CHECK(cuStreamSynchronize(stream));
  unsigned counted = 0;
  CHECK(cuMemcpyDtoH(&counted, threads, sizeof counted));

  // A module that does not assemble: an error, and a log that says why.
  char log[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule none;
  const char* const broken = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k( { ret; }\n";
  const CUresult refused = cuModuleLoadDataEx(&none, broken, 2, options, values);

  int wrong = 0;
  for (unsigned i = 0; i < count; ++i) wrong += result[i] != 12 * i + 1;
  std::printf("%d wrong, %u threads; bad PTX: %s\n", wrong, counted,
              refused == CUDA_ERROR_INVALID_PTX ? "refused" : "NOT refused");
  CHECK(cuStreamDestroy(stream));
  CHECK(cuMemFree(arguments.x));
  CHECK(cuMemFree(arguments.y));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  const bool right = wrong == 0 && counted == count && threads_bytes == 4 &&
                     refused == CUDA_ERROR_INVALID_PTX && std::strlen(log);
  std::printf("driver_api: %s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}

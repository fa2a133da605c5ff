// What our driver and runtime libraries add to a call of HIP: each function through them and its
// counterpart in HIP called directly, in turns, in one process on one processor. Prints one line of JSON
// per function: nanoseconds, the best of many rounds.
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace {

constexpr int kCalls = 4000, kRounds = 60;

[[noreturn]] void stop(const char* what, long code) {
  std::fprintf(stderr, "%s: %ld %s\n", what, code, code == -1 ? dlerror() : "");
  std::exit(1);
}

template <typename F>
F find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) stop(name, -1);
  return reinterpret_cast<F>(found);
}

void* open(const char* name) {
  void* found = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (!found) stop(name, -1);
  return found;
}

void good(const char* what, int code) {
  if (code) stop(what, code);
}

template <typename Call>
double round_of(Call&& call) {
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i)
    if (call()) stop("a measured call", 1);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
             .count() /
         kCalls;
}

template <typename Ours, typename Direct>
void compare(const char* library, const char* name, const char* counterpart, double goal, Ours&& ours,
             Direct&& direct) {
  double best_ours = 1e9, best_direct = 1e9;
  for (int i = 0; i < kRounds; ++i) {
    best_ours = std::min(best_ours, round_of(ours));
    best_direct = std::min(best_direct, round_of(direct));
  }
  std::printf(
      "{\"library\": \"%s\", \"function\": \"%s\", \"counterpart\": \"%s\", \"ours\": %.2f, \"direct\": "
      "%.2f, \"goal\": %.0f}\n",
      library, name, counterpart, best_ours, best_direct, goal);
}

const char* const kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 data, .param .u32 count) {
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [count]; st.global.u32 [%rd1], %r1; ret;
})";

using Handle = void*;

}  // namespace

int main() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  void* hip = open(std::getenv("ANYWARP_HIP_LIBRARY"));
  void* cuda = open("libcuda.so.1");
  void* runtime = open(std::getenv("CUDART"));

  auto h_launch = find<int (*)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, Handle, void**, void**)>(hip, "hipModuleLaunchKernel");
  auto h_up = find<int (*)(Handle, const void*, size_t, Handle)>(hip, "hipMemcpyHtoDAsync");
  auto h_down = find<int (*)(void*, Handle, size_t, Handle)>(hip, "hipMemcpyDtoHAsync");
  auto h_across = find<int (*)(Handle, Handle, size_t, Handle)>(hip, "hipMemcpyDtoDAsync");
  auto h_any = find<int (*)(void*, const void*, size_t, int, Handle)>(hip, "hipMemcpyAsync");
  auto h_fill = find<int (*)(Handle, unsigned char, size_t, Handle)>(hip, "hipMemsetD8Async");
  auto h_record = find<int (*)(Handle, Handle)>(hip, "hipEventRecord");
  auto h_wait = find<int (*)(Handle, Handle, unsigned)>(hip, "hipStreamWaitEvent");
  auto h_event = find<int (*)(Handle)>(hip, "hipEventQuery");
  auto h_stream = find<int (*)(Handle)>(hip, "hipStreamQuery");
  auto h_sync = find<int (*)(Handle)>(hip, "hipStreamSynchronize");
  auto h_device = find<int (*)(int*)>(hip, "hipGetDevice");
  auto h_last = find<int (*)()>(hip, "hipGetLastError");

  auto c_launch = find<int (*)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, Handle, void**, void**)>(cuda, "cuLaunchKernel");
  auto c_up = find<int (*)(uint64_t, const void*, size_t, Handle)>(cuda, "cuMemcpyHtoDAsync_v2");
  auto c_down = find<int (*)(void*, uint64_t, size_t, Handle)>(cuda, "cuMemcpyDtoHAsync_v2");
  auto c_across = find<int (*)(uint64_t, uint64_t, size_t, Handle)>(cuda, "cuMemcpyDtoDAsync_v2");
  auto c_any = find<int (*)(uint64_t, uint64_t, size_t, Handle)>(cuda, "cuMemcpyAsync");
  auto c_fill = find<int (*)(uint64_t, unsigned char, size_t, Handle)>(cuda, "cuMemsetD8Async");
  auto c_record = find<int (*)(Handle, Handle)>(cuda, "cuEventRecord");
  auto c_wait = find<int (*)(Handle, Handle, unsigned)>(cuda, "cuStreamWaitEvent");
  auto c_event = find<int (*)(Handle)>(cuda, "cuEventQuery");
  auto c_stream = find<int (*)(Handle)>(cuda, "cuStreamQuery");
  auto c_sync = find<int (*)(Handle)>(cuda, "cuStreamSynchronize");
  auto c_device = find<int (*)(int*)>(cuda, "cuCtxGetDevice");
  auto c_current = find<int (*)(Handle*)>(cuda, "cuCtxGetCurrent");

  good("cuInit", find<int (*)(unsigned)>(cuda, "cuInit")(0));
  Handle context, module, function, stream, event;
  good("cuDevicePrimaryCtxRetain",
       find<int (*)(Handle*, int)>(cuda, "cuDevicePrimaryCtxRetain")(&context, 0));
  good("cuCtxSetCurrent", find<int (*)(Handle)>(cuda, "cuCtxSetCurrent")(context));
  good("cuModuleLoadData",
       find<int (*)(Handle*, const void*)>(cuda, "cuModuleLoadData")(&module, kPtx));
  good("cuModuleGetFunction", find<int (*)(Handle*, Handle, const char*)>(
                                  cuda, "cuModuleGetFunction")(&function, module, "fill"));
  good("cuStreamCreate", find<int (*)(Handle*, unsigned)>(cuda, "cuStreamCreate")(&stream, 1));
  good("cuEventCreate", find<int (*)(Handle*, unsigned)>(cuda, "cuEventCreate")(&event, 2));
  uint64_t data = 0, other = 0;
  auto allocate = find<int (*)(uint64_t*, size_t)>(cuda, "cuMemAlloc_v2");
  good("cuMemAlloc", allocate(&data, 4096));
  good("cuMemAlloc", allocate(&other, 4096));
  void* host = nullptr;
  good("cuMemAllocHost", find<int (*)(void**, size_t)>(cuda, "cuMemAllocHost_v2")(&host, 4096));
  unsigned count = 5;
  void* parameters[] = {&data, &count};
  good("cuLaunchKernel", c_launch(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr));

  // What the driver hands over: one buffer of parameters and our own part.
  char arguments[96] = {};
  size_t size = sizeof arguments;
  void* extra[] = {reinterpret_cast<void*>(1), arguments, reinterpret_cast<void*>(2), &size,
                   reinterpret_cast<void*>(3)};
  Handle hd = reinterpret_cast<Handle>(data), ho = reinterpret_cast<Handle>(other),
         fake_stream = &count;
  int number = 0;
  Handle current;

  const double call = 60, getter = 15;
  compare(
      "libcuda", "cuLaunchKernel", "hipModuleLaunchKernel", call,
      [&] { return c_launch(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr); },
      [&] { return h_launch(fake_stream, 1, 1, 1, 32, 1, 1, 0, fake_stream, nullptr, extra); });
  compare(
      "libcuda", "cuMemcpyHtoDAsync", "hipMemcpyHtoDAsync", call,
      [&] { return c_up(data, host, 64, stream); },
      [&] { return h_up(hd, host, 64, fake_stream); });
  compare(
      "libcuda", "cuMemcpyDtoHAsync", "hipMemcpyDtoHAsync", call,
      [&] { return c_down(host, data, 64, stream); },
      [&] { return h_down(host, hd, 64, fake_stream); });
  compare(
      "libcuda", "cuMemcpyDtoDAsync", "hipMemcpyDtoDAsync", call,
      [&] { return c_across(data, other, 64, stream); },
      [&] { return h_across(hd, ho, 64, fake_stream); });
  compare(
      "libcuda", "cuMemcpyAsync", "hipMemcpyAsync", call,
      [&] { return c_any(data, other, 64, stream); },
      [&] { return h_any(hd, ho, 64, 4, fake_stream); });
  compare(
      "libcuda", "cuMemsetD8Async", "hipMemsetD8Async", call,
      [&] { return c_fill(data, 1, 64, stream); }, [&] { return h_fill(hd, 1, 64, fake_stream); });
  compare(
      "libcuda", "cuEventRecord", "hipEventRecord", call, [&] { return c_record(event, stream); },
      [&] { return h_record(fake_stream, fake_stream); });
  compare(
      "libcuda", "cuStreamWaitEvent", "hipStreamWaitEvent", call,
      [&] { return c_wait(stream, event, 0); },
      [&] { return h_wait(fake_stream, fake_stream, 0); });
  compare(
      "libcuda", "cuEventQuery", "hipEventQuery", getter, [&] { return c_event(event); },
      [&] { return h_event(fake_stream); });
  compare(
      "libcuda", "cuStreamQuery", "hipStreamQuery", getter, [&] { return c_stream(stream); },
      [&] { return h_stream(fake_stream); });
  compare(
      "libcuda", "cuStreamSynchronize", "hipStreamSynchronize", call,
      [&] { return c_sync(stream); }, [&] { return h_sync(fake_stream); });
  compare(
      "libcuda", "cuCtxGetDevice", "hipGetDevice", getter, [&] { return c_device(&number); },
      [&] { return h_device(&number); });
  compare(
      "libcuda", "cuCtxGetCurrent", "hipGetDevice", getter, [&] { return c_current(&current); },
      [&] { return h_device(&number); });

  struct Dim {
    unsigned x = 1, y = 1, z = 1;
  };
  auto r_launch =
      find<int (*)(const void*, Dim, Dim, void**, size_t, Handle)>(runtime, "cudaLaunchKernel");
  auto r_copy = find<int (*)(void*, const void*, size_t, int, Handle)>(runtime, "cudaMemcpyAsync");
  auto r_fill = find<int (*)(void*, int, size_t, Handle)>(runtime, "cudaMemsetAsync");
  auto r_record = find<int (*)(Handle, Handle)>(runtime, "cudaEventRecord");
  auto r_event = find<int (*)(Handle)>(runtime, "cudaEventQuery");
  auto r_stream = find<int (*)(Handle)>(runtime, "cudaStreamQuery");
  auto r_device = find<int (*)(int*)>(runtime, "cudaGetDevice");
  auto r_last = find<int (*)()>(runtime, "cudaGetLastError");
  Handle library, kernel;
  good("cudaLibraryLoadData",
       find<int (*)(Handle*, const void*, void*, void*, unsigned, void*, void*, unsigned)>(
           runtime, "cudaLibraryLoadData")(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr,
                                           0));
  good("cudaLibraryGetKernel", find<int (*)(Handle*, Handle, const char*)>(
                                   runtime, "cudaLibraryGetKernel")(&kernel, library, "fill"));
  Dim grid, block;
  block.x = 32;
  good("cudaLaunchKernel", r_launch(kernel, grid, block, parameters, 0, stream));
  compare(
      "libcudart", "cudaLaunchKernel", "hipModuleLaunchKernel", call,
      [&] { return r_launch(kernel, grid, block, parameters, 0, stream); },
      [&] { return h_launch(fake_stream, 1, 1, 1, 32, 1, 1, 0, fake_stream, nullptr, extra); });
  compare(
      "libcudart", "cudaMemcpyAsync", "hipMemcpyAsync", call,
      [&] { return r_copy(hd, ho, 64, 3, stream); },
      [&] { return h_any(hd, ho, 64, 3, fake_stream); });
  compare(
      "libcudart", "cudaMemsetAsync", "hipMemsetD8Async", call,
      [&] { return r_fill(hd, 1, 64, stream); }, [&] { return h_fill(hd, 1, 64, fake_stream); });
  compare(
      "libcudart", "cudaEventRecord", "hipEventRecord", call,
      [&] { return r_record(event, stream); }, [&] { return h_record(fake_stream, fake_stream); });
  compare(
      "libcudart", "cudaEventQuery", "hipEventQuery", getter, [&] { return r_event(event); },
      [&] { return h_event(fake_stream); });
  compare(
      "libcudart", "cudaStreamQuery", "hipStreamQuery", getter, [&] { return r_stream(stream); },
      [&] { return h_stream(fake_stream); });
  compare(
      "libcudart", "cudaGetDevice", "hipGetDevice", getter, [&] { return r_device(&number); },
      [&] { return h_device(&number); });
  compare(
      "libcudart", "cudaGetLastError", "hipGetLastError", getter, [&] { return r_last(); },
      [&] { return h_last(); });
  return 0;
}

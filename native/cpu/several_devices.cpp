// Driver API reference: what asks about, or works on, several devices at once.
#include <algorithm>
#include <set>

#include "cpu/launch.h"
#include "cpu/stream.h"
#include "cuda/contexts.h"
#include "cuda/driver.h"
#include "cuda/visible.h"

using namespace aw;

namespace {

constexpr unsigned kSigned = 1, kUnsigned = 2, kReduction = 4, k32 = 8, k64 = 16, k128 = 32;

// What generated code does with the processor's atomic instructions, whichever device's memory it
// is: there is one memory.
unsigned capability(int operation) {
  switch (operation) {
    case CU_ATOMIC_OPERATION_INTEGER_ADD:
      return kSigned | kUnsigned | kReduction | k32 | k64;
    case CU_ATOMIC_OPERATION_INTEGER_MIN:
    case CU_ATOMIC_OPERATION_INTEGER_MAX:
      return kSigned | kUnsigned | kReduction | k32 | k64;
    case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
    case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
      return kUnsigned | kReduction | k32;
    case CU_ATOMIC_OPERATION_AND:
    case CU_ATOMIC_OPERATION_OR:
    case CU_ATOMIC_OPERATION_XOR:
      return kUnsigned | kReduction | k32 | k64;
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS:
      return kUnsigned | k32 | k64 | k128;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
      return kSigned | kReduction | k32 | k64;
    default:  // floating-point min and max
      return 0;
  }
}

void write_capabilities(unsigned* out, const int* operations, unsigned count) {
  require(out && operations && count > 0);
  for (unsigned i = 0; i < count; ++i)
    require(operations[i] >= 0 && operations[i] < CU_ATOMIC_OPERATION_MAX);
  for (unsigned i = 0; i < count; ++i) out[i] = capability(operations[i]);
}

// CUDA_LAUNCH_PARAMS
struct LaunchParams {
  CUfunction function;
  unsigned grid[3], block[3];
  unsigned shared;
  CUstream stream;
  void** params;
};
static_assert(sizeof(LaunchParams) == 56);

enum : unsigned { kNoSyncBefore = 1, kNoSyncAfter = 2 };  // CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_*

// Each stream waits for what all the others were given.
void join(const std::vector<std::shared_ptr<Stream>>& streams) {
  std::vector<Point> ends;
  for (auto& stream : streams) ends.push_back(stream->last());
  for (size_t i = 0; i < streams.size(); ++i) {
    for (size_t k = 0; k < ends.size(); ++k) {
      if (k != i) streams[i]->submit(WaitWork{ends[k]});
    }
  }
}

std::vector<KernelWork> work_of_each(const LaunchParams* list, unsigned count,
                                     std::vector<std::shared_ptr<Stream>>& streams) {
  std::vector<KernelWork> out;
  std::set<int> devices;
  const LaunchParams& first = list[0];
  for (unsigned i = 0; i < count; ++i) {
    const LaunchParams& p = list[i];
    require(reinterpret_cast<uintptr_t>(p.stream) > kPerThreadStream);
    auto stream = aw::streams().find(p.stream);
    require(stream != nullptr, CUDA_ERROR_INVALID_HANDLE);
    stream->context->check();
    require(devices.insert(stream->context->device).second);
    // As documented: the same kernel with the same shape on every device.
    require(std::equal(p.grid, p.grid + 3, first.grid) &&
            std::equal(p.block, p.block + 3, first.block) && p.shared == first.shared);
    auto function = function_of(p.function);
    require(stream->context->shares_with(function->context.lock().get()),
            CUDA_ERROR_INVALID_HANDLE);
    LaunchRequest r = {{p.grid[0], p.grid[1], p.grid[2]},
                       {p.block[0], p.block[1], p.block[2]},
                       p.shared,
                       p.params,
                       nullptr,
                       true};
    out.push_back(plan_launch(function, r));
    streams.push_back(std::move(stream));
  }
  return out;
}

}  // namespace

AW_EXPORT CUresult cuDeviceGetHostAtomicCapabilities(unsigned* out, const int* operations,
                                                     unsigned count, CUdevice dev) {
  return api<"cuDeviceGetHostAtomicCapabilities">([&] {
    check_device(dev);
    write_capabilities(out, operations, count);
  });
}

AW_EXPORT CUresult cuDeviceGetP2PAtomicCapabilities(unsigned* out, const int* operations,
                                                    unsigned count, CUdevice from, CUdevice to) {
  return api<"cuDeviceGetP2PAtomicCapabilities">([&] {
    check_device(from), check_device(to);
    require(from != to, CUDA_ERROR_INVALID_DEVICE);
    write_capabilities(out, operations, count);
  });
}

AW_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(LaunchParams* list, unsigned count,
                                                        unsigned flags) {
  return api<"cuLaunchCooperativeKernelMultiDevice">([&] {
    require(list && count > 0 && (flags & ~(kNoSyncBefore | kNoSyncAfter)) == 0);
    require(count <= static_cast<unsigned>(visible_devices()));
    std::vector<std::shared_ptr<Stream>> streams;
    std::vector<KernelWork> work = work_of_each(list, count, streams);
    if (!(flags & kNoSyncBefore)) join(streams);
    for (unsigned i = 0; i < count; ++i) streams[i]->submit(std::move(work[i]));
    if (!(flags & kNoSyncAfter)) join(streams);
  });
}

// CUexecAffinityParam, of which there is one type: a number of multiprocessors.
struct AffinityParam {
  int type;
  unsigned multiprocessors;
};

AW_EXPORT CUresult cuCtxGetExecAffinity(AffinityParam* out, int type) {
  return api<"cuCtxGetExecAffinity">([&] {
    require(out && type == 0);
    auto context = current_context();
    *out = {type,
            context->multiprocessors ? context->multiprocessors : device_info().multiprocessors};
  });
}

AW_EXPORT CUresult cuFlushGPUDirectRDMAWrites(int target, int scope) {
  return api<"cuFlushGPUDirectRDMAWrites">([&] {
    require(target == 0 && (scope == 100 || scope == 200));
    current_context();
    // What other devices have written into memory, every thread of the processor sees.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

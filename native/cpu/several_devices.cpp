// Driver API reference: what asks about, or works on, several devices at once.
#include <algorithm>
#include <set>

#include "cpu/launch.h"
#include "cpu/stream.h"
#include "cuda/atomic_capabilities.h"
#include "cuda/contexts.h"
#include "cuda/driver.h"
#include "cuda/visible.h"

using namespace aw;

namespace {

// What generated code does with the processor's instructions, whichever device's memory it is:
// there is one memory.
constexpr unsigned kExchanges = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64 |
                                CU_ATOMIC_CAPABILITY_SCALAR_128;
constexpr unsigned kNoSyncBefore = CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC,
                   kNoSyncAfter = CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC;

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

std::vector<KernelWork> work_of_each(const CUDA_LAUNCH_PARAMS* list, unsigned count,
                                     std::vector<std::shared_ptr<Stream>>& streams) {
  std::vector<KernelWork> out;
  std::set<int> devices;
  const CUDA_LAUNCH_PARAMS& first = list[0];
  for (unsigned i = 0; i < count; ++i) {
    const CUDA_LAUNCH_PARAMS& p = list[i];
    require(reinterpret_cast<uintptr_t>(p.hStream) > kPerThreadStream);
    auto stream = aw::streams().find(p.hStream);
    require(stream != nullptr, CUDA_ERROR_INVALID_HANDLE);
    stream->context->check();
    require(devices.insert(stream->context->device).second);
    // As documented: the same kernel with the same shape on every device.
    LaunchRequest r = request_of(p), whole = request_of(first);
    require(std::equal(r.grid, r.grid + 3, whole.grid) &&
            std::equal(r.block, r.block + 3, whole.block) &&
            r.dynamic_shared == whole.dynamic_shared);
    auto function = function_of(p.function);
    require(stream->context->shares_with(function->context.lock().get()),
            CUDA_ERROR_INVALID_HANDLE);
    out.push_back(plan_launch(function, r));
    streams.push_back(std::move(stream));
  }
  return out;
}

}  // namespace

AW_EXPORT CUresult cuDeviceGetHostAtomicCapabilities(unsigned* out,
                                                     const CUatomicOperation* operations,
                                                     unsigned count, CUdevice dev) {
  return api<"cuDeviceGetHostAtomicCapabilities">([&] {
    check_device(dev);
    write_atomic_capabilities(out, operations, count, kExchanges);
  });
}

AW_EXPORT CUresult cuDeviceGetP2PAtomicCapabilities(unsigned* out,
                                                    const CUatomicOperation* operations,
                                                    unsigned count, CUdevice from, CUdevice to) {
  return api<"cuDeviceGetP2PAtomicCapabilities">([&] {
    check_device(from), check_device(to);
    require(from != to, CUDA_ERROR_INVALID_DEVICE);
    write_atomic_capabilities(out, operations, count, kExchanges);
  });
}

AW_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* list, unsigned count,
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

AW_EXPORT CUresult cuCtxGetExecAffinity(CUexecAffinityParam* out, CUexecAffinityType type) {
  return api<"cuCtxGetExecAffinity">([&] {
    require(out && type == CU_EXEC_AFFINITY_TYPE_SM_COUNT);
    auto context = current_context();
    out->type = type;
    out->param.smCount.val =
        context->multiprocessors ? context->multiprocessors : device_info().multiprocessors;
  });
}

AW_EXPORT CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                              CUflushGPUDirectRDMAWritesScope scope) {
  return api<"cuFlushGPUDirectRDMAWrites">([&] {
    require(target == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX &&
            (scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER ||
             scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES));
    current_context();
    // What other devices have written into memory, every thread of the processor sees.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

// Cooperative launches: all blocks at once, and 64 bytes of device memory for the barrier of the
// grid.
#include <array>

#include "cuda/memory.h"
#include "hip/devices.h"
#include "hip/forward.h"
#include "hip/launch.h"
#include "hip/services.h"

namespace aw {
namespace {

constexpr uint64_t kSlot = 64, kPassing = 2048, kLasting = 2048;

// Of one device. Slots of launches are used again in turn; those of graphs, which may run at any
// time, for good.
struct Workspaces {
  std::mutex mutex;
  uint8_t* base = nullptr;
  uint64_t next = 0, lasting = 0;
};

Workspaces& workspaces(CUdevice dev) {
  static auto& all = *new std::array<Workspaces, kMostDevices>;
  return all[static_cast<size_t>(dev)];
}

bool is_captured(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  if (hip.hipStreamIsCapturing) (void)hip.hipStreamIsCapturing(stream, &status);
  return status == hipStreamCaptureStatusActive;
}

uint8_t* take_slot(CUdevice dev, bool lasting) {
  Workspaces& w = workspaces(dev);
  std::lock_guard lock(w.mutex);
  if (!w.base) w.base = static_cast<uint8_t*>(allocate_bytes(kSlot * (kPassing + kLasting), dev));
  if (!lasting) return w.base + kSlot * (w.next++ % kPassing);
  require(w.lasting < kLasting, CUDA_ERROR_OUT_OF_MEMORY);
  return w.base + kSlot * (kPassing + w.lasting++);
}

}  // namespace

CUresult launch_cooperative(const Launchable& what, const LaunchRequest& r,
                            const std::array<uint32_t, 3>& group, Kernarg& arguments,
                            hipStream_t stream) {
  // HIP counts threads of a grid in 32 bits; a grid that is all resident never has so many.
  require(r.grid[0] <= most_blocks(group[0]), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  uint8_t* slot = take_slot(what.kernel->device, is_captured(stream));
  check(hip.hipMemsetAsync(slot, 0, kSlot, stream));
  arguments.hidden().grid_workspace = reinterpret_cast<uint64_t>(slot);
  void* params[] = {arguments.data()};  // the code object has one argument, which is all of it
  return to_cuda(AW_HIP(hipModuleLaunchCooperativeKernel)(
      what.kernel->function, r.grid[0], r.grid[1], r.grid[2], group[0], group[1], group[2],
      r.dynamic_shared, stream, params));
}

}  // namespace aw

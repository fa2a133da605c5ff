// Cooperative launches: all blocks at once, and 64 bytes of device memory for the barrier of the
// grid.
#include <array>

#include "cuda/memory.h"
#include "hip/capture.h"
#include "hip/devices.h"
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

uint8_t* take_slot(CUdevice dev, bool lasting) {
  Workspaces& w = workspaces(dev);
  std::lock_guard lock(w.mutex);
  if (!w.base) w.base = static_cast<uint8_t*>(allocate_bytes(kSlot * (kPassing + kLasting), dev));
  if (!lasting) return w.base + kSlot * (w.next++ % kPassing);
  require(w.lasting < kLasting, CUDA_ERROR_OUT_OF_MEMORY);
  return w.base + kSlot * (kPassing + w.lasting++);
}

// A node is not asked whether all its blocks fit: HIP looks at that when a kernel is launched.
void require_residency(const Launchable& what, const LaunchRequest& r,
                       const std::array<uint32_t, 3>& group) {
  int most = 0, units = 0, device = hip_device(what.kernel->device);
  check(AW_HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)(
      &most, what.kernel->function, static_cast<int>(group[0] * group[1] * group[2]),
      r.dynamic_shared));
  check(AW_HIP(hipDeviceGetAttribute)(&units, hipDeviceAttributeMultiprocessorCount, device));
  uint64_t blocks = uint64_t{r.grid[0]} * r.grid[1] * r.grid[2];
  require(blocks <= static_cast<uint64_t>(most) * static_cast<uint64_t>(units),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

}  // namespace

CUresult launch_cooperative(const Launchable& what, const LaunchRequest& r,
                            const std::array<uint32_t, 3>& group, Kernarg& arguments,
                            hipStream_t stream) {
  // HIP counts threads of a grid in 32 bits; a grid that is all resident never has so many.
  require(r.grid[0] <= most_blocks(group[0]), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  bool captured = is_captured(stream);
  if (captured) require_residency(what, r, group);
  uint8_t* slot = take_slot(what.kernel->device, captured);
  check(hip.hipMemsetAsync(slot, 0, kSlot, stream));
  arguments.hidden().grid_workspace = reinterpret_cast<uint64_t>(slot);
  void* params[] = {arguments.data()};  // the code object has one argument, which is all of it
  if (captured) {
    hipKernelNodeParams node{};
    node.func = what.kernel->function;
    node.gridDim = {r.grid[0], r.grid[1], r.grid[2]};
    node.blockDim = {group[0], group[1], group[2]};
    node.sharedMemBytes = r.dynamic_shared;
    node.kernelParams = params;
    remember_function(what.kernel->function, what.function);
    capture_cooperative(stream, node);
    return CUDA_SUCCESS;
  }
  return to_cuda(AW_HIP(hipModuleLaunchCooperativeKernel)(
      what.kernel->function, r.grid[0], r.grid[1], r.grid[2], group[0], group[1], group[2],
      r.dynamic_shared, stream, params));
}

}  // namespace aw

// Driver API reference: occupancy.
#include "hip/occupancy.h"

#include <algorithm>

#include "cuda/device_attributes.h"
#include "cuda/function_attributes.h"
#include "cuda/occupancy.h"
#include "hip/architecture.h"
#include "hip/forward.h"
#include "hip/launch.h"

namespace aw {
namespace {

constexpr uint32_t kMostGroups = 32;  // workgroups of more than one wave that a compute unit holds

uint32_t whole_granules(uint32_t value, uint32_t granule) {
  return (value + granule - 1) / granule * granule;
}

// Waves of a kernel that one SIMD holds, by its vector registers.
uint32_t waves_by_registers(const Architecture& a, const AmdLine& amd) {
  uint32_t taken = std::max(whole_granules(amd.vgprs, a.vgpr_granule), a.vgpr_granule);
  // From gfx90a on the accumulators are of the same file (LLVM AMDGPUUsage, VGPR counts).
  if (a.vgpr_per_lane == 512 && a.wave == 64)
    taken = whole_granules(whole_granules(amd.vgprs, 4) + amd.agprs, a.vgpr_granule);
  return std::min(a.vgpr_per_lane / std::max(taken, 1u), a.waves_per_simd);
}

}  // namespace

int registers_per_thread(const AmdLine& amd) {
  Architecture a = architecture_of(amd.architecture);
  uint32_t all = amd.vgprs + (a.wave == 64 && a.vgpr_per_lane == 512 ? amd.agprs : 0);
  uint32_t idle = amd.wave == 64 && amd.warps_per_wave == 1 ? 2 : 1;
  return static_cast<int>(std::max(whole_granules(all, a.vgpr_granule), 1u) * idle);
}

int resident_blocks(const HipDevice& d, const HipKernel& kernel, uint32_t threads,
                    uint64_t dynamic_shared) {
  Architecture a = architecture_of(d.architecture);
  uint32_t launched = hip_workgroup_threads(threads, kernel.amd.wave, kernel.amd.warps_per_wave);
  uint32_t waves = std::max((launched + kernel.amd.wave - 1) / kernel.amd.wave, 1u);
  uint32_t most_waves =
      std::min(waves_by_registers(a, kernel.amd) * a.simds, d.threads_per_unit / kernel.amd.wave);
  uint32_t blocks = std::min(most_waves / waves, kMostGroups);
  uint64_t shared = kernel.artifact.shared + dynamic_shared;
  if (shared > d.shared) return 0;
  uint64_t taken = (shared + a.shared_granule - 1) / a.shared_granule * a.shared_granule;
  return taken ? static_cast<int>(std::min<uint64_t>(blocks, a.shared_per_unit / taken))
               : static_cast<int>(blocks);
}

}  // namespace aw

using namespace aw;

namespace {

struct AskedKernel {
  std::shared_ptr<Function> function;
  std::shared_ptr<HipKernel> kernel;
  const HipDevice& device;
};

AskedKernel ask(CUfunction handle) {
  require_context();
  auto f = function_of(handle);
  return {f, any_code(*f), current_hip_device()};
}

}  // namespace

Residence aw::residence_of(CUfunction handle) {
  AskedKernel a = ask(handle);
  return {a.function, static_cast<int>(a.device.info.multiprocessors),
          [kernel = a.kernel, &device = a.device](uint64_t threads, uint64_t dynamic) {
            return resident_blocks(device, *kernel, static_cast<uint32_t>(threads), dynamic);
          }};
}

AW_EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle,
                                                           int blocks, int threads) {
  return api<"cuOccupancyAvailableDynamicSMemPerBlock">([&] {
    require(bytes && blocks > 0 && threads > 0 && threads <= kMaxThreadsPerBlock);
    AskedKernel a = ask(handle);
    Architecture architecture = architecture_of(a.device.architecture);
    require(blocks <= resident_blocks(a.device, *a.kernel, static_cast<uint32_t>(threads), 0));
    int64_t share = architecture.shared_per_unit / static_cast<unsigned>(blocks) /
                    architecture.shared_granule * architecture.shared_granule;
    share -= static_cast<int64_t>(a.kernel->artifact.shared);
    *bytes = static_cast<size_t>(std::clamp<int64_t>(share, 0, a.device.shared));
  });
}

AW_EXPORT CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle,
                                                const CUlaunchConfig* config) {
  return api<"cuOccupancyMaxActiveClusters">([&] {
    require(clusters && config);
    uint64_t threads = uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
    require(threads > 0 && threads <= kMaxThreadsPerBlock);
    AskedKernel a = ask(handle);
    *clusters = resident_blocks(a.device, *a.kernel, static_cast<uint32_t>(threads),
                                config->sharedMemBytes) *
                static_cast<int>(a.device.info.multiprocessors);
  });
}

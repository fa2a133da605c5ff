// Driver API reference: occupancy.
#include "cuda/occupancy.h"

#include <algorithm>

#include "cpu/launch.h"
#include "cuda/context.h"
#include "cuda/device_attributes.h"
#include "cuda/driver.h"
#include "cuda/function_attributes.h"

using namespace aw;

namespace {

uint64_t static_shared(Function& f) {
  return static_cast<uint64_t>(read_attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
}

}  // namespace

Residence aw::residence_of(CUfunction handle) {
  current_context();
  auto f = function_of(handle);
  uint64_t fixed = static_shared(*f);
  return {f, static_cast<int>(device_info().multiprocessors),
          [fixed](uint64_t threads, uint64_t dynamic) {
            return resident_blocks(threads, fixed + dynamic);
          }};
}

AW_EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle,
                                                           int blocks, int threads) {
  return api<"cuOccupancyAvailableDynamicSMemPerBlock">([&] {
    require(bytes && blocks > 0 && threads > 0 && threads <= kMaxThreadsPerBlock);
    current_context();
    auto f = function_of(handle);
    require(blocks <= resident_blocks(static_cast<uint64_t>(threads), 0));
    int64_t share =
        kMaxSharedPerProcessor / blocks - kReservedShared - static_cast<int64_t>(static_shared(*f));
    // No launch gets more than the function has been allowed (cuFuncSetAttribute).
    int most = read_attribute(*f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    *bytes = static_cast<size_t>(std::clamp<int64_t>(share, 0, most));
  });
}

AW_EXPORT CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle,
                                                const CUlaunchConfig* config) {
  return api<"cuOccupancyMaxActiveClusters">([&] {
    require(clusters && config);
    current_context();
    auto f = function_of(handle);
    uint64_t threads = uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
    require(threads > 0 && threads <= kMaxThreadsPerBlock);
    *clusters = resident_blocks(threads, static_shared(*f) + config->sharedMemBytes) *
                static_cast<int>(device_info().multiprocessors);
  });
}

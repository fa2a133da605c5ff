// Driver API reference: occupancy.
#include <algorithm>

#include "cuda/context.h"
#include "cuda/device_attributes.h"
#include "cuda/function_attributes.h"
#include "cuda/launch.h"
#include "devices/device.h"

using namespace aw;

namespace {

uint64_t static_shared(Function& f) {
  return static_cast<uint64_t>(read_attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
}

CUresult active_blocks(int* blocks, CUfunction handle, int threads, size_t dynamic_shared,
                       unsigned flags) {
  require(blocks && threads > 0 && flags <= 1);
  current_context();
  auto f = function_of(handle);
  *blocks = 0;
  bool possible = threads <= read_attribute(*f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (possible)
    *blocks = resident_blocks(static_cast<uint64_t>(threads), static_shared(*f) + dynamic_shared);
  return CUDA_SUCCESS;
}

// The block size at which most threads are resident; the largest of those.
CUresult best_block(int* grid, int* block, CUfunction handle, CUoccupancyB2DSize shared_of,
                    size_t shared, int limit, unsigned flags) {
  require(grid && block && limit >= 0 && flags <= 1);
  current_context();
  auto f = function_of(handle);
  int most = read_attribute(*f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (limit > 0) most = std::min(most, limit);
  int best = 0;
  for (int size = most; size > 0; size = (size - 1) / 32 * 32) {
    size_t dynamic = shared_of ? shared_of(size) : shared;
    int threads = resident_blocks(static_cast<uint64_t>(size), static_shared(*f) + dynamic) * size;
    if (threads <= best) continue;
    best = threads;
    *block = size;
    *grid = threads / size * static_cast<int>(device().info().multiprocessors);
  }
  require(best > 0);
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction f,
                                                               int threads, size_t shared) {
  return api<"cuOccupancyMaxActiveBlocksPerMultiprocessor">(
      [&] { return active_blocks(blocks, f, threads, shared, 0); });
}

AW_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction f,
                                                                        int threads, size_t shared,
                                                                        unsigned flags) {
  return api<"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags">(
      [&] { return active_blocks(blocks, f, threads, shared, flags); });
}

AW_EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction f,
                                                    CUoccupancyB2DSize shared_of, size_t shared,
                                                    int limit) {
  return api<"cuOccupancyMaxPotentialBlockSize">(
      [&] { return best_block(grid, block, f, shared_of, shared, limit, 0); });
}

AW_EXPORT CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction f,
                                                             CUoccupancyB2DSize shared_of,
                                                             size_t shared, int limit,
                                                             unsigned flags) {
  return api<"cuOccupancyMaxPotentialBlockSizeWithFlags">(
      [&] { return best_block(grid, block, f, shared_of, shared, limit, flags); });
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
    *bytes = static_cast<size_t>(std::clamp<int64_t>(share, 0, kMaxSharedOptIn));
  });
}

// Clusters came with compute capability 9.0; a grid of this device is clusters of one block.
AW_EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle,
                                                      const CUlaunchConfig* config) {
  return api<"cuOccupancyMaxPotentialClusterSize">([&] {
    require(size && config);
    function_of(handle);
    *size = 1;
  });
}

AW_EXPORT CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle,
                                                const CUlaunchConfig* config) {
  return api<"cuOccupancyMaxActiveClusters">([&] {
    require(clusters && config);
    current_context();
    auto f = function_of(handle);
    uint64_t threads = uint64_t{config->block[0]} * config->block[1] * config->block[2];
    require(threads > 0 && threads <= kMaxThreadsPerBlock);
    *clusters = resident_blocks(threads, static_shared(*f) + config->shared_bytes) *
                static_cast<int>(device().info().multiprocessors);
  });
}

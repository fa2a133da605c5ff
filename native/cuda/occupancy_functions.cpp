// Driver API reference: occupancy, as far as it is the same on every device of ours.
#include <algorithm>

#include "cuda/api.h"
#include "cuda/function_attributes.h"
#include "cuda/occupancy.h"

using namespace aw;

namespace {

CUresult active_blocks(int* blocks, CUfunction handle, int threads, size_t dynamic_shared,
                       unsigned flags) {
  require(blocks && threads > 0 && flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE);
  Residence r = residence_of(handle);
  bool possible = threads <= read_attribute(*r.function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  *blocks = possible ? r.blocks(static_cast<uint64_t>(threads), dynamic_shared) : 0;
  return CUDA_SUCCESS;
}

// The block size at which most threads are resident; the largest of those.
CUresult best_block(int* grid, int* block, CUfunction handle, CUoccupancyB2DSize shared_of,
                    size_t shared, int limit, unsigned flags) {
  require(grid && block && limit >= 0 && flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE);
  Residence r = residence_of(handle);
  int most = read_attribute(*r.function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  if (limit > 0) most = std::min(most, limit);
  int best = 0;
  for (int size = most; size > 0; size = (size - 1) / 32 * 32) {
    size_t dynamic = shared_of ? shared_of(size) : shared;
    int resident = r.blocks(static_cast<uint64_t>(size), dynamic);
    if (resident * size <= best) continue;
    best = resident * size;
    *block = size;
    *grid = resident * r.multiprocessors;
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

// Clusters came with compute capability 9.0; a grid of this device is clusters of one block.
AW_EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle,
                                                      const CUlaunchConfig* config) {
  return api<"cuOccupancyMaxPotentialClusterSize">([&] {
    require(size && config);
    function_of(handle);
    *size = 1;
  });
}

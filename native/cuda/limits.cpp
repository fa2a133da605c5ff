#include "cuda/limits.h"

namespace aw {
namespace {

// With the values that NVIDIA's driver begins with.
struct Limit {
  CUlimit number;
  size_t initial;
  bool supported;
};

constexpr Limit kLimits[] = {
    {CU_LIMIT_STACK_SIZE, 1024, true},
    {CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20, true},
    {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20, true},
    {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2, false},  // no dynamic parallelism
    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048, false},
    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64, true},
    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0, true},
    {CU_LIMIT_SHMEM_SIZE, 49152, false},  // of contexts shared with graphics
    {CU_LIMIT_CIG_ENABLED, 0, false},
    {CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED, 0, false},
};

const Limit& find(CUlimit number) {
  for (auto& limit : kLimits) {
    if (limit.number != number) continue;
    require(limit.supported, CUDA_ERROR_UNSUPPORTED_LIMIT);
    return limit;
  }
  throw Failure(CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

size_t read_limit(const Context& context, CUlimit number) {
  const Limit& limit = find(number);
  auto set = context.limits.find(number);
  return set == context.limits.end() ? limit.initial : set->second;
}

void write_limit(Context& context, CUlimit number, size_t value) {
  find(number);
  // Our device memory grows as needed, so a limit is remembered and never gets in the way.
  if (number == CU_LIMIT_MAX_L2_FETCH_GRANULARITY) require(value <= 128);
  context.limits[number] = value;
}

}  // namespace aw

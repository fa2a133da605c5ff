#include "cuda/limits.h"

namespace aw {
namespace {

// CUlimit, with the values that NVIDIA's driver begins with.
struct Limit {
  int number;
  size_t initial;
  bool supported;
};

constexpr Limit kLimits[] = {
    {0, 1024, true},     // stack size
    {1, 1 << 20, true},  // printf FIFO
    {2, 8 << 20, true},  // malloc heap
    {3, 2, false},       // nesting depth of device-side synchronisation: no dynamic parallelism
    {4, 2048, false},    // pending device-side launches
    {5, 64, true},       // L2 fetch granularity
    {6, 0, true},        // persisting L2 cache
    {7, 49152, false},   // shared memory size of graphics interop contexts
    {8, 0, false},      {9, 0, false},
};

const Limit& find(int number) {
  for (auto& limit : kLimits) {
    if (limit.number != number) continue;
    require(limit.supported, CUDA_ERROR_UNSUPPORTED_LIMIT);
    return limit;
  }
  throw Failure(CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

size_t read_limit(const Context& context, int number) {
  const Limit& limit = find(number);
  auto set = context.limits.find(number);
  return set == context.limits.end() ? limit.initial : set->second;
}

void write_limit(Context& context, int number, size_t value) {
  find(number);
  // Our device memory grows as needed, so a limit is remembered and never gets in the way.
  if (number == 5) require(value <= 128);
  context.limits[number] = value;
}

}  // namespace aw

#include "memory_pools.h"

#include <atomic>

namespace awt {

PoolId new_pool_id(bool by_hand) {
  static std::atomic<unsigned long long> hands{1}, graphs{1};
  return by_hand ? PoolId{0, hands++} : PoolId{graphs++, 0};
}

void begin_allocate_to_pool(c10::DeviceIndex device, PoolId pool,
                            std::function<bool(c10::Stream)> wanted) {
  device_memory(device).begin_allocate_to_pool(pool, std::move(wanted));
}

void end_allocate_to_pool(c10::DeviceIndex device, PoolId pool) {
  device_memory(device).end_allocate_to_pool(pool);
}

void release_pool(c10::DeviceIndex device, PoolId pool) {
  device_memory(device).release_pool(pool);
}

void mark_capture(c10::DeviceIndex device, bool begins) {
  device_memory(device).mark_capture(begins);
}

}  // namespace awt

// Numbers of memory pools, and the pools that torch.cuda.MemPool makes.
#pragma once

#include <c10/core/Device.h>

#include <functional>

#include "device_memory.h"

namespace awt {

// A number that no pool had before: (0, n) for one made by hand or by graph_pool_handle(), (n, 0)
// for a graph's own.
PoolId new_pool_id(bool by_hand);

// The memory of `device` that graphs and pools allocate in: see DeviceMemory. Kept here so that
// others need not know the class.
void begin_allocate_to_pool(c10::DeviceIndex device, PoolId pool,
                            std::function<bool(c10::Stream)> wanted);
void end_allocate_to_pool(c10::DeviceIndex device, PoolId pool);
void release_pool(c10::DeviceIndex device, PoolId pool);

// While a graph is captured, no event is recorded and no memory given back.
void mark_capture(c10::DeviceIndex device, bool begins);

}  // namespace awt

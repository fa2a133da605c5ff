// How many blocks of a kernel are resident at once: the driver of a device says, all else is
// shared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "cuda/module.h"

namespace aw {

struct Residence {
  std::shared_ptr<Function> function;
  int multiprocessors = 1;
  // Of blocks with this many threads and bytes of dynamic shared memory, on one multiprocessor.
  std::function<int(uint64_t threads, uint64_t dynamic_shared)> blocks;
};

// Of a kernel on the current context's device; throws without a context.
Residence residence_of(CUfunction handle);

}  // namespace aw

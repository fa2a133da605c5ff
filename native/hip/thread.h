// What every call of a thread needs at once: its context, whose device HIP works on for it, and
// which stream null names.
#pragma once

#include <cstdint>

namespace aw {

struct Context;

struct ThreadState {
  Context* context = nullptr;             // the current one; contexts.cpp keeps it alive
  uint64_t next_grid = 0, grids_end = 0;  // numbers of launches that the thread has to give
  void* lately = nullptr;                 // what the thread launched before (launch.cpp)
  bool per_thread = false;                // the null stream is the per-thread default stream
  bool inside_callback = false;
};

// In the library's static part, so that reaching it takes one instruction.
extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

}  // namespace aw

// What every call of a thread needs at once: its context, and which stream null names.
#pragma once

#include <memory>
#include <vector>

namespace aw {

struct Context;

struct ThreadState {
  Context* context = nullptr;                              // the current one: the last of the stack
  std::vector<std::shared_ptr<Context>>* stack = nullptr;  // of contexts.cpp
  bool per_thread = false;       // the null stream is the per-thread default stream
  bool inside_callback = false;  // of a stream, from which CUDA must not be called
};

// In the library's static part, which is small, so that reaching it takes one instruction.
extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// While one exists on this thread, the null stream is the per-thread default stream (functions
// ending in _ptsz, _ptds).
class PerThreadDefault {
 public:
  PerThreadDefault() : before_(thread_state.per_thread) { thread_state.per_thread = true; }
  ~PerThreadDefault() { thread_state.per_thread = before_; }
  PerThreadDefault(const PerThreadDefault&) = delete;
  PerThreadDefault& operator=(const PerThreadDefault&) = delete;

 private:
  bool before_;
};

}  // namespace aw

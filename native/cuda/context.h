// Contexts: what a program's streams, modules and memory belong to, and where errors of kernels
// stick.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "core/handles.h"
#include "cuda/api.h"
#include "cuda/driver.h"

namespace aw {

struct Context : std::enable_shared_from_this<Context> {
  Context() = default;
  ~Context();
  uintptr_t handle = 0;
  uint64_t id = 0;
  int device = 0;
  bool primary = false;
  unsigned multiprocessors = 0;  // of a green context: its share of the device; else 0
  uintptr_t green = 0;           // the handle of the green context that this one is, or 0
  std::atomic<unsigned> flags{0};
  unsigned version = 0;
  std::atomic<unsigned> attached{1};  // cuCtxAttach counts up, cuCtxDetach down
  std::atomic<int> error{0};  // of a kernel: returned by every call until the context is gone
  std::atomic<bool> destroyed{false};
  std::mutex submission;  // orders work between the default stream and the others
  std::shared_ptr<Stream> legacy;
  std::mutex mutex;
  std::vector<std::weak_ptr<Stream>> streams;  // all but the legacy one
  std::map<int, size_t> limits;
  int cache_config = 0;
  std::set<uint64_t> peers;  // ids of contexts whose memory this one may reach

  // True when modules and events of the other may be used in streams of this one: green contexts
  // stand for the primary context (cuCtxFromGreenCtx).
  bool shares_with(const Context* other) const {
    if (other == this) return true;
    return other && other->device == device && (primary || green) &&
           (other->primary || other->green);
  }

  // Defined by drivers, as the destructor is.
  void fail(int code, const std::string& text);
  void wait_for_streams();  // until all work of the context is done
  // Throws the error that sticks to the context, if any.
  void check() const {
    if (destroyed) throw Failure(CUDA_ERROR_CONTEXT_IS_DESTROYED);
    if (int code = error.load(std::memory_order_relaxed)) throw Failure(code);
  }
};

// The context that is current on this thread; throws INVALID_CONTEXT without one, and the error
// that sticks to it.
const std::shared_ptr<Context>& current_context();

// The same, without looking at errors; null when there is none. thread.h has it for the moment.
std::shared_ptr<Context> peek_context();

std::shared_ptr<Context> context_of(CUcontext handle);  // throws INVALID_CONTEXT

}  // namespace aw

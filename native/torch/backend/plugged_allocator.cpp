#include "plugged_allocator.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "memory_map.h"
#include "streams.h"

namespace awt {
namespace {

struct GivenBlock {
  size_t bytes;
  c10::Stream stream;
};

// What was given out goes back to the functions that gave it.
struct PluggedState {
  std::shared_ptr<const Plugin> plugin;
  std::mutex mutex;
  std::unordered_map<void*, GivenBlock> given;
};
std::atomic<PluggedState*> plugged_state{nullptr};

}  // namespace

bool plugged() noexcept { return plugged_state.load(std::memory_order_acquire) != nullptr; }

void plug_in(std::shared_ptr<const Plugin> plugin) {
  auto* made = new PluggedState;
  made->plugin = std::move(plugin);
  PluggedState* none = nullptr;
  if (plugged_state.compare_exchange_strong(none, made)) return;
  delete made;
  TORCH_CHECK(false, "Can't swap an already initialized allocator");
}

void* allocate_plugged(size_t bytes, c10::Stream stream) {
  PluggedState& s = *plugged_state.load();
  const c10::DeviceIndex device = stream.device_index();
  void* memory = s.plugin->allocate(bytes, device, native_stream(stream));
  if (!memory) return nullptr;
  std::lock_guard lock(s.mutex);
  s.given.insert_or_assign(memory, GivenBlock{bytes, stream});
  enter_memory(memory, bytes, device);
  return memory;
}

bool free_plugged(void* memory) {
  PluggedState* s = plugged_state.load(std::memory_order_acquire);
  if (!s) return false;
  std::unique_lock lock(s->mutex);
  auto found = s->given.find(memory);
  if (found == s->given.end()) return false;
  const GivenBlock given = found->second;
  s->given.erase(found);
  remove_memory(memory, given.bytes);
  lock.unlock();
  s->plugin->free(memory, given.bytes, given.stream.device_index(), native_stream(given.stream));
  return true;
}

void raise_unsupported_by_plugin(const char* function) {
  TORCH_CHECK(false, "CUDAPluggableAllocator does not yet support ", function,
              ". If you need it, please file an issue describing your use case.");
}

}  // namespace awt

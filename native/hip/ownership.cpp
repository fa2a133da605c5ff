#include "hip/ownership.h"

#include <mutex>
#include <unordered_map>

#include "hip/runtime.h"

namespace aw {
namespace {

struct Owner {
  uint64_t context;
  Owned kind;
};

struct Table {
  std::mutex mutex;
  std::unordered_map<void*, Owner> memory;
};
Table& table() {
  static auto& instance = *new Table;
  return instance;
}

}  // namespace

void own(const Context& context, void* memory, Owned kind) {
  std::lock_guard lock(table().mutex);
  table().memory[memory] = {context.id, kind};
}

void disown(void* memory) {
  std::lock_guard lock(table().mutex);
  table().memory.erase(memory);
}

void free_memory_of_context(uint64_t context_id) {
  std::lock_guard lock(table().mutex);
  for (auto it = table().memory.begin(); it != table().memory.end();) {
    bool ends = it->second.context == context_id;
    if (ends)
      (void)(it->second.kind == Owned::host ? hip.hipHostFree(it->first) : hip.hipFree(it->first));
    it = ends ? table().memory.erase(it) : std::next(it);
  }
}

}  // namespace aw

#include "memory_map.h"

#include <c10/util/Exception.h>
#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "allocator.h"

namespace awt {
namespace {

// 48 bits of address in user space; no kernel gives more unless a program asks for it.
constexpr size_t kGranules = (size_t{1} << 48) / kGranule;
constexpr uint8_t kNobody = 0, kShared = 255;

// Untouched pages of the table cost nothing.
uint8_t* table() {
  static uint8_t* const made = [] {
    void* memory = mmap(nullptr, kGranules, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(memory != MAP_FAILED, "no address space for the table of device memory");
    madvise(memory, kGranules, MADV_NOHUGEPAGE);
    return static_cast<uint8_t*>(memory);
  }();
  return made;
}

struct Range {
  uintptr_t end;
  c10::DeviceIndex device;
};

// Memory that shares its first or last granule with memory of others.
std::mutex partial_mutex;
std::map<uintptr_t, Range>& partial() {
  static auto& instance = *new std::map<uintptr_t, Range>;
  return instance;
}

void mark(uintptr_t begin, uintptr_t end, uint8_t value) {
  uint8_t* all = table();
  for (uintptr_t at = begin / kGranule; at < end / kGranule; ++at)
    __atomic_store_n(&all[at], value, __ATOMIC_RELAXED);
}

}  // namespace

void enter_memory(const void* address, size_t bytes, c10::DeviceIndex device) {
  const auto begin = reinterpret_cast<uintptr_t>(address), end = begin + bytes;
  TORCH_INTERNAL_ASSERT(end >= begin && end / kGranule < kGranules);
  if (begin % kGranule == 0 && end % kGranule == 0)
    return mark(begin, end, static_cast<uint8_t>(device + 1));
  std::lock_guard lock(partial_mutex);
  partial()[begin] = {end, device};
  mark(begin / kGranule * kGranule, (end + kGranule - 1) / kGranule * kGranule, kShared);
}

void remove_memory(const void* address, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(address), end = begin + bytes;
  if (begin % kGranule == 0 && end % kGranule == 0) return mark(begin, end, kNobody);
  // Granules stay marked as shared: others may still lie in them, and the list decides.
  std::lock_guard lock(partial_mutex);
  partial().erase(begin);
}

c10::DeviceIndex device_of(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (at / kGranule >= kGranules) return -1;
  const uint8_t found = __atomic_load_n(&table()[at / kGranule], __ATOMIC_RELAXED);
  if (found != kShared) return static_cast<c10::DeviceIndex>(found - 1);
  std::lock_guard lock(partial_mutex);
  auto next = partial().upper_bound(at);
  if (next == partial().begin()) return -1;
  --next;
  return at < next->second.end ? next->second.device : -1;
}

}  // namespace awt

#include "devices/texture_table.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace aw {
namespace {

// A handle: mark, generation of its slot, number of its slot, six zeros. Slots lie in pages that
// are never given back, so that looking one up needs no lock.
constexpr uint64_t kMark = 0x54ull << 56;  // no address that a processor has
constexpr unsigned kSlotBits = 22, kPageBits = 8, kLow = 6;
constexpr uint64_t kMostSlots = 1ull << kSlotBits, kPage = 1ull << kPageBits;

struct Slot {
  std::atomic<uint64_t> handle{0};
  uint64_t generation = 0;
  TextureView view;
};

struct SlotTable {
  std::atomic<Slot*> pages[kMostSlots / kPage];
  std::mutex mutex;
  std::vector<uint64_t> free;
  uint64_t used = 0;
};

SlotTable& slot_table() {
  static SlotTable& instance = *new SlotTable{};
  return instance;
}

uint64_t slot_number(uint64_t handle) { return handle >> kLow & (kMostSlots - 1); }

Slot* slot_at(uint64_t number) {
  Slot* page = slot_table().pages[number >> kPageBits].load(std::memory_order_acquire);
  return page ? page + (number & (kPage - 1)) : nullptr;
}

struct References {
  std::shared_mutex mutex;
  std::unordered_map<uint64_t, Reference> kinds;
};

References& references() {
  static References& instance = *new References;
  return instance;
}

}  // namespace

uint64_t add_texture_view(const TextureView& view) {
  SlotTable& t = slot_table();
  std::lock_guard lock(t.mutex);
  uint64_t number = t.used;
  if (!t.free.empty()) {
    number = t.free.back();
    t.free.pop_back();
  } else if (t.used == kMostSlots) {
    return 0;
  } else {
    ++t.used;
  }
  auto& page = t.pages[number >> kPageBits];
  if (!page.load(std::memory_order_relaxed)) page.store(new Slot[kPage], std::memory_order_release);
  Slot& slot = *slot_at(number);
  slot.view = view;
  uint64_t generation = ++slot.generation & 0xfffffff;
  uint64_t handle = kMark | generation << (kSlotBits + kLow) | number << kLow;
  slot.handle.store(handle, std::memory_order_release);
  return handle;
}

void remove_texture_view(uint64_t handle) {
  SlotTable& t = slot_table();
  std::lock_guard lock(t.mutex);
  Slot* slot = slot_at(slot_number(handle));
  if (!handle || !slot || slot->handle.load(std::memory_order_relaxed) != handle) return;
  slot->handle.store(0, std::memory_order_release);
  t.free.push_back(slot_number(handle));
}

const TextureView* find_texture_view(uint64_t handle) {
  Slot* slot = handle ? slot_at(slot_number(handle)) : nullptr;
  bool live = slot && slot->handle.load(std::memory_order_acquire) == handle;
  return live ? &slot->view : nullptr;
}

void add_reference(uint64_t address, Reference kind) {
  std::unique_lock lock(references().mutex);
  references().kinds[address] = kind;
}

void remove_reference(uint64_t address) {
  std::unique_lock lock(references().mutex);
  references().kinds.erase(address);
}

int find_reference(uint64_t address) {
  std::shared_lock lock(references().mutex);
  auto it = references().kinds.find(address);
  return it == references().kinds.end() ? 0 : static_cast<int>(it->second);
}

}  // namespace aw

// Handles that programs hold: numbers that are never reused and never followed, so that a wrong one
// is an error code.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace aw {

// Returns a number that no handle of any kind had before. Looks like an address, because programs
// test handles for null.
inline uintptr_t new_handle() {
  static std::atomic<uintptr_t>& next = *new std::atomic<uintptr_t>(0x4157'0000'0040);
  return next.fetch_add(64, std::memory_order_relaxed);
}

// CUDA's handles are pointers, or integers under several names.
template <class H>
H as_handle(uintptr_t value) {
  if constexpr (std::is_pointer_v<H>)
    return reinterpret_cast<H>(value);
  else
    return value;
}
template <class H>
uintptr_t as_number(H handle) {
  if constexpr (std::is_pointer_v<H>)
    return reinterpret_cast<uintptr_t>(handle);
  else
    return handle;
}

// The live objects of one kind by handle. Thread-safe.
template <class T>
class Handles {
 public:
  uintptr_t add(std::shared_ptr<T> object) {
    uintptr_t handle = new_handle();
    insert(handle, std::move(object));
    return handle;
  }
  void insert(uintptr_t handle, std::shared_ptr<T> object) {
    std::unique_lock lock(mutex_);
    live_[handle] = std::move(object);
  }

  // Null for what is no live handle of this kind.
  template <class H>
  std::shared_ptr<T> find(H handle) const {
    std::shared_lock lock(mutex_);
    auto it = live_.find(as_number(handle));
    return it == live_.end() ? nullptr : it->second;
  }
  template <class H>
  std::shared_ptr<T> remove(H handle) {
    std::unique_lock lock(mutex_);
    auto it = live_.find(as_number(handle));
    if (it == live_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(it->second);
    live_.erase(it);
    removals_.fetch_add(1, std::memory_order_release);
    return object;
  }

  std::vector<std::shared_ptr<T>> all() const {
    std::vector<std::shared_ptr<T>> out;
    std::shared_lock lock(mutex_);
    for (auto& [handle, object] : live_) out.push_back(object);
    return out;
  }

  // Removes every object that `condition` holds for, and returns them.
  template <class C>
  std::vector<std::shared_ptr<T>> remove_if(C condition) {
    std::vector<std::shared_ptr<T>> out;
    std::unique_lock lock(mutex_);
    for (auto it = live_.begin(); it != live_.end();) {
      if (condition(*it->second)) {
        out.push_back(std::move(it->second));
        it = live_.erase(it);
        removals_.fetch_add(1, std::memory_order_release);
      } else {
        ++it;
      }
    }
    return out;
  }

  // Grows whenever a handle ends: who remembers what handles stood for looks again then.
  uint64_t removals() const { return removals_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> removals_{0};
  mutable std::shared_mutex mutex_;
  std::unordered_map<uintptr_t, std::shared_ptr<T>> live_;
};

}  // namespace aw

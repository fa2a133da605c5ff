#include "cuda/visible.h"

#include <mutex>
#include <vector>

namespace aw {
namespace {

std::vector<int>& chosen() {
  static auto& instance = *new std::vector<int>;
  return instance;
}

}  // namespace

void choose_visible_devices() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!chosen().empty()) return;
  auto found = find_visible_devices();
  require(!found.empty(), CUDA_ERROR_NO_DEVICE);
  chosen() = std::move(found);
}

int visible_devices() { return static_cast<int>(chosen().size()); }

void check_device(CUdevice dev) {
  require(dev >= 0 && dev < visible_devices(), CUDA_ERROR_INVALID_DEVICE);
}

int machine_number(CUdevice dev) {
  check_device(dev);
  return chosen()[static_cast<size_t>(dev)];
}

}  // namespace aw

// Texture and surface objects over HIP: descriptors in device memory, which kernels read; a handle
// is a descriptor's address.
#include "devices/texture_table.h"

#include <map>
#include <mutex>

#include "core/hip_texture.h"
#include "cuda/memory.h"
#include "cuda/texture_references.h"
#include "cuda/visible.h"
#include "hip/runtime.h"
#include "hip/services.h"

namespace aw {
namespace {

// Which device each descriptor lies on.
struct Placed {
  std::mutex mutex;
  std::map<uint64_t, int> devices;
};
Placed& placed() {
  static auto& instance = *new Placed;
  return instance;
}

}  // namespace

uint64_t add_texture_view(const TextureView& view) {
  int device = current_device();
  HipTexture object = {kHipTextureMark, 0, view};
  void* memory = allocate_bytes(sizeof object, device);  // HIP aligns to 256 bytes
  try {
    write_bytes(memory, &object, sizeof object, device);
  } catch (const Failure&) {
    release_bytes(memory, sizeof object, device);
    throw;
  }
  auto handle = reinterpret_cast<uint64_t>(memory);
  std::lock_guard lock(placed().mutex);
  placed().devices[handle] = device;
  return handle;
}

// HIP frees behind the work of the device, so that kernels under way keep what they read; later
// ones find no mark.
void remove_texture_view(uint64_t handle) {
  int device;
  {
    std::lock_guard lock(placed().mutex);
    auto it = placed().devices.find(handle);
    if (it == placed().devices.end()) return;
    device = it->second;
    placed().devices.erase(it);
  }
  uint64_t none = 0;
  try {
    write_bytes_in_order(reinterpret_cast<void*>(handle), &none, sizeof none, device);
  } catch (const Failure&) {  // the device is gone, and its memory with it
  }
  release_bytes(reinterpret_cast<void*>(handle), sizeof(HipTexture), device);
}

// Kernels find what the variables of a module stand for in its data.
void add_reference(uint64_t, Reference) {}
void remove_reference(uint64_t) {}
int find_reference(uint64_t) { return 0; }

void write_reference(uint64_t cell, uint64_t handle) {
  write_bytes_in_order(reinterpret_cast<void*>(cell), &handle, sizeof handle, current_device());
}

}  // namespace aw

// Texture and surface objects over HIP: descriptors in device memory, which kernels read; a handle
// is a descriptor's address.
#include "devices/texture_table.h"

#include "cuda/texture_references.h"
#include "hip/runtime.h"

namespace aw {

uint64_t add_texture_view(const TextureView&) {
  throw Failure(CUDA_ERROR_NOT_SUPPORTED, "textures are not supported on AMD devices yet");
}
void remove_texture_view(uint64_t) {}

void add_reference(uint64_t, Reference) {}
void remove_reference(uint64_t) {}
int find_reference(uint64_t) { return 0; }

// The variable lies in the module's data, in device memory.
void write_reference(uint64_t cell, uint64_t handle) {
  check(hip.hipMemcpyHtoD(reinterpret_cast<void*>(cell), &handle, sizeof handle));
}

}  // namespace aw

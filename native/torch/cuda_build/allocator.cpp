// Device memory of a CUDA build of torch: its own caching allocator (c10/cuda), over our driver.
#include "allocator.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace awt {

namespace Own = c10::cuda::CUDACachingAllocator;

c10::Allocator* device_allocator() { return Own::get(); }

void* allocate_raw(size_t bytes, c10::DeviceIndex device) {
  const c10::cuda::CUDAGuard on(device);
  return Own::raw_alloc(bytes);
}

void* allocate_raw_on(size_t bytes, c10::Stream stream) {
  const c10::cuda::CUDAGuard on(stream.device_index());
  return Own::raw_alloc_with_stream(bytes, c10::cuda::CUDAStream(stream).stream());
}

void free_raw(void* memory) noexcept {
  if (memory) Own::raw_delete(memory);
}

c10::DeviceIndex device_of(const void* address) noexcept {
  cudaPointerAttributes found{};
  if (!address || cudaPointerGetAttributes(&found, address) != cudaSuccess) return -1;
  return found.type == cudaMemoryTypeDevice ? c10::DeviceIndex(found.device) : -1;
}

void record_stream(const c10::DataPtr& data, c10::Stream stream) {
  Own::recordStream(data, c10::cuda::CUDAStream(stream));
}

bool any_memory_made() noexcept { return true; }

bool is_pinned(const void* address) noexcept {
  return at::detail::getCUDAHooks().isPinnedPtr(address);
}

// The CPU's allocator alone: the device's is torch's.
void install_allocators() { c10::SetCPUAllocator(cpu_allocator(), 1); }

}  // namespace awt

// Device memory for tensors: a caching allocator over cuMemAlloc, as torch's own over cudaMalloc.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstddef>

namespace awt {

// The allocator registered for DeviceType::CUDA: allocates on the current device for its current
// stream.
c10::Allocator* device_allocator();

// The allocator registered for the CPU: device memory while an OnDevice lives on the calling
// thread, else what torch had before. Frees both kinds.
c10::Allocator* cpu_allocator();

// The page-locked host memory of our driver (cuMemHostAlloc), cached.
c10::Allocator* pinned_allocator();
bool is_pinned(const void* address) noexcept;

// `bytes` on `device` for its current stream, without a DataPtr. Raises OutOfMemoryError with
// CUDA's text.
void* allocate_raw(size_t bytes, c10::DeviceIndex device);
void* allocate_raw_on(size_t bytes, c10::Stream stream);
void free_raw(void* memory) noexcept;

// Work of `stream` uses the block that begins at `memory`: it is given out again only when that
// work is done.
void record_stream(const void* memory, c10::Stream stream);

// Gives cached memory of all devices back to the driver: of every pool, or of one.
void empty_all_caches(std::pair<unsigned long long, unsigned long long> pool = {0, 0});

bool any_memory_made() noexcept;

// The device whose segments hold `address`; -1 for all other memory. Lock-free: called for every
// result.
c10::DeviceIndex device_of(const void* address) noexcept;

// Memory under `data` is also used on `stream`: it is given out again only when that work is done.
void record_stream(const c10::DataPtr& data, c10::Stream stream);

// Puts the allocators in force; once, when the library is loaded.
void install_allocators();

}  // namespace awt

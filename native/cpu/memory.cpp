// Driver API reference: memory management, allocation.
#include "cpu/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cpu/activity_work.h"
#include "cpu/external_memory.h"
#include "cpu/pool.h"
#include "cpu/stream.h"
#include "cuda/contexts.h"
#include "cuda/visible.h"
#include "devices/processor.h"

using namespace aw;

namespace {

constexpr uint64_t kPitchAlign = 512;

void free_device_memory(CUdeviceptr address) {
  auto context = current_context();
  if (address == 0) return;
  Allocation found = allocation_at(address);
  bool known =
      found.base == address && !found.freeing &&
      (found.kind == MemoryKind::device || found.kind == MemoryKind::managed || found.pool ||
       (found.kind == MemoryKind::imported && found.flags == kExternalBuffer));
  require(known);
  // Kernels that were launched before may still use it.
  auto owner = found.context.lock();
  (owner ? owner : context)->wait_for_streams();
  Allocation taken;
  require(take(address, found.kind, &taken));
  give_back(taken);
}

CUresult allocate_host(void** out, size_t bytes, unsigned flags) {
  require(out);
  require((flags & ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                     CU_MEMHOSTALLOC_WRITECOMBINED)) == 0);
  *out = reinterpret_cast<void*>(allocate_in(current_context(), bytes, MemoryKind::host, flags));
  return CUDA_SUCCESS;
}

CUresult register_host(void* address, size_t bytes, unsigned flags) {
  require(address && bytes);
  constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                              CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
  require((flags & ~kKnown) == 0);
  auto context = current_context();
  uint64_t base = reinterpret_cast<uint64_t>(address);
  bool taken = allocation_at(base).base || allocation_at(base + bytes - 1).base;
  require(!taken, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  Allocation a;
  a.base = base, a.bytes = bytes, a.kind = MemoryKind::registered, a.flags = flags;
  a.context = context, a.context_id = context->id, a.device = context->device;
  enter(std::move(a));
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuMemGetInfo_v2(size_t* available, size_t* total) {
  return api<"cuMemGetInfo_v2">([&] {
    require(available && total);
    int dev = current_context()->device;
    uint64_t limit = device_memory(), used = std::min(bytes_in_use(dev), limit);
    *total = limit;
    *available = std::min(limit - used, std::max<uint64_t>(processor::free_memory(), 1));
  });
}

AW_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  return api<"cuMemAlloc_v2">(
      [&] {
        require(out);
        *out = allocate_in(current_context(), bytes, MemoryKind::device, 0);
      },
      out, bytes);
}

AW_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
                                      unsigned element) {
  return api<"cuMemAllocPitch_v2">([&] {
    require(out && pitch && width && height);
    require(element == 4 || element == 8 || element == 16);
    require(width < (1ull << 40) && height < (1ull << 40), CUDA_ERROR_OUT_OF_MEMORY);
    uint64_t row = (width + kPitchAlign - 1) / kPitchAlign * kPitchAlign, bytes;
    require(!__builtin_mul_overflow(row, height, &bytes), CUDA_ERROR_OUT_OF_MEMORY);
    *out = allocate_in(current_context(), bytes, MemoryKind::device, 0);
    *pitch = row;
  });
}

AW_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  return api<"cuMemFree_v2">([&] { free_device_memory(address); }, address);
}

AW_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  return api<"cuMemAllocManaged">(
      [&] {
        require(out);
        require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST);
        *out = allocate_in(current_context(), bytes, MemoryKind::managed, flags);
      },
      out, bytes, flags);
}

AW_EXPORT CUresult cuMemAllocHost_v2(void** out, size_t bytes) {
  return api<"cuMemAllocHost_v2">([&] { return allocate_host(out, bytes, 0); }, out, bytes);
}

AW_EXPORT CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return api<"cuMemHostAlloc">([&] { return allocate_host(out, bytes, flags); }, out, bytes, flags);
}

AW_EXPORT CUresult cuMemFreeHost(void* address) {
  return api<"cuMemFreeHost">(
      [&] {
        auto context = current_context();
        Allocation taken = allocation_at(reinterpret_cast<uint64_t>(address));
        require(taken.base && taken.kind == MemoryKind::host);
        if (auto owner = taken.context.lock()) owner->wait_for_streams();
        require(take(reinterpret_cast<uint64_t>(address), MemoryKind::host, &taken));
        tell_allocation(taken, true);
        release_bytes(address, taken.bytes, taken.device);
      },
      address);
}

AW_EXPORT CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  return api<"cuMemHostRegister_v2">([&] { return register_host(address, bytes, flags); });
}

AW_EXPORT CUresult cuMemHostUnregister(void* address) {
  return api<"cuMemHostUnregister">([&] {
    current_context();
    require(address);
    Allocation taken;
    require(take(reinterpret_cast<uint64_t>(address), MemoryKind::registered, &taken),
            CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    if (auto owner = taken.context.lock()) owner->wait_for_streams();
  });
}

AW_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* address, unsigned flags) {
  return api<"cuMemHostGetDevicePointer_v2">([&] {
    require(out && flags == 0);
    current_context();
    Allocation found = allocation_at(reinterpret_cast<uint64_t>(address));
    require(found.base && (found.kind == MemoryKind::host || found.kind == MemoryKind::registered));
    *out = reinterpret_cast<CUdeviceptr>(address);
  });
}

AW_EXPORT CUresult cuMemHostGetFlags(unsigned* flags, void* address) {
  return api<"cuMemHostGetFlags">([&] {
    require(flags);
    current_context();
    Allocation found = allocation_at(reinterpret_cast<uint64_t>(address));
    require(found.base && (found.kind == MemoryKind::host || found.kind == MemoryKind::registered));
    // All host memory is mapped where addressing is unified (CUDA Driver API, unified addressing).
    *flags = found.flags | CU_MEMHOSTALLOC_DEVICEMAP;
  });
}

AW_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return api<"cuMemGetAddressRange_v2">([&] {
    current_context();
    Allocation found = allocation_at(address);
    require(found.base && found.kind != MemoryKind::registered, CUDA_ERROR_NOT_FOUND);
    if (base) *base = found.base;
    if (bytes) *bytes = found.bytes;
  });
}

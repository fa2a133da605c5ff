// Driver API reference: unified addressing, pointer attributes.
#include <cstring>

#include "cpu/memory.h"
#include "cpu/pool.h"
#include "cuda/context.h"

using namespace aw;

namespace {

template <class T>
void put_value(void* out, T value) {
  memcpy(out, &value, sizeof value);
}

bool is_host(const Allocation& a) {
  return a.kind == MemoryKind::host || a.kind == MemoryKind::registered;
}

CUcontext context_handle(const Allocation& a) {
  auto context = a.context.lock();
  return context ? as_handle<CUcontext>(context->handle) : nullptr;
}

// Writes one attribute of memory that we know; false when it does not have that attribute.
bool write_pointer_attribute(void* out, CUpointer_attribute attribute, uint64_t address,
                             const Allocation& a) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put_value(out, context_handle(a)), true;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put_value(out, is_host(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE), true;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put_value(out, address), true;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return put_value(out, address), is_host(a) || a.kind == MemoryKind::managed;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put_value(out, static_cast<unsigned>(a.sync_memops)), true;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put_value(out, a.id), true;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put_value(out, static_cast<unsigned>(a.kind == MemoryKind::managed)), true;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put_value(out, a.device), true;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:  // what cuIpcGetMemHandle takes
      return put_value(out, static_cast<unsigned>(a.kind == MemoryKind::device && !a.pool)), true;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return put_value(out, 0u), true;  // no RDMA, no decompression engine
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put_value(out, a.base), true;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put_value(out, a.bytes), true;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put_value(out, 1u), true;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put_value(out, uint64_t{0}), true;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put_value(out, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE), true;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put_value(out, a.pool ? as_handle<CUmemoryPool>(a.pool->handle) : nullptr), true;
    default:
      return false;
  }
}

// What cuPointerGetAttributes writes for addresses that are nobody's: zero, of the attribute's
// size, and CU_DEVICE_INVALID for the device.
void write_unknown(void* out, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return put_value(out, 0u);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put_value(out, CU_DEVICE_INVALID);
    default:
      return put_value(out, uint64_t{0});
  }
}

}  // namespace

AW_EXPORT CUresult cuPointerGetAttribute(void* out, CUpointer_attribute attribute,
                                         CUdeviceptr address) {
  return api<"cuPointerGetAttribute">([&] {
    require(out && address);
    Allocation a = allocation_at(address);
    require(a.base != 0);
    require(write_pointer_attribute(out, attribute, address, a));
  });
}

AW_EXPORT CUresult cuPointerGetAttributes(unsigned count, const CUpointer_attribute* attributes,
                                          void** out, CUdeviceptr address) {
  return api<"cuPointerGetAttributes">([&] {
    require(count > 0 && attributes && out);
    Allocation a = allocation_at(address);
    for (unsigned i = 0; i < count; ++i) {
      require(out[i] && attributes[i] >= CU_POINTER_ATTRIBUTE_CONTEXT &&
              attributes[i] <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE &&
              attributes[i] != CU_POINTER_ATTRIBUTE_P2P_TOKENS);
      if (!a.base || !write_pointer_attribute(out[i], attributes[i], address, a))
        write_unknown(out[i], attributes[i]);
    }
  });
}

AW_EXPORT CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                         CUdeviceptr address) {
  return api<"cuPointerSetAttribute">([&] {
    require(value &&
            attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);  // the only one that can be set
    unsigned on;
    memcpy(&on, value, sizeof on);
    set_sync_memops(address, on != 0);
  });
}

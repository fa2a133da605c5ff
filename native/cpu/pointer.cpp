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
bool write_pointer_attribute(void* out, int attribute, uint64_t address, const Allocation& a) {
  switch (attribute) {
    case 1:
      return put_value(out, context_handle(a)), true;
    case 2:
      return put_value(out, is_host(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE), true;
    case 3:
      return put_value(out, address), true;
    case 4:
      return put_value(out, address), is_host(a) || a.kind == MemoryKind::managed;
    case 6:
      return put_value(out, static_cast<unsigned>(a.sync_memops)), true;
    case 7:
    case 20:
      return put_value(out, a.id), true;
    case 8:
      return put_value(out, static_cast<unsigned>(a.kind == MemoryKind::managed)), true;
    case 9:
      return put_value(out, a.device), true;
    case 10:  // what cuIpcGetMemHandle takes
      return put_value(out, static_cast<unsigned>(a.kind == MemoryKind::device && !a.pool)), true;
    case 15:
    case 21:
      return put_value(out, 0u), true;  // no RDMA, no decompression engine
    case 11:
    case 19:
      return put_value(out, a.base), true;
    case 12:
    case 18:
      return put_value(out, a.bytes), true;
    case 13:
      return put_value(out, 1u), true;
    case 14:
      return put_value(out, uint64_t{0}), true;
    case 16:
      return put_value(out, 3u), true;
    case 17:
      return put_value(out, a.pool ? as_handle<CUmemoryPool>(a.pool->handle) : nullptr), true;
    default:
      return false;
  }
}

// What cuPointerGetAttributes writes for addresses that are nobody's: zero, of the attribute's
// size, and -2 for the device.
void write_unknown(void* out, int attribute) {
  switch (attribute) {
    case 2:
    case 6:
    case 8:
    case 10:
    case 13:
    case 15:
    case 16:
    case 21:
      return put_value(out, 0u);
    case 9:
      return put_value(out, -2);
    default:
      return put_value(out, uint64_t{0});
  }
}

}  // namespace

AW_EXPORT CUresult cuPointerGetAttribute(void* out, int attribute, CUdeviceptr address) {
  return api<"cuPointerGetAttribute">([&] {
    require(out && address);
    Allocation a = allocation_at(address);
    require(a.base != 0);
    require(write_pointer_attribute(out, attribute, address, a));
  });
}

AW_EXPORT CUresult cuPointerGetAttributes(unsigned count, const int* attributes, void** out,
                                          CUdeviceptr address) {
  return api<"cuPointerGetAttributes">([&] {
    require(count > 0 && attributes && out);
    Allocation a = allocation_at(address);
    for (unsigned i = 0; i < count; ++i) {
      require(out[i] && attributes[i] >= 1 && attributes[i] <= 21 && attributes[i] != 5);
      if (!a.base || !write_pointer_attribute(out[i], attributes[i], address, a))
        write_unknown(out[i], attributes[i]);
    }
  });
}

AW_EXPORT CUresult cuPointerSetAttribute(const void* value, int attribute, CUdeviceptr address) {
  return api<"cuPointerSetAttribute">([&] {
    require(value && attribute == 6);  // SYNC_MEMOPS is the only one that can be set
    unsigned on;
    memcpy(&on, value, sizeof on);
    set_sync_memops(address, on != 0);
  });
}

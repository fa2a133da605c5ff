// Driver API reference: memory management, where more than a call of HIP's counterpart is needed.
#include <cstring>

#include "hip/devices.h"
#include "hip/forward.h"
#include "hip/ownership.h"
#include "hip/services.h"

using namespace aw;

namespace {

void* address_of(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

template <class Pointer>
CUresult owned(const Context& context, Pointer* out, hipError_t error, Owned kind) {
  if (error != hipSuccess) return cuda_code(error);
  own(context, reinterpret_cast<void*>(*out), kind);
  return CUDA_SUCCESS;
}

CUresult allocate(CUdeviceptr* out, size_t bytes) {
  Context& context = require_context();
  require(out && bytes > 0);
  return owned(context, out, hip.hipMalloc(reinterpret_cast<void**>(out), bytes), Owned::device);
}

}  // namespace

AW_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  return api<"cuMemAlloc_v2">([&] { return allocate(out, bytes); }, out, bytes);
}

// Waits for the device first, as cuMemFree does.
AW_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  return api<"cuMemFree_v2">(
      [&] {
        Context& context = require_context();
        if (!address) return CUDA_SUCCESS;
        disown(address_of(address));
        CUresult code = to_cuda(hip.hipFree(address_of(address)));
        drain_services(context);
        return code;
      },
      address);
}

AW_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
                                      unsigned element) {
  return api<"cuMemAllocPitch_v2">([&] {
    require_context();
    require(out && pitch && width && height);
    require(element == 4 || element == 8 || element == 16);
    // Rows begin where CUDA's do, at multiples of the texture alignment (attribute 14).
    constexpr size_t kAlign = 512;
    size_t row = (width + kAlign - 1) / kAlign * kAlign, bytes = 0;
    require(!__builtin_mul_overflow(row, height, &bytes), CUDA_ERROR_OUT_OF_MEMORY);
    CUresult code = allocate(out, bytes);
    if (!code) *pitch = row;
    return code;
  });
}

AW_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  return api<"cuMemAllocManaged">(
      [&] {
        Context& context = require_context();
        require(out && bytes > 0 && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST));
        return owned(context, out,
                     AW_HIP(hipMallocManaged)(reinterpret_cast<void**>(out), bytes, flags),
                     Owned::device);
      },
      out, bytes, flags);
}

AW_EXPORT CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return api<"cuMemHostAlloc">(
      [&] {
        require_context();
        require(out && bytes > 0 &&
                flags <= (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                          CU_MEMHOSTALLOC_WRITECOMBINED));  // as HIP has them
        return to_cuda(AW_HIP(hipHostMalloc)(out, bytes, flags));
      },
      out, bytes, flags);
}

AW_EXPORT CUresult cuMemAllocHost_v2(void** out, size_t bytes) {
  return api<"cuMemAllocHost_v2">(
      [&] {
        require_context();
        require(out && bytes > 0);
        return to_cuda(
            AW_HIP(hipHostMalloc)(out, bytes, hipHostMallocMapped | hipHostMallocPortable));
      },
      out, bytes);
}

AW_EXPORT CUresult cuMemFreeHost(void* memory) {
  return api<"cuMemFreeHost">(
      [&] {
        require_context();
        require(memory);
        disown(memory);
        return to_cuda(AW_HIP(hipHostFree)(memory));
      },
      memory);
}

AW_EXPORT CUresult cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  return api<"cuMemHostRegister_v2">([&] {
    require_context();
    require(memory && bytes > 0 &&
            flags <= (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                      CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY));
    // Portable, mapped and of a device are HIP's too. Read only is a promise that asks for nothing,
    // and its number another flag of HIP.
    constexpr unsigned kSame = 7;
    return to_cuda(AW_HIP(hipHostRegister)(memory, bytes, flags & kSame));
  });
}

AW_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return api<"cuMemGetAddressRange_v2">([&] {
    require_context();
    void* begin = nullptr;
    size_t size = 0;
    hipError_t error = AW_HIP(hipMemGetAddressRange)(&begin, &size, address_of(address));
    if (error != hipSuccess)
      return cuda_code(error) == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_NOT_FOUND : cuda_code(error);
    if (base) *base = reinterpret_cast<uint64_t>(begin);
    if (bytes) *bytes = size;
    return CUDA_SUCCESS;
  });
}

AW_EXPORT CUresult cuMemGetInfo_v2(size_t* available, size_t* total) {
  return api<"cuMemGetInfo_v2">([&] {
    require_context();
    require(available && total);
    return to_cuda(hip.hipMemGetInfo(available, total));
  });
}

namespace {

int memory_type(const hipPointerAttribute_t& a) {
  switch (static_cast<int>(a.type)) {
    case hipMemoryTypeHost:
      return CU_MEMORYTYPE_HOST;
    case hipMemoryTypeDevice:
    case hipMemoryTypeManaged:  // which CUDA tells as memory of the device that is managed
    case hipMemoryTypeUnified:
      return CU_MEMORYTYPE_DEVICE;
    case hipMemoryTypeArray:
      return CU_MEMORYTYPE_ARRAY;
    default:
      return 0;
  }
}

template <class T>
CUresult put_value(void* out, T value) {
  memcpy(out, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult range(void* out, CUdeviceptr address, bool start) {
  void* begin = nullptr;
  size_t size = 0;
  if (AW_HIP(hipMemGetAddressRange)(&begin, &size, address_of(address)) != hipSuccess)
    begin = address_of(address), size = 0;
  return start ? put_value(out, begin) : put_value(out, size);
}

CUresult pointer_attribute(void* out, CUpointer_attribute attribute, CUdeviceptr address) {
  require(out && attribute >= CU_POINTER_ATTRIBUTE_CONTEXT &&
          attribute <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE &&
          attribute != CU_POINTER_ATTRIBUTE_MAPPING_SIZE);
  hipPointerAttribute_t a{};
  hipError_t error = AW_HIP(hipPointerGetAttributes)(&a, address_of(address));
  // Memory that HIP does not know is the program's own: an error for CUDA too.
  if (error != hipSuccess) return cuda_code(error);
  int type = memory_type(a);
  require(type != 0);
  bool managed = a.isManaged || static_cast<int>(a.type) == hipMemoryTypeManaged;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put_value(out, thread_state.context ? thread_state.context->handle : uintptr_t{0});
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put_value(out, type);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      require(a.devicePointer != nullptr);
      return put_value(out, a.devicePointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      require(a.hostPointer != nullptr);
      return put_value(out, a.hostPointer);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put_value(out, static_cast<unsigned>(managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put_value(out, a.device < 0 ? CU_DEVICE_INVALID : cuda_device(a.device));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return range(out, address, attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put_value(out, 1u);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: {
      unsigned long long id = 0;
      // HIP numbers buffers in newer versions; an address is one number for as long as the buffer
      // lives.
      bool has = hip.hipPointerGetAttribute &&
                 hip.hipPointerGetAttribute(&id, HIP_POINTER_ATTRIBUTE_BUFFER_ID,
                                            address_of(address)) == hipSuccess;
      return has ? put_value(out, id) : range(out, address, true);
    }
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return put_value(out, 0u);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put_value(out, uint64_t{0});
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put_value(out, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put_value(out, uintptr_t{0});
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

static bool is_known(CUdeviceptr address) {
  hipPointerAttribute_t a{};
  return AW_HIP(hipPointerGetAttributes)(&a, address_of(address)) == hipSuccess &&
         memory_type(a) != 0;
}

AW_EXPORT CUresult cuPointerGetAttribute(void* out, CUpointer_attribute attribute,
                                         CUdeviceptr address) {
  return api<"cuPointerGetAttribute">([&] { return pointer_attribute(out, attribute, address); });
}

// What an address has no answer for is null here, and no error (cuPointerGetAttributes).
AW_EXPORT CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes,
                                          void** out, CUdeviceptr address) {
  return api<"cuPointerGetAttributes">([&] {
    require(count > 0 && attributes && out);
    for (unsigned i = 0; i < count; ++i) {
      require(out[i] && attributes[i] >= CU_POINTER_ATTRIBUTE_CONTEXT &&
              attributes[i] <= CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE);
      bool wide = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
                  attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                  attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER ||
                  attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                  attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE ||
                  attributes[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID ||
                  attributes[i] == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE ||
                  attributes[i] == CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES;
      memset(out[i], 0, wide ? 8 : 4);
      try {
        pointer_attribute(out[i], attributes[i], address);
      } catch (const Failure&) {  // null, as it is
      }
      if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL && !is_known(address))
        put_value(out[i], CU_DEVICE_INVALID);
    }
  });
}

AW_EXPORT CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                         CUdeviceptr address) {
  return api<"cuPointerSetAttribute">([&] {
    require_context();
    require(value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    return to_cuda(AW_HIP(hipPointerSetAttribute)(value, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                                                  address_of(address)));
  });
}

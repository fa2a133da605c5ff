// Runtime API reference: unified addressing.
#include <cstring>

#include "cudart/locations.h"
#include "cudart/state.h"

namespace aw {

// What no allocation holds is memory of the host that the runtime does not know.
cudaError_t rt::cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  require(out);
  memset(out, 0, sizeof *out);
  out->type = cudaMemoryTypeUnregistered;
  out->device = cudaInvalidDeviceId;
  unsigned type = 0, managed = 0;
  int device = 0;
  CUdeviceptr on_device = 0;
  void* on_host = nullptr;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&type, &managed, &device, &on_device, &on_host};
  check(cuPointerGetAttributes(5, wanted, values, address_of(pointer)));
  if (type == 0) {
    out->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
  }
  out->type = managed ? cudaMemoryTypeManaged : static_cast<cudaMemoryType>(type);
  out->device = device;
  out->devicePointer = reinterpret_cast<void*>(on_device);
  out->hostPointer = on_host;
  return cudaSuccess;
}

}  // namespace aw

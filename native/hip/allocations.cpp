#include "cuda/memory.h"
#include "hip/runtime.h"
#include "hip/services.h"

namespace aw {

void* allocate_bytes(uint64_t bytes, int device) {
  OnDevice here(device);
  void* memory = nullptr;
  check(hip.hipMalloc(&memory, bytes));
  if (!memory) throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
  return memory;
}

void release_bytes(void* memory, uint64_t, int device) {
  try {
    OnDevice here(device);
    (void)hip.hipFree(memory);
  } catch (const Failure&) {  // the device is gone, and its memory with it
  }
}

uint64_t allocate_in(const std::shared_ptr<Context>&, uint64_t, MemoryKind, unsigned, void*, bool) {
  throw Failure(CUDA_ERROR_OUT_OF_MEMORY,
                "the interface of CUDA before 3.2 needs device memory at addresses of 32 bits, "
                "which AMD devices do not have");
}

}  // namespace aw

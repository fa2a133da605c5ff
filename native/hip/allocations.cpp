#include <map>
#include <mutex>

#include "cuda/memory.h"
#include "hip/runtime.h"
#include "hip/services.h"

namespace aw {

void* allocate_bytes(uint64_t bytes, int device, bool) {
  OnDevice here(device);
  OutsideCapture scope;
  void* memory = nullptr;
  check(hip.hipMalloc(&memory, bytes));
  if (!memory) throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
  return memory;
}

void release_bytes(void* memory, uint64_t, int device) {
  try {
    OnDevice here(device);
    OutsideCapture scope;
    (void)hip.hipFree(memory);
  } catch (const Failure&) {  // the device is gone, and its memory with it
  }
}

// In a stream of ours: the copies that HIP makes at once, hipMemcpyHtoD for one, break every
// capture of the process, in whatever mode (CLR, CHECK_STREAM_CAPTURING).
void write_bytes(void* to, const void* from, size_t bytes, int device) {
  static auto& mutex = *new std::mutex;
  static auto& streams = *new std::map<int, hipStream_t>;
  OnDevice here(device);
  OutsideCapture scope;
  std::lock_guard lock(mutex);
  hipStream_t& stream = streams[device];
  if (!stream) check(hip.hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  check(hip.hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, stream));
  check(hip.hipStreamSynchronize(stream));
}

void write_bytes_in_order(void* to, const void* from, size_t bytes, int device) {
  OnDevice here(device);
  OutsideCapture scope;
  hipEvent_t written = nullptr;
  check(hip.hipEventCreateWithFlags(&written, hipEventDisableTiming));
  hipError_t error = hip.hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, nullptr);
  if (error == hipSuccess) error = hip.hipEventRecord(written, nullptr);
  if (error == hipSuccess) error = hip.hipEventSynchronize(written);
  (void)hip.hipEventDestroy(written);
  check(error);
}

// HIP knows the allocations and checks what copies touch: it is not asked about every address
// before.
Allocation allocation_at(uint64_t) { return {}; }

uint64_t allocate_in(const std::shared_ptr<Context>&, uint64_t, MemoryKind, unsigned,
                     std::shared_ptr<Pool>, bool) {
  throw Failure(CUDA_ERROR_OUT_OF_MEMORY,
                "the interface of CUDA before 3.2 needs memory at addresses of 32 bits, which AMD "
                "devices do not have");
}

}  // namespace aw

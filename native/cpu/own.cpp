// Functions of ours that NVIDIA's driver does not have (docs/contracts.md, section 8).
#include "core/imports.h"
#include "core/watched_memory.h"
#include "cpu/capture.h"
#include "cpu/memory.h"
#include "cpu/stream.h"
#include "cuda/context.h"

using namespace aw;

AW_EXPORT const uint64_t* anywarp_work_counter() {
  static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));
  let_host_write_device_memory();  // who asks is the stand-in of a framework
  return reinterpret_cast<const uint64_t*>(&pending_work());
}

AW_EXPORT const uint64_t* anywarp_capture_counter() {
  return reinterpret_cast<const uint64_t*>(&captures());
}

AW_EXPORT CUresult anywarp_fail(int code, const char* text) {
  return api<"anywarp_fail">([&] {
    require(code > 0 && text);
    Context* context = context_of_callback();
    require(context != nullptr, CUDA_ERROR_NOT_PERMITTED);
    context->fail(code, text);
  });
}

AW_EXPORT void* anywarp_service(const char* name) { return name ? find_import(name) : nullptr; }

// What this process holds of a device, whatever part of it asked for it.
AW_EXPORT uint64_t anywarp_memory_in_use(int device) { return bytes_in_use(device); }

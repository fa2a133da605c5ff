// Driver API reference: external resource interoperability, memory. A file descriptor is what both
// sides share: of memory that cuMemExportToShareableHandle gave away, or of another interface that
// keeps its memory in a file (software Vulkan does).
#include "cpu/external_memory.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cpu/memory.h"
#include "cpu/tickets.h"

namespace aw {
namespace {

constexpr uint64_t kPage = 4096;

struct ExternalMemory {
  uintptr_t handle = 0;
  int file = -1;
  uint64_t bytes = 0;
  ~ExternalMemory() {
    if (file >= 0) close(file);
  }
};

Handles<ExternalMemory>& all_external_memories() {
  static auto& instance = *new Handles<ExternalMemory>;
  return instance;
}

}  // namespace
}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuImportExternalMemory(CUexternalMemory* out,
                                          const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
  return api<"cuImportExternalMemory">([&] {
    require(out && description && description->size > 0 &&
            description->flags <= CUDA_EXTERNAL_MEMORY_DEDICATED);
    current_context();
    if (description->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
      throw Failure(CUDA_ERROR_NOT_SUPPORTED, "memory is imported as a file descriptor only");
    struct stat status;
    require(fstat(description->handle.fd, &status) == 0);
    require(static_cast<uint64_t>(status.st_size) >= description->size);
    auto made = std::make_shared<ExternalMemory>();
    made->file = description->handle.fd;  // which is ours from here on, as documented
    made->bytes = description->size;
    made->handle = all_external_memories().add(made);
    *out = as_handle<CUexternalMemory>(made->handle);
  });
}

AW_EXPORT CUresult cuDestroyExternalMemory(CUexternalMemory handle) {
  return api<"cuDestroyExternalMemory">([&] {
    require(all_external_memories().remove(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE);
  });
}

AW_EXPORT CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr* out, CUexternalMemory handle,
                                                   const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* p) {
  return api<"cuExternalMemoryGetMappedBuffer">([&] {
    require(out && p && p->size > 0 && p->flags == 0 && p->offset % kPage == 0);
    auto context = current_context();
    auto memory = all_external_memories().find(handle);
    require(memory != nullptr, CUDA_ERROR_INVALID_HANDLE);
    require(p->offset <= memory->bytes && p->size <= memory->bytes - p->offset);
    Allocation a;
    a.base = map_file(memory->file, p->size, p->offset), a.bytes = p->size,
    a.kind = MemoryKind::imported;
    a.flags = kExternalBuffer;
    a.context = context, a.context_id = context->id, a.device = context->device;
    *out = a.base;
    enter(std::move(a));
  });
}

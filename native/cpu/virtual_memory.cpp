// Driver API reference: virtual memory management. An allocation is a file in memory, mapped where
// the program says.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "core/handles.h"
#include "cpu/memory.h"
#include "cpu/stream.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/visible.h"

using namespace aw;

namespace {

constexpr uint64_t kGranularity = 2 << 20;
constexpr auto kFileDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

// Physical memory that lives as long as a handle or a mapping of it.
struct Physical {
  int file = -1;
  uint64_t bytes = 0;
  uintptr_t handle = 0;
  CUmemAllocationProp properties{};
  uint64_t references = 1;
  ~Physical() {
    if (file >= 0) close(file);
  }
};

struct Mapping {
  uint64_t bytes;
  std::shared_ptr<Physical> physical;
  int access = 0;
};

struct Space {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> reserved;  // begin and size
  std::map<uint64_t, Mapping> mapped;
};

Space& space() {
  static Space& instance = *new Space;
  return instance;
}

Handles<Physical>& physicals() {
  static auto& instance = *new Handles<Physical>;
  return instance;
}

std::shared_ptr<Physical> physical_of(CUmemGenericAllocationHandle handle) {
  auto found = physicals().find(reinterpret_cast<void*>(handle));
  require(found != nullptr);
  return found;
}

bool is_multiple(uint64_t value) { return value > 0 && value % kGranularity == 0; }

void check_properties(const CUmemAllocationProp* p) {
  require(p &&
          (p->type == CU_MEM_ALLOCATION_TYPE_PINNED || p->type == CU_MEM_ALLOCATION_TYPE_MANAGED));
  check_location(p->location);
  if (p->requestedHandleTypes & ~kFileDescriptor) {
    throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                  "memory is shared between processes by file descriptors only");
  }
}

bool inside_reservation(uint64_t address, uint64_t bytes) {
  auto next = space().reserved.upper_bound(address);
  if (next == space().reserved.begin()) return false;
  auto& [begin, size] = *std::prev(next);
  return address - begin <= size && bytes <= size - (address - begin);
}

// Whether mappings cover a range without a gap.
bool is_covered(uint64_t address, uint64_t bytes) {
  uint64_t end = address + bytes;
  while (address < end) {
    auto it = space().mapped.find(address);
    if (it == space().mapped.end()) return false;
    address += it->second.bytes;
  }
  return address == end;
}

int protection(int access) {
  return access == 3 ? PROT_READ | PROT_WRITE : access == 1 ? PROT_READ : PROT_NONE;
}

void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

void forget(uint64_t address) {
  Allocation gone;
  take(address, MemoryKind::mapped, &gone);
}

}  // namespace

AW_EXPORT CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* p,
                                                 int option) {
  return api<"cuMemGetAllocationGranularity">([&] {
    require(granularity && (option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ||
                            option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    check_properties(p);
    *granularity = kGranularity;
  });
}

AW_EXPORT CUresult cuMemAddressReserve(CUdeviceptr* out, size_t bytes, size_t align,
                                       CUdeviceptr wish, uint64_t flags) {
  return api<"cuMemAddressReserve">([&] {
    require(out && is_multiple(bytes) && flags == 0);
    require((align & (align - 1)) == 0 && align <= (1ull << 40) && bytes <= (1ull << 46));
    uint64_t step = std::max<uint64_t>(align, kGranularity);
    constexpr int kMap = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* whole = mmap(pointer_to(wish), bytes + step, PROT_NONE, kMap, -1, 0);
    require(whole != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    uint64_t start = reinterpret_cast<uint64_t>(whole), base = (start + step - 1) / step * step;
    if (base > start) munmap(whole, base - start);
    if (start + step > base) munmap(pointer_to(base + bytes), start + step - base);
    std::lock_guard lock(space().mutex);
    space().reserved[base] = bytes;
    *out = base;
  });
}

AW_EXPORT CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return api<"cuMemAddressFree">([&] {
    std::lock_guard lock(space().mutex);
    auto it = space().reserved.find(address);
    require(it != space().reserved.end() && it->second == bytes);
    auto first = space().mapped.lower_bound(address);
    require(first == space().mapped.end() || first->first >= address + bytes);
    munmap(pointer_to(address), bytes);
    space().reserved.erase(it);
  });
}

AW_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t bytes,
                               const CUmemAllocationProp* p, uint64_t flags) {
  return api<"cuMemCreate">([&] {
    require(out && is_multiple(bytes) && flags == 0);
    check_properties(p);
    require(bytes <= device_info().memory, CUDA_ERROR_OUT_OF_MEMORY);
    auto made = std::make_shared<Physical>();
    made->bytes = bytes, made->properties = *p;
    made->file = memfd_create("anywarp-memory", MFD_CLOEXEC);
    bool good = made->file >= 0 && ftruncate(made->file, static_cast<off_t>(bytes)) == 0;
    require(good, CUDA_ERROR_OUT_OF_MEMORY);
    made->handle = physicals().add(made);
    *out = made->handle;
  });
}

AW_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return api<"cuMemRelease">([&] {
    auto physical = physical_of(handle);
    std::lock_guard lock(space().mutex);
    if (--physical->references == 0) physicals().remove(pointer_to(handle));
  });
}

AW_EXPORT CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                            CUmemGenericAllocationHandle handle, uint64_t flags) {
  return api<"cuMemMap">([&] {
    require(is_multiple(bytes) && address % kGranularity == 0 && offset == 0 && flags == 0);
    auto physical = physical_of(handle);
    require(bytes == physical->bytes);
    std::lock_guard lock(space().mutex);
    require(inside_reservation(address, bytes));
    auto next = space().mapped.lower_bound(address);
    bool free = next == space().mapped.end() || next->first >= address + bytes;
    if (next != space().mapped.begin())
      free = free && std::prev(next)->first + std::prev(next)->second.bytes <= address;
    require(free);
    void* got =
        mmap(pointer_to(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->file, 0);
    require(got != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    space().mapped[address] = {bytes, physical, 0};
    Allocation a;
    a.base = address, a.bytes = bytes, a.kind = MemoryKind::mapped;
    if (physical->properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
      a.device = physical->properties.location.id;
    enter(std::move(a));
  });
}

AW_EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return api<"cuMemUnmap">([&] {
    if (auto context = peek_context()) context->wait_for_streams();
    std::lock_guard lock(space().mutex);
    require(bytes > 0 && is_covered(address, bytes));
    constexpr int kMap = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    require(mmap(pointer_to(address), bytes, PROT_NONE, kMap, -1, 0) != MAP_FAILED,
            CUDA_ERROR_OUT_OF_MEMORY);
    for (uint64_t end = address + bytes; address < end;) {
      auto it = space().mapped.find(address);
      forget(address);
      address += it->second.bytes;
      space().mapped.erase(it);
    }
  });
}

AW_EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* access,
                                  size_t count) {
  return api<"cuMemSetAccess">([&] {
    require(access && count > 0);
    std::lock_guard lock(space().mutex);
    require(bytes > 0 && is_covered(address, bytes));
    for (size_t i = 0; i < count; ++i) {
      CUmemAccess_flags flags = access[i].flags;
      require(access[i].location.type >= CU_MEM_LOCATION_TYPE_DEVICE &&
              (flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
               flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
      if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        check_device(access[i].location.id);
      require(mprotect(pointer_to(address), bytes, protection(flags)) == 0,
              CUDA_ERROR_OUT_OF_MEMORY);
      for (auto it = space().mapped.find(address);
           it != space().mapped.end() && it->first < address + bytes; ++it) {
        it->second.access = flags;
      }
    }
  });
}

AW_EXPORT CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                                  CUdeviceptr address) {
  return api<"cuMemGetAccess">([&] {
    require(flags && location);
    std::lock_guard lock(space().mutex);
    auto next = space().mapped.upper_bound(address);
    require(next != space().mapped.begin());
    auto& [begin, mapping] = *std::prev(next);
    require(address - begin < mapping.bytes);
    *flags = static_cast<unsigned long long>(mapping.access);
  });
}

AW_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  return api<"cuMemRetainAllocationHandle">([&] {
    require(out);
    std::lock_guard lock(space().mutex);
    auto next = space().mapped.upper_bound(reinterpret_cast<uint64_t>(address));
    require(next != space().mapped.begin());
    auto& [begin, mapping] = *std::prev(next);
    require(reinterpret_cast<uint64_t>(address) - begin < mapping.bytes);
    Physical& physical = *mapping.physical;
    if (physical.references++ == 0) physicals().insert(physical.handle, mapping.physical);
    *out = physical.handle;
  });
}

AW_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* p,
                                                          CUmemGenericAllocationHandle handle) {
  return api<"cuMemGetAllocationPropertiesFromHandle">([&] {
    require(p);
    *p = physical_of(handle)->properties;
  });
}

AW_EXPORT CUresult cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle,
                                                int type, uint64_t flags) {
  return api<"cuMemExportToShareableHandle">([&] {
    require(out && flags == 0);
    require(type == kFileDescriptor, CUDA_ERROR_NOT_SUPPORTED);
    auto physical = physical_of(handle);
    require(physical->properties.requestedHandleTypes & kFileDescriptor);
    int file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
    require(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    memcpy(out, &file, sizeof file);
  });
}

AW_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out,
                                                  void* os_handle, int type) {
  return api<"cuMemImportFromShareableHandle">([&] {
    require(out);
    require(type == kFileDescriptor, CUDA_ERROR_NOT_SUPPORTED);
    auto made = std::make_shared<Physical>();
    made->file = fcntl(static_cast<int>(reinterpret_cast<intptr_t>(os_handle)), F_DUPFD_CLOEXEC, 0);
    struct stat status;
    require(made->file >= 0 && fstat(made->file, &status) == 0, CUDA_ERROR_INVALID_VALUE);
    require(is_multiple(static_cast<uint64_t>(status.st_size)));
    made->bytes = static_cast<uint64_t>(status.st_size);
    made->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    made->properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    made->properties.requestedHandleTypes = kFileDescriptor;
    made->handle = physicals().add(made);
    *out = made->handle;
  });
}

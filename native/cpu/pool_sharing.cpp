// Driver API reference: stream ordered memory allocator, pools shared between processes.
#include "cpu/pool_sharing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "cpu/pool.h"
#include "cpu/stream.h"

using namespace aw;

namespace {

constexpr int kPoolFileDescriptor = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr char kPoolMagic[8] = {'A', 'W', 'P', 'O', 'O', 'L', '0', '1'};

// What CUmemPoolPtrExportData holds.
struct Ticket {
  char magic[8];
  uint64_t device, inode, offset, bytes, reserved[3];
};
static_assert(sizeof(Ticket) == 64);

void* mapped_at(uint64_t address) { return reinterpret_cast<void*>(address); }

uint64_t page_size() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

uint64_t whole_pages(uint64_t bytes) {
  return (bytes + page_size() - 1) / page_size() * page_size();
}

void identify(PoolFile& pool) {
  struct stat status;
  int seals = fcntl(pool.file, F_GET_SEALS);
  bool good = fstat(pool.file, &status) == 0 && S_ISREG(status.st_mode);
  require(good && seals >= 0 && (seals & F_SEAL_SHRINK), CUDA_ERROR_INVALID_HANDLE);
  pool.device = status.st_dev, pool.inode = status.st_ino;
}

PoolFile& shareable(const std::shared_ptr<Pool>& pool) {
  require(pool && pool->file);
  return *pool->file;
}

}  // namespace

namespace aw {

PoolFile::~PoolFile() {
  if (file >= 0) close(file);
}

uint64_t PoolFile::take_part(uint64_t bytes) {
  auto it = unused_.find(bytes);
  if (it != unused_.end()) {
    uint64_t offset = it->second;
    unused_.erase(it);
    return offset;
  }
  bool good = ftruncate(file, static_cast<off_t>(end_ + bytes)) == 0;
  require(good, CUDA_ERROR_OUT_OF_MEMORY);
  end_ += bytes;
  return end_ - bytes;
}

uint64_t PoolFile::map(uint64_t offset, uint64_t bytes) {
  uint64_t whole = whole_pages(bytes), guarded = whole + page_size();
  constexpr int kMap = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* place = mmap(nullptr, guarded, PROT_NONE, kMap, -1, 0);
  require(place != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  void* got = mmap(place, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                   static_cast<off_t>(offset));
  if (got == MAP_FAILED) munmap(place, guarded);
  require(got != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  uint64_t address = reinterpret_cast<uint64_t>(place);
  parts_[address] = offset;
  return address;
}

uint64_t PoolFile::open_part(uint64_t offset, uint64_t bytes) {
  struct stat status;
  require(fstat(file, &status) == 0);
  uint64_t size = static_cast<uint64_t>(status.st_size);
  bool inside = bytes > 0 && bytes <= size && offset % page_size() == 0;
  require(inside && whole_pages(bytes) <= size && offset <= size - whole_pages(bytes));
  std::lock_guard lock(mutex_);
  return map(offset, bytes);
}

uint64_t PoolFile::allocate(uint64_t bytes) {
  require(!imported);  // as documented: imported pools do not allocate
  std::lock_guard lock(mutex_);
  return map(take_part(whole_pages(bytes)), bytes);
}

void PoolFile::release(uint64_t address, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  auto it = parts_.find(address);
  if (it == parts_.end()) return;
  uint64_t whole = whole_pages(bytes), offset = it->second;
  parts_.erase(it);
  munmap(mapped_at(address), whole + page_size());
  if (imported) return;
  fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(whole));
  unused_.emplace(whole, offset);
}

uint64_t PoolFile::offset_of(uint64_t address) {
  std::lock_guard lock(mutex_);
  auto it = parts_.find(address);
  require(it != parts_.end());
  return it->second;
}

std::shared_ptr<PoolFile> new_pool_file() {
  auto made =
      std::make_shared<PoolFile>(memfd_create("anywarp-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  bool good = made->file >= 0 && fcntl(made->file, F_ADD_SEALS, F_SEAL_SHRINK) == 0;
  require(good, CUDA_ERROR_OUT_OF_MEMORY);
  identify(*made);
  return made;
}

}  // namespace aw

AW_EXPORT CUresult cuMemPoolExportToShareableHandle(void* out, CUmemoryPool handle, int type,
                                                    unsigned long long flags) {
  return api<"cuMemPoolExportToShareableHandle">([&] {
    require(out && flags == 0 && type == kPoolFileDescriptor);
    PoolFile& pool = shareable(pool_of(handle));
    require(!pool.imported);
    int file = fcntl(pool.file, F_DUPFD_CLOEXEC, 0);
    require(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    memcpy(out, &file, sizeof file);
  });
}

AW_EXPORT CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* out, void* os_handle, int type,
                                                      unsigned long long flags) {
  return api<"cuMemPoolImportFromShareableHandle">([&] {
    require(out && flags == 0 && type == kPoolFileDescriptor);
    int given = static_cast<int>(reinterpret_cast<intptr_t>(os_handle));
    auto file = std::make_shared<PoolFile>(fcntl(given, F_DUPFD_CLOEXEC, 0));
    require(file->file >= 0);
    identify(*file);
    file->imported = true;
    auto pool = std::make_shared<Pool>();
    pool->file = std::move(file);
    *out = as_handle<CUmemoryPool>(enter_pool(std::move(pool)));
  });
}

AW_EXPORT CUresult cuMemPoolExportPointer(Ticket* out, CUdeviceptr address) {
  return api<"cuMemPoolExportPointer">([&] {
    require(out);
    Allocation a = allocation_at(address);
    require(a.base && a.base == address && !a.freeing);
    PoolFile& pool = shareable(a.pool);
    require(!pool.imported);
    Ticket ticket = {};
    memcpy(ticket.magic, kPoolMagic, sizeof kPoolMagic);
    ticket.device = pool.device, ticket.inode = pool.inode;
    ticket.offset = pool.offset_of(address), ticket.bytes = a.bytes;
    *out = ticket;
  });
}

AW_EXPORT CUresult cuMemPoolImportPointer(CUdeviceptr* out, CUmemoryPool handle,
                                          const Ticket* data) {
  return api<"cuMemPoolImportPointer">([&] {
    require(out && data);
    auto context = current_context();
    auto pool = pool_of(handle);
    PoolFile& file = shareable(pool);
    Ticket ticket = *data;
    bool good = file.imported && memcmp(ticket.magic, kPoolMagic, sizeof kPoolMagic) == 0;
    require(good && ticket.device == file.device && ticket.inode == file.inode);
    Allocation a;
    a.base = file.open_part(ticket.offset, ticket.bytes), a.bytes = ticket.bytes;
    a.context = context, a.context_id = context->id, a.device = context->device;
    a.pool = pool;
    a.block = pool->add(ticket.bytes).bytes;
    *out = a.base;
    enter(std::move(a));
  });
}

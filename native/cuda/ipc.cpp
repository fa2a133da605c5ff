// Driver API reference: memory management, memory shared between processes. The first time that an
// allocation is asked for, a file in memory takes the place of its pages, at the same address.
//
// The file has no name: others reach it as /proc/PID/fd/N, which the kernel opens for processes of
// the same user only, and which leaves nothing behind however the process ends. Its size is sealed,
// so that nobody can take pages away from those who have it mapped.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <thread>

#include "cuda/contexts.h"
#include "cuda/memory.h"
#include "cuda/sharing.h"

using namespace aw;

namespace {

constexpr CUresult kMapFailed = static_cast<CUresult>(205);
constexpr unsigned kLazyPeerAccess = 1;  // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

struct IpcHandle {
  char bytes[64];
};

// What a handle holds.
struct Ticket {
  char magic[8];
  int32_t process, file;
  uint64_t bytes, device, inode, reserved[2], check;
};
static_assert(sizeof(Ticket) == sizeof(IpcHandle));
constexpr char kMagic[8] = {'A', 'W', 'I', 'P', 'C', 'M', 'E', '1'};

struct File {
  int number = -1;
  explicit File(int opened) : number(opened) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (number >= 0) close(number);
  }
};

struct Import {
  uint64_t device, inode, context_id;
  uint64_t references = 1;
};

struct Shared {
  std::mutex mutex;
  std::map<uint64_t, int> exported;  // the file of each allocation of ours, by its base
  std::map<uint64_t, Import> imported;
};

Shared& shared() {
  static Shared& instance = *new Shared;
  return instance;
}

void* at(uint64_t address) { return reinterpret_cast<void*>(address); }

uint64_t whole_pages(uint64_t bytes) {
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// FNV-1a over what precedes it: a damaged handle is told from a stale one.
uint64_t check_of(const Ticket& ticket) {
  auto* bytes = reinterpret_cast<const unsigned char*>(&ticket);
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = 0; i < offsetof(Ticket, check); ++i) sum = (sum ^ bytes[i]) * 0x100000001b3;
  return sum;
}

void write_all(int file, uint64_t from, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    ssize_t n = pwrite(file, at(from + done), bytes - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    require(n > 0, CUDA_ERROR_OUT_OF_MEMORY);
    done += static_cast<uint64_t>(n);
  }
}

// Puts a file with the same content in the place of memory that nothing uses meanwhile.
int replace_by_file(uint64_t base, uint64_t bytes) {
  File file(memfd_create("anywarp-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  require(file.number >= 0, CUDA_ERROR_OUT_OF_MEMORY);
  uint64_t whole = whole_pages(bytes);
  require(ftruncate(file.number, static_cast<off_t>(whole)) == 0, CUDA_ERROR_OUT_OF_MEMORY);
  write_all(file.number, base, whole);
  require(fcntl(file.number, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0,
          kMapFailed);
  void* got = mmap(at(base), whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.number, 0);
  require(got != MAP_FAILED, kMapFailed);
  int number = file.number;
  file.number = -1;
  return number;
}

bool is_idle(Context& context) {
  if (context.legacy && !context.legacy->idle()) return false;
  for (auto& stream : context.live_streams())
    if (!stream->idle()) return false;
  return true;
}

// Runs `body` while a context has no work and can be given none.
template <class Body>
void while_idle(Context& context, Body body) {
  for (;;) {
    context.wait_for_streams();
    std::unique_lock lock(context.submission);
    if (is_idle(context)) return body();
    lock.unlock();
    std::this_thread::yield();
  }
}

// With the mutex held. An allocation that was freed meanwhile is not found any more, and one that
// is about to be freed has to pass stop_sharing.
int share(const Allocation& a) {
  auto it = shared().exported.find(a.base);
  if (it != shared().exported.end()) return it->second;
  require(allocation_at(a.base).id == a.id);
  return shared().exported[a.base] = replace_by_file(a.base, a.bytes);
}

Ticket ticket_for(int file, uint64_t bytes) {
  struct stat status;
  require(fstat(file, &status) == 0, kMapFailed);
  Ticket ticket = {};
  memcpy(ticket.magic, kMagic, sizeof kMagic);
  ticket.process = getpid(), ticket.file = file, ticket.bytes = bytes;
  ticket.device = status.st_dev, ticket.inode = status.st_ino;
  ticket.check = check_of(ticket);
  return ticket;
}

Ticket export_memory(CUdeviceptr address) {
  auto context = current_context();
  Allocation a = allocation_at(address);
  require(a.base && a.kind == MemoryKind::device && !a.pool && !a.freeing);
  auto owner = a.context.lock();
  require(owner != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  if (owner != context) context->wait_for_streams();
  Ticket ticket;
  while_idle(*owner, [&] {
    std::lock_guard lock(shared().mutex);
    ticket = ticket_for(share(a), a.bytes);
  });
  return ticket;
}

Ticket read_ticket(const IpcHandle& handle) {
  Ticket ticket;
  memcpy(&ticket, &handle, sizeof ticket);
  bool good = memcmp(ticket.magic, kMagic, sizeof kMagic) == 0 && ticket.check == check_of(ticket);
  good = good && ticket.process > 0 && ticket.file >= 0 && ticket.bytes > 0 &&
         ticket.bytes < (1ull << 46);
  require(good, CUDA_ERROR_INVALID_HANDLE);
  return ticket;
}

bool is_file_of(const Ticket& ticket, const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_dev == ticket.device &&
         status.st_ino == ticket.inode &&
         static_cast<uint64_t>(status.st_size) == whole_pages(ticket.bytes);
}

// Looked at before it is opened, because opening what else may be there (a pipe, a device) has
// effects; and after, because it may have changed between.
int open_file(const Ticket& ticket) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", ticket.process, ticket.file);
  struct stat status;
  if (stat(path, &status) != 0 || !is_file_of(ticket, status)) {
    throw Failure(CUDA_ERROR_INVALID_HANDLE,
                  "process " + std::to_string(ticket.process) +
                      " shares no such memory: it freed it, has ended, or belongs to another user");
  }
  File file(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  bool good = file.number >= 0 && fstat(file.number, &status) == 0 && is_file_of(ticket, status);
  int seals = good ? fcntl(file.number, F_GET_SEALS) : -1;
  require(seals >= 0 && (seals & F_SEAL_SHRINK), CUDA_ERROR_INVALID_HANDLE);
  int number = file.number;
  file.number = -1;
  return number;
}

// Maps the file, with a page behind it that nothing may touch.
uint64_t map_file(int file, uint64_t bytes) {
  uint64_t whole = whole_pages(bytes), guarded = whole + whole_pages(1);
  void* place =
      mmap(nullptr, guarded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(place != MAP_FAILED, kMapFailed);
  void* got = mmap(place, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  if (got == MAP_FAILED) munmap(place, guarded);
  require(got != MAP_FAILED, kMapFailed);
  return reinterpret_cast<uint64_t>(place);
}

CUdeviceptr import_memory(const Ticket& ticket) {
  auto context = current_context();
  // As documented: a process cannot open what it shares itself.
  require(ticket.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);
  std::lock_guard lock(shared().mutex);
  for (auto& [base, known] : shared().imported) {
    if (known.device != ticket.device || known.inode != ticket.inode) continue;
    if (known.context_id != context->id) continue;
    ++known.references;
    return base;
  }
  File file(open_file(ticket));
  Allocation a;
  a.base = map_file(file.number, ticket.bytes), a.bytes = ticket.bytes;
  a.kind = MemoryKind::imported, a.context = context, a.context_id = context->id;
  uint64_t base = a.base;
  shared().imported[base] = {ticket.device, ticket.inode, context->id};
  enter(std::move(a));
  return base;
}

void close_memory(CUdeviceptr address) {
  auto context = current_context();
  Allocation a = allocation_at(address);
  require(a.base == address && a.base && a.kind == MemoryKind::imported);
  auto owner = a.context.lock();
  (owner ? owner : context)->wait_for_streams();
  {
    std::lock_guard lock(shared().mutex);
    auto it = shared().imported.find(address);
    require(it != shared().imported.end());
    if (--it->second.references > 0) return;
  }
  if (take(address, MemoryKind::imported, &a)) unmap_imported(a.base, a.bytes);
}

}  // namespace

namespace aw {

void stop_sharing(uint64_t base) {
  std::lock_guard lock(shared().mutex);
  auto it = shared().exported.find(base);
  if (it == shared().exported.end()) return;
  close(it->second);
  shared().exported.erase(it);
}

void unmap_imported(uint64_t base, uint64_t bytes) {
  std::lock_guard lock(shared().mutex);
  shared().imported.erase(base);
  munmap(at(base), whole_pages(bytes) + whole_pages(1));
}

}  // namespace aw

AW_EXPORT CUresult cuIpcGetMemHandle(IpcHandle* out, CUdeviceptr address) {
  return api<"cuIpcGetMemHandle">([&] {
    require(out);
    Ticket ticket = export_memory(address);
    memcpy(out, &ticket, sizeof ticket);
  });
}

AW_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* out, IpcHandle handle, unsigned flags) {
  return api<"cuIpcOpenMemHandle_v2">([&] {
    require(out && flags == kLazyPeerAccess);
    *out = import_memory(read_ticket(handle));
  });
}

AW_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr* out, IpcHandle handle, unsigned flags) {
  return api<"cuIpcOpenMemHandle">([&] { return cuIpcOpenMemHandle_v2(out, handle, flags); });
}

AW_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return api<"cuIpcCloseMemHandle">([&] { close_memory(address); });
}

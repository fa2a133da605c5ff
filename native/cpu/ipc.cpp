// Driver API reference: memory management, memory shared between processes. The first time that an
// allocation is asked for, a file in memory takes the place of its pages, at the same address.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <thread>

#include "cpu/memory.h"
#include "cpu/sharing.h"
#include "cpu/stream.h"
#include "cpu/tickets.h"
#include "cuda/contexts.h"

using namespace aw;

namespace {

constexpr char kMemoryMagic[9] = "AWIPCME1";
constexpr unsigned kLazyPeerAccess = 1;  // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

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
  seal(file.number);
  void* got = mmap(at(base), whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.number, 0);
  require(got != MAP_FAILED, CUDA_ERROR_MAP_FAILED);
  return file.release();
}

bool is_idle(Context& context) {
  if (context.legacy && !context.legacy->idle()) return false;
  for (auto& stream : live_streams(context))
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
    ticket = ticket_for(kMemoryMagic, share(a), a.bytes);
  });
  return ticket;
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
  a.device = context->device;
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
  unmap_file(base, bytes);
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
    *out = import_memory(read_ticket(kMemoryMagic, handle));
  });
}

AW_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr* out, IpcHandle handle, unsigned flags) {
  return api<"cuIpcOpenMemHandle">([&] { return cuIpcOpenMemHandle_v2(out, handle, flags); });
}

AW_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return api<"cuIpcCloseMemHandle">([&] { close_memory(address); });
}

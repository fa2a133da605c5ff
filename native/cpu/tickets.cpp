// Sealed files in memory and their handles.
#include "cpu/tickets.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include "cuda/contexts.h"

namespace aw {
namespace {

// FNV-1a over what precedes it: a damaged handle is told from a stale one.
uint64_t check_of(const Ticket& ticket) {
  auto* bytes = reinterpret_cast<const unsigned char*>(&ticket);
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = 0; i < offsetof(Ticket, check); ++i) sum = (sum ^ bytes[i]) * 0x100000001b3;
  return sum;
}

bool is_file_of(const Ticket& ticket, const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_dev == ticket.device &&
         status.st_ino == ticket.inode &&
         static_cast<uint64_t>(status.st_size) == whole_pages(ticket.bytes);
}

}  // namespace

uint64_t whole_pages(uint64_t bytes) {
  uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

void seal(int file) {
  require(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0,
          CUDA_ERROR_MAP_FAILED);
}

Ticket ticket_for(const char* magic, int file, uint64_t bytes) {
  struct stat status;
  require(fstat(file, &status) == 0, CUDA_ERROR_MAP_FAILED);
  Ticket ticket = {};
  memcpy(ticket.magic, magic, sizeof ticket.magic);
  ticket.process = getpid(), ticket.file = file, ticket.bytes = bytes;
  ticket.device = status.st_dev, ticket.inode = status.st_ino;
  ticket.check = check_of(ticket);
  return ticket;
}

Ticket read_ticket(const char* magic, const IpcHandle& handle) {
  Ticket ticket;
  memcpy(&ticket, &handle, sizeof ticket);
  bool good =
      memcmp(ticket.magic, magic, sizeof ticket.magic) == 0 && ticket.check == check_of(ticket);
  good = good && ticket.process > 0 && ticket.file >= 0 && ticket.bytes > 0 &&
         ticket.bytes < (1ull << 46);
  require(good, CUDA_ERROR_INVALID_HANDLE);
  return ticket;
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
                      " shares no such thing: it let go of it, has ended, or belongs to another "
                      "user");
  }
  File file(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  bool good = file.number >= 0 && fstat(file.number, &status) == 0 && is_file_of(ticket, status);
  int seals = good ? fcntl(file.number, F_GET_SEALS) : -1;
  require(seals >= 0 && (seals & F_SEAL_SHRINK), CUDA_ERROR_INVALID_HANDLE);
  return file.release();
}

uint64_t map_file(int file, uint64_t bytes, uint64_t offset) {
  uint64_t whole = whole_pages(bytes), guarded = whole + whole_pages(1);
  void* place =
      mmap(nullptr, guarded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(place != MAP_FAILED, CUDA_ERROR_MAP_FAILED);
  void* got = mmap(place, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                   static_cast<off_t>(offset));
  if (got == MAP_FAILED) munmap(place, guarded);
  require(got != MAP_FAILED, CUDA_ERROR_MAP_FAILED);
  return reinterpret_cast<uint64_t>(place);
}

void unmap_file(uint64_t base, uint64_t bytes) {
  munmap(at(base), whole_pages(bytes) + whole_pages(1));
}

}  // namespace aw

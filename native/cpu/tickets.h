// Files in memory that processes share, and the handles by which others find them.
//
// A file has no name: others reach it as /proc/PID/fd/N, which the kernel opens for processes of
// the same user only, and which leaves nothing behind however the process ends. Its size is sealed,
// so that nobody can take pages away from those who have it mapped.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "cuda/cuda_api.h"

namespace aw {

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

struct File {
  int number = -1;
  explicit File(int opened) : number(opened) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (number >= 0) close(number);
  }
  int release() {
    int out = number;
    number = -1;
    return out;
  }
};

inline void* at(uint64_t address) { return reinterpret_cast<void*>(address); }
uint64_t whole_pages(uint64_t bytes);

void seal(int file);
Ticket ticket_for(const char* magic, int file, uint64_t bytes);

// Throws INVALID_HANDLE for what is damaged or of another kind.
Ticket read_ticket(const char* magic, const IpcHandle& handle);

// Throws INVALID_HANDLE when the file is not there any more.
int open_file(const Ticket& ticket);

// Maps the file, with a page behind it that nothing may touch.
uint64_t map_file(int file, uint64_t bytes, uint64_t offset = 0);
void unmap_file(uint64_t base, uint64_t bytes);

}  // namespace aw

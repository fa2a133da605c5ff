// What the auditor needs of a C library. It has none, because auditors live in a namespace of their
// own, where a second libc would cost each process time and thread-local storage.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

extern "C" {
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
}

namespace aw::rebind {

inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline size_t length(const char* text) {
  size_t n = 0;
  while (text[n]) ++n;
  return n;
}

inline bool same(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

// A file descriptor, closed at the end.
class File {
 public:
  File(const char* path, int flags)
      : fd_(int(system_call(SYS_openat, AT_FDCWD, long(path), flags | O_CLOEXEC))) {}
  File(const File&) = delete;
  ~File() {
    if (fd_ >= 0) system_call(SYS_close, fd_);
  }
  bool is_open() const { return fd_ >= 0; }
  int number() const { return fd_; }
  long read(void* to, size_t bytes) const { return system_call(SYS_read, fd_, long(to), bytes); }
  bool read_at(void* to, size_t bytes, uint64_t offset) const {
    return system_call(SYS_pread64, fd_, long(to), bytes, offset) == long(bytes);
  }
  bool write_at(const void* from, size_t bytes, uint64_t offset) const {
    return system_call(SYS_pwrite64, fd_, long(from), bytes, offset) == long(bytes);
  }

 private:
  int fd_;
};

// One line for the user, written at once.
class Line {
 public:
  Line& operator<<(const char* text) {
    while (*text && used_ < sizeof(text_) - 1) text_[used_++] = *text++;
    return *this;
  }
  Line& operator<<(uint64_t number) {
    char digits[21];
    size_t at = sizeof(digits) - 1;
    digits[at] = 0;
    do digits[--at] = char('0' + number % 10);
    while (number /= 10);
    return *this << digits + at;
  }
  void say();  // unless ANYWARP_LOG forbids

 private:
  char text_[2048];
  size_t used_ = 0;
};

// The file mapped where `address` lies, from the list that the kernel keeps.
bool path_at(uint64_t address, char* path, size_t room);

const char* base_name(const char* path);

}  // namespace aw::rebind

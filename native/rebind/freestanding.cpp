#include "rebind/freestanding.h"

extern "C" {

// Volatile, so that the compiler does not make calls of these functions out of them.
__attribute__((visibility("hidden"))) void* memcpy(void* to, const void* from, size_t bytes) {
  auto* target = static_cast<volatile char*>(to);
  auto* source = static_cast<const char*>(from);
  while (bytes--) *target++ = *source++;
  return to;
}

__attribute__((visibility("hidden"))) void* memset(void* to, int value, size_t bytes) {
  auto* target = static_cast<volatile char*>(to);
  while (bytes--) *target++ = char(value);
  return to;
}

__attribute__((visibility("hidden"))) int memcmp(const void* a, const void* b, size_t bytes) {
  auto* first = static_cast<const volatile unsigned char*>(a);
  auto* second = static_cast<const volatile unsigned char*>(b);
  for (; bytes; --bytes, ++first, ++second)
    if (*first != *second) return *first - *second;
  return 0;
}
}

namespace aw::rebind {
namespace {

// True when the environment at the start of the process holds `ANYWARP_LOG=off`.
bool silenced() {
  static const char wanted[] = "ANYWARP_LOG=off";
  File environment("/proc/self/environ", O_RDONLY);
  if (!environment.is_open()) return false;
  char block[4096];
  size_t matched = 0;
  bool at_start = true;
  for (long bytes; (bytes = environment.read(block, sizeof(block))) > 0;) {
    for (long i = 0; i < bytes; ++i) {
      bool ends = block[i] == 0;
      if (ends && at_start && matched == sizeof(wanted) - 1) return true;
      bool fits = at_start && matched < sizeof(wanted) - 1 && block[i] == wanted[matched];
      matched = fits ? matched + 1 : 0;
      at_start = ends || fits;
    }
  }
  return false;
}

}  // namespace

bool path_at(uint64_t address, char* path, size_t room) {
  File maps("/proc/self/maps", O_RDONLY);
  if (!maps.is_open()) return false;
  char block[4096];
  uint64_t bounds[2] = {};
  size_t column = 0, used = 0;
  for (long bytes; (bytes = maps.read(block, sizeof(block))) > 0;) {
    for (long i = 0; i < bytes; ++i) {
      char c = block[i];
      if (c == '\n') {
        if (address >= bounds[0] && address < bounds[1]) return path[used] = 0, used > 0;
        bounds[0] = bounds[1] = column = used = 0;
      } else if (column < 2) {
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
          ++column;
        else
          bounds[column] = bounds[column] * 16 + uint64_t(digit);
      } else if ((used || c == '/') && used < room - 1) {
        path[used++] = c;
      }
    }
  }
  return false;
}

const char* base_name(const char* path) {
  const char* name = path;
  for (; *path; ++path)
    if (*path == '/') name = path + 1;
  return name;
}

void Line::say() {
  if (silenced()) return;
  text_[used_++] = '\n';
  system_call(SYS_write, 2, long(text_), long(used_));
}

}  // namespace aw::rebind

#include "core/stack_room.h"

#include <pthread.h>

#include <cstddef>

namespace aw {
namespace {

struct Bounds {
  uint64_t low = 0, high = 0;
  Bounds() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* address = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
      low = reinterpret_cast<uint64_t>(address);
      high = low + size;
    }
    pthread_attr_destroy(&attributes);
  }
};

}  // namespace

uint64_t stack_room() {
  thread_local const Bounds bounds;
  auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  return here > bounds.low && here < bounds.high ? here - bounds.low : 0;
}

}  // namespace aw

#include "devices/tiles.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace aw {
namespace {

std::atomic<bool> granted{false};

bool ask() {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
  const char* most = getenv("ANYWARP_PRODUCT");
  for (const char* less : {"avx512_bf16", "avx512", "avx2", "portable"}) {
    if (most && strcmp(most, less) == 0) return false;
  }
  granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#endif
  return granted;
}

}  // namespace

bool may_use_tiles() {
  static const bool may = ask();
  return may;
}

void release_tiles() {
#if defined(__x86_64__)
  // tilerelease, for assemblers that do not know it
  if (granted) asm volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0" ::: "memory");
#endif
}

}  // namespace aw

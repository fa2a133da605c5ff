// Handles that are numbers in CUDA (cufftHandle) and addresses in ROCm.
//
// Looking one up takes no lock: entries lie in pieces that never move. Numbers are used again, the
// lowest that is free first, as programs see them with CUDA's library.
#include <mutex>

#include "rocm/forward.h"

namespace aw::rocm {
namespace {

constexpr int kPiece = 1024, kPieces = 1024;

std::mutex& mutex() {
  static std::mutex& made = *new std::mutex;
  return made;
}
std::atomic<std::atomic<void*>*> pieces[kPieces];

std::atomic<void*>* entry(int handle) {
  if (handle < 1 || handle > kPiece * kPieces) return nullptr;
  std::atomic<void*>* piece = pieces[(handle - 1) / kPiece].load(std::memory_order_acquire);
  return piece ? piece + (handle - 1) % kPiece : nullptr;
}

}  // namespace

int own_enter(void* target) {
  std::lock_guard lock(mutex());
  for (int piece = 0; piece < kPieces; piece++) {
    std::atomic<void*>* entries = pieces[piece].load(std::memory_order_relaxed);
    if (!entries) {
      entries = new std::atomic<void*>[kPiece]();
      pieces[piece].store(entries, std::memory_order_release);
    }
    for (int i = 0; i < kPiece; i++) {
      if (entries[i].load(std::memory_order_relaxed)) continue;
      entries[i].store(target, std::memory_order_release);
      return piece * kPiece + i + 1;
    }
  }
  return 0;
}

int own_find(int handle, void** target) noexcept {
  std::atomic<void*>* found = entry(handle);
  *target = found ? found->load(std::memory_order_acquire) : nullptr;
  return *target ? 0 : 4;
}

void own_remove(int handle) noexcept {
  if (std::atomic<void*>* found = entry(handle)) found->store(nullptr, std::memory_order_release);
}

}  // namespace aw::rocm

// libanywarp_rebind.so, preloaded: finds the function of our libcudart for each redirected entry
// that is called. It loads libcudart at the first such call, so that a process without
// a redirected program pays for nothing.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "rebind/cuda11.h"
#include "rebind/entries.h"

using namespace aw::rebind;

static_assert(kThunks == AW_THUNKS_OF_ASSEMBLY, "thunks.S makes one for each number");

#define AW_SHOWN extern "C" __attribute__((visibility("default")))

AW_SHOWN Place anywarp_rebind_place;
Place anywarp_rebind_place = {kMagic, 0, 0, {}};

extern "C" {
// By number; written once found. The thunks read it.
__attribute__((visibility("hidden"))) std::atomic<void*> anywarp_rebind_found[kThunks];
__attribute__((visibility("hidden"))) void* anywarp_rebind_find(uint32_t number);
}

namespace {

constexpr int kNotSupported = 801;  // cudaErrorNotSupported
constexpr int kNoLibrary = 127;     // the status with which the loader ends a program, too

int not_supported() { return kNotSupported; }

// One line, put together without the C++ library.
class Line {
 public:
  Line& operator<<(const char* text) {
    size_t room = sizeof(text_) - 1 - used_, bytes = strlen(text);
    if (bytes > room) bytes = room;
    memcpy(text_ + used_, text, bytes);
    used_ += bytes;
    return *this;
  }
  void say() {
    const char* level = getenv("ANYWARP_LOG");
    if (level && strcmp(level, "off") == 0) return;
    text_[used_++] = '\n';
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text_, used_);
  }

 private:
  char text_[1024];
  size_t used_ = 0;
};

// libcudart.so.12 or .13 beside this library, and no other one.
void* open_runtime(int major) {
  Dl_info self;
  if (!dladdr(&anywarp_rebind_place, &self) || !self.dli_fname) return nullptr;
  const char* end = strrchr(self.dli_fname, '/');
  size_t folder = end ? size_t(end - self.dli_fname) + 1 : 0;
  char path[4096];
  if (folder + 32 > sizeof(path)) return nullptr;
  memcpy(path, self.dli_fname, folder);
  memcpy(path + folder, major == 12 ? "libcudart.so.12" : "libcudart.so.13", 16);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Opening it twice from two threads gives the same handle twice.
void* runtime(int major) {
  static std::atomic<void*> opened[2];
  std::atomic<void*>& handle = opened[major == 13];
  if (!handle.load(std::memory_order_acquire)) handle.store(open_runtime(major));
  if (void* found = handle.load(std::memory_order_acquire)) return found;
  const char* reason = dlerror();
  (Line() << "anywarp: error[N006]: libcudart for CUDA " << (major == 12 ? "12" : "13")
          << ", to which this program was redirected, cannot be loaded: "
          << (reason ? reason : "it is not there"))
      .say();
  _exit(kNoLibrary);
}

void say_absent(const char* name) {
  (Line() << "anywarp: warning[N004]: " << name
          << " was called, which our CUDA runtime does not know; it returns "
             "cudaErrorNotSupported (801)")
      .say();
}

}  // namespace

void* aw::rebind::find_in_twelve(const char* name) { return dlsym(runtime(12), name); }

void* anywarp_rebind_find(uint32_t number) {
  void* found = nullptr;
  const char* name = "?";
  if (number < kUnknownThunks) {
    name = kEntries[number % kKnown].name;
    int major = kMajors[number / kKnown];
    found = major == 11 ? find_for_eleven(name) : dlsym(runtime(major), name);
  } else if (number - kUnknownThunks < kUnknown) {
    name = anywarp_rebind_place.unknown[number - kUnknownThunks];
  }
  if (!found) {
    found = reinterpret_cast<void*>(&not_supported);
    if (!anywarp_rebind_found[number].load()) say_absent(name);
  }
  anywarp_rebind_found[number].store(found, std::memory_order_release);
  return found;
}

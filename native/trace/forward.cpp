// A libcuda.so.1 that passes every call on to NVIDIA's, whose path it is given, and tells the hub
// of activities of each (`anywarp run --device cuda --trace`). It knows no signatures: the thunks
// keep registers and stack as they are.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/activity.h"
#include "core/log.h"

namespace aw::forward {

struct Function {
  const char* name;
  const char* sizes;  // of the arguments that are told, in bytes, one digit each
  void (*thunk)();
};

}  // namespace aw::forward

#include "forward_table.inc"

namespace aw::forward {
namespace {

constexpr uint32_t kNamed = std::size(kFunctions), kSpares = std::size(kSpare);
constexpr int kNoDevice = 100, kNotFound = 500;
constexpr size_t kDeepest = 64;

using Target = void (*)();
std::atomic<Target> targets[kNamed + kSpares];
AwCallSite* sites[kNamed + kSpares];

struct Frame {
  AwCall call;
  void* return_address;
  uint32_t number;
  uint64_t registers[6];
  alignas(8) unsigned char params[128];
};

struct Thread {
  Frame frames[kDeepest];
  size_t depth = 0;
  uint32_t missing = 0;  // the function that the driver lacks and that is called next
};

Thread& thread() {
  thread_local Thread* mine = new Thread;
  return *mine;
}

const char* name_of(uint32_t number) { return sites[number]->name; }

// What the driver does not have.
int missing() {
  say(LogLevel::warn,
      std::string(name_of(thread().missing)) + " is not in NVIDIA's driver library");
  return kNotFound;
}

int no_driver() { return kNoDevice; }

void* driver() {
  static void* handle = [] {
    const char* path = getenv("ANYWARP_NVIDIA_DRIVER");
    void* found = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : nullptr;
    if (!found) {
      const char* why = path && *path ? dlerror() : "ANYWARP_NVIDIA_DRIVER is not set";
      say(LogLevel::error, std::string("NVIDIA's driver library cannot be loaded: ") + why);
    }
    return found;
  }();
  return handle;
}

__attribute__((constructor)) void name_sites() {
  for (uint32_t i = 0; i < kNamed; ++i)
    sites[i] = new AwCallSite{kFunctions[i].name, AW_DOMAIN_DRIVER};
}

Target target(uint32_t number) {
  Target known = targets[number].load(std::memory_order_acquire);
  if (known) return known;
  Target found = reinterpret_cast<Target>(&no_driver);
  if (driver()) found = reinterpret_cast<Target>(dlsym(driver(), name_of(number)));
  if (!found) {
    thread().missing = number;
    return reinterpret_cast<Target>(&missing);
  }
  targets[number].store(found, std::memory_order_release);
  return found;
}

// Functions that were handed out by address: the driver's own, and what stands for them.
struct HandedOut {
  std::mutex mutex;
  std::unordered_map<void*, Target> thunks;
  uint32_t spare = 0;
};

HandedOut& handed_out() {
  static HandedOut& instance = *[] {
    auto* made = new HandedOut;
    for (uint32_t i = 0; driver() && i < kNamed; ++i) {
      if (void* found = dlsym(driver(), kFunctions[i].name))
        made->thunks[found] = kFunctions[i].thunk;
    }
    return made;
  }();
  return instance;
}

// What stands for a function of the driver; the function itself when there is no place left.
void* stand_in(const char* name, void* function) {
  HandedOut& h = handed_out();
  std::lock_guard lock(h.mutex);
  auto known = h.thunks.find(function);
  if (known != h.thunks.end()) return reinterpret_cast<void*>(known->second);
  if (h.spare == kSpares) return function;
  uint32_t number = kNamed + h.spare;
  sites[number] = new AwCallSite{strdup(name), AW_DOMAIN_DRIVER};
  targets[number].store(reinterpret_cast<Target>(function), std::memory_order_release);
  h.thunks[function] = kSpare[h.spare];
  return reinterpret_cast<void*>(kSpare[h.spare++]);
}

bool gives_functions(uint32_t number) {
  return strncmp(name_of(number), "cuGetProcAddress", 16) == 0;
}

// Arguments as a C structure: the first six from registers, the others from the stack.
void keep_arguments(Frame& frame, const uint64_t* registers, const uint64_t* stack) {
  const char* sizes = frame.number < kNamed ? kFunctions[frame.number].sizes : "";
  uint32_t at = 0;
  for (unsigned i = 0; sizes[i]; ++i) {
    auto size = static_cast<uint32_t>(sizes[i] - '0');
    uint64_t word = i < 6 ? registers[i] : stack[1 + i - 6];
    at = (at + size - 1) / size * size;
    if (at + size > sizeof frame.params) break;
    memcpy(frame.params + at, &word, size);
    at += size;
  }
  frame.call.params = at ? frame.params : nullptr;
  frame.call.params_bytes = at;
}

// A launch says which kernel: as a range around the call, because when it ran is not known here.
void tell_kernel(const Frame& frame) {
  if (strncmp(name_of(frame.number), "cuLaunchKernel", 14) != 0 || !driver()) return;
  static auto name_of_function =
      reinterpret_cast<int (*)(const char**, void*)>(dlsym(driver(), "cuFuncGetName"));
  const char* kernel = nullptr;
  bool extended = strncmp(name_of(frame.number), "cuLaunchKernelEx", 16) == 0;
  auto* function = reinterpret_cast<void*>(frame.registers[extended ? 1 : 0]);
  if (!name_of_function || name_of_function(&kernel, function) != 0 || !kernel) return;
  AwRecord record{};
  record.kind = AW_ACTIVITY_RANGE;
  record.name = anywarp_activity_name((std::string("launch ") + kernel).c_str());
  record.begin = frame.call.begin, record.end = frame.call.end;
  record.correlation = frame.call.correlation;
  anywarp_activity_record(&record);
}

}  // namespace
}  // namespace aw::forward

using namespace aw::forward;

struct Direction {
  void (*function)();
  uint64_t returns_here;
};

extern "C" __attribute__((visibility("hidden"))) Direction
aw_forward_enter(uint32_t number, const uint64_t* registers, const uint64_t* stack) {
  Target function = target(number);
  static const std::atomic<uint32_t>& wanted = *anywarp_activity_wanted();
  bool heard = wanted.load(std::memory_order_relaxed) & AW_LISTEN_CALLS;
  Thread& t = thread();
  if (!(heard || gives_functions(number)) || t.depth == kDeepest) return {function, 0};
  Frame& frame = t.frames[t.depth++];
  frame.number = number;
  frame.return_address = reinterpret_cast<void*>(stack[0]);
  memcpy(frame.registers, registers, sizeof frame.registers);
  frame.call.site = nullptr;
  if (heard) {
    keep_arguments(frame, registers, stack);
    anywarp_activity_enter(&frame.call, sites[number]);
  }
  return {function, 1};
}

extern "C" __attribute__((visibility("hidden"))) void* aw_forward_exit(int result) {
  Thread& t = thread();
  Frame& frame = t.frames[--t.depth];
  if (frame.call.site) {
    anywarp_activity_exit(&frame.call, result);
    tell_kernel(frame);
  }
  if (result == 0 && gives_functions(frame.number)) {
    auto* out = reinterpret_cast<void**>(frame.registers[1]);
    if (out && *out) *out = stand_in(reinterpret_cast<const char*>(frame.registers[0]), *out);
  }
  return frame.return_address;
}

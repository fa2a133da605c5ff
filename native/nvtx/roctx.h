// On the device hip, ranges of the program go to AMD's profilers too, as ROCTx ranges, where their
// library is there.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace aw {

struct Roctx {
  void (*mark)(const char*) = nullptr;
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
  uint64_t (*start)(const char*) = nullptr;
  void (*stop)(uint64_t) = nullptr;
};

// The library that a profiler has brought into the process, else the first that is installed; null
// without one, and on other devices.
inline const Roctx* roctx() {
  static const Roctx* const found = []() -> const Roctx* {
    const char* device = getenv("ANYWARP_DEVICE");
    if (!device || strncmp(device, "hip", 3) != 0) return nullptr;
    void* library = nullptr;
    for (int how : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW})
      for (const char* name : {"librocprofiler-sdk-roctx.so.1", "libroctx64.so.4"})
        if (!library) library = dlopen(name, how);
    if (!library) return nullptr;
    auto* made = new Roctx;
    auto load = [&](auto& to, const char* name) {
      to = reinterpret_cast<std::decay_t<decltype(to)>>(dlsym(library, name));
      return to != nullptr;
    };
    bool whole = load(made->mark, "roctxMarkA") & load(made->push, "roctxRangePushA") &
                 load(made->pop, "roctxRangePop") & load(made->start, "roctxRangeStartA") &
                 load(made->stop, "roctxRangeStop");
    return whole ? made : nullptr;
  }();
  return found;
}

// The number that a program holds for a range stands for our range (0: nobody listened) and AMD's.
struct RangePair {
  uint64_t ours = 0, amd = 0;
  bool known = false;
};

struct RangePairs {
  std::mutex mutex;
  std::unordered_map<uint64_t, RangePair> open;
  uint64_t next = 1;
};

inline RangePairs& range_pairs() {
  static RangePairs& instance = *new RangePairs;
  return instance;
}

inline uint64_t pair_ranges(uint64_t ours, uint64_t amd) {
  constexpr uint64_t kPair = uint64_t{1} << 63;
  RangePairs& all = range_pairs();
  std::lock_guard lock(all.mutex);
  const uint64_t number = kPair | all.next++;
  all.open[number] = {ours, amd, true};
  return number;
}

inline RangePair unpair_ranges(uint64_t number) {
  RangePairs& all = range_pairs();
  std::lock_guard lock(all.mutex);
  auto found = all.open.find(number);
  if (found == all.open.end()) return {};
  const RangePair pair = found->second;
  all.open.erase(found);
  return pair;
}

}  // namespace aw

#include "memory_history.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

namespace awt {
namespace {

std::atomic<StackCallback> stack_callback{nullptr};
std::atomic<bool> native_wanted{false};
std::atomic<OutOfMemoryObserver> observer{nullptr};

std::mutex words_mutex;
std::string& metadata() {
  static auto& instance = *new std::string;
  return instance;
}

// Native stacks by number, each once.
using Addresses = std::vector<void*>;
struct NativeStacks {
  std::mutex mutex;
  std::map<Addresses, int64_t> numbers;
  std::vector<const Addresses*> all;
};
NativeStacks& native_stacks() {
  static auto& instance = *new NativeStacks;
  return instance;
}

constexpr int kMostFrames = 64, kOwnFrames = 2;

int64_t native_part() {
  void* found[kMostFrames];
  const int count = backtrace(found, kMostFrames);
  Addresses addresses(found + std::min(kOwnFrames, count), found + count);
  auto& stacks = native_stacks();
  std::lock_guard lock(stacks.mutex);
  auto [place, fresh] = stacks.numbers.try_emplace(std::move(addresses), 0);
  if (fresh) {
    stacks.all.push_back(&place->first);
    place->second = static_cast<int64_t>(stacks.all.size());
  }
  return place->second << 31;
}

void add_quoted(std::string& out, const char* text) {
  out += '"';
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') out += '\\';
    if (static_cast<unsigned char>(*text) >= 0x20) out += *text;
  }
  out += '"';
}

}  // namespace

const char* trace_action_name(TraceAction action) {
  static constexpr const char* kNames[] = {
      "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "snapshot",
      "oom"};
  return kNames[static_cast<size_t>(action)];
}

void Trace::add(TraceEntry entry, size_t most) {
  if (most == 0) return;
  if (entries_.size() > most) clear();
  if (entries_.size() < most) {
    entries_.push_back(std::move(entry));
    return;
  }
  entries_[next_] = std::move(entry);
  next_ = (next_ + 1) % most;
}

std::vector<TraceEntry> Trace::in_order() const {
  std::vector<TraceEntry> found(entries_.begin() + static_cast<std::ptrdiff_t>(next_),
                                entries_.end());
  found.insert(found.end(), entries_.begin(),
               entries_.begin() + static_cast<std::ptrdiff_t>(next_));
  return found;
}

void set_trace_metadata(const std::string& words) {
  std::lock_guard lock(words_mutex);
  metadata() = words;
}

std::string trace_metadata() {
  std::lock_guard lock(words_mutex);
  return metadata();
}

int64_t now_in_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void observe_out_of_memory(OutOfMemoryObserver callback) { observer = callback; }

void tell_out_of_memory(int64_t device, int64_t allocated, int64_t total, int64_t free) {
  if (auto callback = observer.load()) callback(device, allocated, total, free);
}

void set_stack_callback(StackCallback callback, bool native_frames) {
  stack_callback = callback;
  native_wanted = native_frames;
}

int64_t capture_stack(Stacks) {
  const auto callback = stack_callback.load();
  const int64_t python = callback ? callback() & 0x7fffffff : 0;
  return native_wanted ? python | native_part() : python;
}

std::string native_frames(int64_t stack) {
  auto& stacks = native_stacks();
  const Addresses* addresses = nullptr;
  {
    std::lock_guard lock(stacks.mutex);
    const int64_t number = stack >> 31;
    if (number < 1 || number > static_cast<int64_t>(stacks.all.size())) return "[]";
    addresses = stacks.all[static_cast<size_t>(number) - 1];
  }
  std::string out = "[";
  for (void* address : *addresses) {
    Dl_info info{};
    if (!dladdr(address, &info)) continue;
    int status = -1;
    char* plain =
        info.dli_sname ? abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status) : nullptr;
    if (out.size() > 1) out += ',';
    out += '[';
    add_quoted(out, plain ? plain : info.dli_sname ? info.dli_sname : "??");
    out += ',';
    add_quoted(out, info.dli_fname ? info.dli_fname : "??");
    out += ']';
    std::free(plain);
  }
  return out + "]";
}

}  // namespace awt

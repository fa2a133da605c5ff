// The hub: who listens, which calls this thread is in, numbers for texts, ranges.
#include "core/activity.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/activity_hub.h"

namespace aw {
namespace {

constexpr size_t kListeners = std::size(AwCall{}.listener_data);
constexpr uint32_t kMostNames = 1 << 20;
constexpr size_t kMostOpenRanges = 1 << 16;

std::atomic<uint32_t> wanted{0}, next_correlation{1};
std::atomic<AwListener*> listeners[kListeners];

struct OpenRange {
  uint32_t name, color;
  uint64_t begin;
};

struct Thread {
  AwCall* call = nullptr;
  bool telling = false;  // a listener runs: what it calls is no activity of the program
  uint32_t id = 0;
};

thread_local constinit Thread thread;

// Of this thread, and only there once a range was pushed.
std::vector<OpenRange>& open_ranges() {
  thread_local std::vector<OpenRange> ranges;
  return ranges;
}

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

struct Names {
  std::mutex mutex;
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers;
  std::deque<const std::string*> texts;  // of number 1, 2, ...
};

Names& names() {
  static Names& instance = *new Names;
  return instance;
}

struct Ranges {
  std::mutex mutex;
  std::unordered_map<uint64_t, OpenRange> open;
  uint64_t next = 1;
};

Ranges& ranges() {
  static Ranges& instance = *new Ranges;
  return instance;
}

uint64_t clock_offset() {
  timespec wall, steady;
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_MONOTONIC, &steady);
  auto number = [](const timespec& t) {
    return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
  };
  return number(wall) - number(steady);
}

// Changed by its owner at any time.
uint32_t wants_of(const AwListener& listener) {
  return __atomic_load_n(&listener.wants, __ATOMIC_RELAXED);
}

void recompute_wanted() {
  uint32_t all = 0;
  for (auto& entry : listeners) {
    if (AwListener* listener = entry.load()) all |= wants_of(*listener);
  }
  wanted.store(all);
}

template <class Tell>
void tell(uint32_t what, Tell&& each) {
  if (thread.telling) return;
  thread.telling = true;
  for (uint32_t i = 0; i < kListeners; ++i) {
    AwListener* listener = listeners[i].load(std::memory_order_acquire);
    if (listener && (wants_of(*listener) & what)) each(*listener, i);
  }
  thread.telling = false;
}

AwRecord of_program(uint32_t kind, const OpenRange& range, uint64_t end) {
  AwRecord record{};
  record.kind = kind, record.thread = thread_number(), record.name = range.name;
  record.begin = range.begin, record.end = end;
  record.correlation = current_correlation();
  record.flags = range.color;
  return record;
}

// NVTX keeps its domains apart; in the name is where everybody sees it.
OpenRange begin_range(const char* domain, const char* text, uint32_t color) {
  std::string whole = domain && *domain ? std::string(domain) + ": " : "";
  whole += text ? text : "";
  return {anywarp_activity_name(whole.c_str()), color, anywarp_activity_now()};
}

// What a parent's other threads held does not exist in a forked child.
void begin_hub_anew() {
  new (&names().mutex) std::mutex;
  new (&ranges().mutex) std::mutex;
  thread.id = 0;
}

const uint64_t offset = clock_offset();

__attribute__((constructor)) void start() {
  pthread_atfork(nullptr, nullptr, begin_hub_anew);
  start_trace();
  start_copies();
}

}  // namespace

uint32_t thread_number() {
  if (!thread.id) thread.id = static_cast<uint32_t>(syscall(SYS_gettid));
  return thread.id;
}

uint32_t current_correlation() { return thread.call ? thread.call->correlation : 0; }

void tell_record(const AwRecord& record) {
  static constexpr uint32_t bit[] = {0,
                                     AW_LISTEN_CALLS,
                                     AW_LISTEN_WORK,
                                     AW_LISTEN_WORK,
                                     AW_LISTEN_WORK,
                                     AW_LISTEN_WORK,
                                     AW_LISTEN_WORK,
                                     AW_LISTEN_WORK,
                                     AW_LISTEN_WORK,
                                     AW_LISTEN_WORK,
                                     AW_LISTEN_GRAPHS,
                                     AW_LISTEN_MEMORY,
                                     AW_LISTEN_RANGES,
                                     AW_LISTEN_RANGES};
  if (record.kind >= std::size(bit)) return;
  uint32_t what = record.node ? uint32_t{AW_LISTEN_NODES} : bit[record.kind];
  tell(what, [&](AwListener& listener, uint32_t) {
    if (listener.record) listener.record(&record);
  });
}

void tell_resource(const AwResource& resource) {
  tell(AW_LISTEN_RESOURCES, [&](AwListener& listener, uint32_t) {
    if (listener.resource) listener.resource(&resource);
  });
}

}  // namespace aw

using namespace aw;

AW_HUB const std::atomic<uint32_t>* anywarp_activity_wanted() { return &wanted; }

AW_HUB void anywarp_activity_enter(AwCall* call, AwCallSite* site) {
  call->site = site, call->outer = thread.call, call->listeners = 0, call->result = 0;
  // A function that uses another of the same library is one call to the program.
  bool inner = thread.call && thread.call->site->domain == site->domain;
  if (inner || thread.telling) {
    call->site = nullptr;
    return;
  }
  if (!site->name_id.load(std::memory_order_relaxed))
    site->name_id.store(anywarp_activity_name(site->name), std::memory_order_relaxed);
  call->correlation = thread.call ? thread.call->correlation
                                  : next_correlation.fetch_add(1, std::memory_order_relaxed);
  thread.call = call;
  tell(AW_LISTEN_CALLS, [&](AwListener& listener, uint32_t i) {
    call->listeners |= 1u << i;
    call->listener_data[i] = 0;
    if (listener.enter) listener.enter(call);
  });
  call->begin = anywarp_activity_now();
}

AW_HUB void anywarp_activity_exit(AwCall* call, int result) {
  if (!call->site) return;
  call->end = anywarp_activity_now();
  call->result = result;
  thread.call = call->outer;
  tell(AW_LISTEN_CALLS, [&](AwListener& listener, uint32_t i) {
    if ((call->listeners >> i & 1) && listener.exit) listener.exit(call);
  });
}

AW_HUB int anywarp_activity_range_push(const char* domain, const char* text, uint32_t color) {
  auto& open = open_ranges();
  if (open.size() < kMostOpenRanges) {
    bool heard = wanted.load(std::memory_order_relaxed) & AW_LISTEN_RANGES;
    open.push_back(heard ? begin_range(domain, text, color) : OpenRange{});
  }
  return static_cast<int>(open.size()) - 1;
}

AW_HUB int anywarp_activity_range_pop(const char*) {
  auto& open = open_ranges();
  if (open.empty()) return -1;
  OpenRange range = open.back();
  open.pop_back();
  if (range.name) tell_record(of_program(AW_ACTIVITY_RANGE, range, anywarp_activity_now()));
  return static_cast<int>(open.size());
}

AW_HUB uint64_t anywarp_activity_range_start(const char* domain, const char* text, uint32_t color) {
  OpenRange range = begin_range(domain, text, color);
  std::lock_guard lock(ranges().mutex);
  uint64_t number = ranges().next++;
  if (ranges().open.size() < kMostOpenRanges) ranges().open[number] = range;
  return number;
}

AW_HUB void anywarp_activity_range_end(uint64_t number) {
  OpenRange range;
  {
    std::lock_guard lock(ranges().mutex);
    auto found = ranges().open.find(number);
    if (found == ranges().open.end()) return;
    range = found->second;
    ranges().open.erase(found);
  }
  AwRecord record = of_program(AW_ACTIVITY_RANGE, range, anywarp_activity_now());
  record.other.handle = number;
  tell_record(record);
}

AW_HUB void anywarp_activity_mark(const char* domain, const char* text, uint32_t color) {
  if (!(wanted.load(std::memory_order_relaxed) & AW_LISTEN_RANGES)) return;
  OpenRange range = begin_range(domain, text, color);
  tell_record(of_program(AW_ACTIVITY_MARK, range, range.begin));
}

AW_HUB void anywarp_activity_record(const AwRecord* record) { tell_record(*record); }

AW_HUB uint64_t anywarp_activity_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec) + offset;
}

AW_HUB uint32_t anywarp_activity_name(const char* text) {
  Names& n = names();
  std::lock_guard lock(n.mutex);
  if (auto found = n.numbers.find(std::string_view(text)); found != n.numbers.end())
    return found->second;
  bool full = n.texts.size() + 1 >= kMostNames;
  auto number = static_cast<uint32_t>(n.texts.size() + (full ? 0 : 1));
  if (full) return number;
  auto [entry, added] =
      n.numbers.emplace(n.texts.size() + 2 == kMostNames ? "(a name too many)" : text, number);
  n.texts.push_back(&entry->first);
  return number;
}

AW_HUB const char* anywarp_activity_text(uint32_t name) {
  Names& n = names();
  std::lock_guard lock(n.mutex);
  return name && name <= n.texts.size() ? n.texts[name - 1]->c_str() : "";
}

AW_HUB int anywarp_activity_listen(AwListener* listener) {
  static std::mutex& mutex = *new std::mutex;
  std::lock_guard lock(mutex);
  uint32_t free = kListeners;
  for (uint32_t i = 0; i < kListeners; ++i) {
    AwListener* there = listeners[i].load();
    if (there == listener) {
      if (!listener->wants) listeners[i] = nullptr;
      recompute_wanted();
      return 0;
    }
    if (!there && free == kListeners) free = i;
  }
  if (!listener->wants) return 0;
  if (free == kListeners) return -1;
  listener->slot = free;
  listeners[free].store(listener);
  recompute_wanted();
  return 0;
}

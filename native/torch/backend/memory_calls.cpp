// What Python calls about memory (names/memory.py and its neighbours).
#include <cstring>
#include <thread>

#include "allocator.h"
#include "device_memory.h"
#include "devices.h"
#include "exported.h"
#include "memory_pools.h"
#include "memory_text.h"
#include "pinned_stats.h"
#include "plugged_allocator.h"
#include "streams.h"

using namespace awt;

namespace {

c10::DeviceIndex index(int device) { return static_cast<c10::DeviceIndex>(device); }

void require_native(const char* function) {
  if (plugged()) raise_unsupported_by_plugin(function);
}

int64_t* write(int64_t* out, const Counter& counter) {
  *out++ = counter.current, *out++ = counter.peak;
  *out++ = counter.allocated, *out++ = counter.freed;
  return out;
}

// Texts go out as a pointer that is good until the thread's next call.
const char* text(std::string words) {
  thread_local std::string kept;
  kept = std::move(words);
  return kept.c_str();
}

PoolFilter filter(int kind, c10::DeviceIndex device) {
  if (kind == 1)
    return
        [id = std::this_thread::get_id()](c10::Stream) { return std::this_thread::get_id() == id; };
  if (kind == 2)
    return [stream = current_stream(device)](c10::Stream each) { return each == stream; };
  return [](c10::Stream) { return true; };
}

}  // namespace

// 9 counters of pools (4 numbers each for all, small, large), 2 counters, 7 numbers: as
// names/memory_stats.py lists them.
AWT_EXPORT int awt_memory_stats(int device, int64_t* out) {
  return exported([&] {
    require_native("getDeviceStats");
    MemoryStats stats = device_memory(index(device)).stats();
    stats.each_pool_counter([&](const char*, const PoolCounters& counters) {
      out = write(write(write(out, counters.all), counters.small_pool), counters.large_pool);
    });
    out = write(write(out, stats.oversize_allocations), stats.oversize_segments);
    for (int64_t each : {stats.num_alloc_retries, stats.num_ooms, stats.num_sync_all_streams,
                         stats.num_device_alloc, stats.num_device_free, stats.num_oom_rejections,
                         static_cast<int64_t>(memory_settings().max_split_size)})
      *out++ = each;
  });
}

// JSON: {"graph,hand": [12 numbers]}
AWT_EXPORT int awt_memory_stats_by_pool(int device, const char** out) {
  return exported([&] {
    std::string found = "{";
    for (auto& [id, counters] : device_memory(index(device)).stats_by_pool()) {
      int64_t numbers[12];
      write(write(write(numbers, counters.all), counters.small_pool), counters.large_pool);
      if (found.size() > 1) found += ',';
      found += '"' + std::to_string(id.first) + ',' + std::to_string(id.second) + "\":[";
      for (int64_t each : numbers) found += std::to_string(each) + ',';
      found.back() = ']';
    }
    *out = text(found + "}");
  });
}

AWT_EXPORT int awt_memory_reset(int device, int peaks) {
  return exported([&] {
    require_native(peaks ? "resetPeakStats" : "resetAccumulatedStats");
    DeviceMemory& memory = device_memory(index(device));
    peaks ? memory.reset_peak() : memory.reset_accumulated();
  });
}

AWT_EXPORT int awt_memory_empty_cache() {
  return exported([&] { empty_all_caches(); });
}

AWT_EXPORT int awt_memory_set_fraction(double fraction, int device) {
  return exported([&] {
    require_native("setMemoryFraction");
    device_memory(index(device)).set_fraction(fraction);
  });
}
AWT_EXPORT int awt_memory_fraction(int device, double* out) {
  return exported([&] {
    require_native("getMemoryFraction");
    *out = device_memory(index(device)).fraction();
  });
}

AWT_EXPORT int awt_memory_info(int device, int64_t* available, int64_t* total) {
  return exported([&] {
    TORCH_CHECK(device >= 0 && device < device_count(), "CUDA error: invalid device ordinal");
    const auto [a, t] = free_and_total(index(device));
    *available = static_cast<int64_t>(a), *total = static_cast<int64_t>(t);
  });
}

AWT_EXPORT int awt_memory_allocate(int64_t bytes, void* stream, uint64_t* out) {
  return exported([&] {
    TORCH_CHECK(bytes >= 0, "a negative size of memory: ", bytes);
    const c10::DeviceIndex device = current_device();
    enter_thread();
    *out = bytes == 0 ? 0
                      : reinterpret_cast<uint64_t>(allocate_raw_on(
                            static_cast<size_t>(bytes), external_stream(stream, device)));
  });
}
AWT_EXPORT int awt_memory_free(void* memory) {
  return exported([&] {
    if (!memory) return;
    TORCH_CHECK(device_of(memory) >= 0, "invalid device pointer: ", memory);
    free_raw(memory);
  });
}
AWT_EXPORT int awt_memory_base(const void* address, uint64_t* base, uint64_t* bytes) {
  return exported([&] {
    const c10::DeviceIndex device = device_of(address);
    TORCH_CHECK(device >= 0, "invalid device pointer: ", address);
    const auto [begin, size] = device_memory(device).segment_of(address);
    TORCH_CHECK(begin, "invalid device pointer: ", address);
    *base = reinterpret_cast<uint64_t>(begin), *bytes = size;
  });
}

AWT_EXPORT int awt_memory_set_caching(int on) {
  return exported([&] { set_caching(on != 0); });
}
AWT_EXPORT int awt_memory_caching(int* out) {
  return exported([&] { *out = !memory_settings().disabled; });
}

// JSON of the settings in force that a snapshot shows.
AWT_EXPORT int awt_memory_settings(const char** out) {
  return exported([&] {
    const auto& s = memory_settings();
    std::string words =
        "{\"max_split_size\":" + std::to_string(static_cast<int64_t>(s.max_split_size));
    words += ",\"garbage_collection_threshold\":" + std::to_string(s.garbage_collection_threshold);
    words += std::string(",\"expandable_segments\":") + (s.expandable_segments ? "true" : "false");
    words += ",\"roundup_power2_divisions\":[";
    for (size_t each : s.roundup_divisions) words += std::to_string(each) + ',';
    if (words.back() == ',') words.pop_back();
    *out = text(words + "]}");
  });
}
// Apart, because it is a user's words and not JSON.
AWT_EXPORT int awt_memory_settings_text(const char** out) {
  return exported([&] { *out = text(memory_settings().text); });
}
AWT_EXPORT int awt_memory_set_settings(const char* words) {
  return exported([&] { set_memory_settings(words); });
}

// Pools. `which`: 0 every stream, 1 this thread, 2 the current stream.
AWT_EXPORT int awt_pool_new_id(int by_hand, uint64_t* graph, uint64_t* hand) {
  return exported([&] {
    const PoolId id = new_pool_id(by_hand != 0);
    *graph = id.first, *hand = id.second;
  });
}
AWT_EXPORT int awt_pool_open(int device, uint64_t graph, uint64_t hand, void* allocate, void* free,
                             int use_on_oom, int no_split) {
  return exported([&] {
    require_native("createOrIncrefPool");
    std::shared_ptr<const Plugin> plugin;
    if (allocate)
      plugin =
          std::make_shared<Plugin>(Plugin{reinterpret_cast<decltype(Plugin::allocate)>(allocate),
                                          reinterpret_cast<decltype(Plugin::free)>(free)});
    DeviceMemory& memory = device_memory(index(device));
    memory.open_pool({graph, hand}, std::move(plugin));
    memory.set_pool_flags({graph, hand}, use_on_oom != 0, no_split != 0);
  });
}
AWT_EXPORT int awt_pool_begin(int device, uint64_t graph, uint64_t hand, int which) {
  return exported([&] {
    require_native("beginAllocateToPool");
    begin_allocate_to_pool(index(device), {graph, hand}, filter(which, index(device)));
  });
}
AWT_EXPORT int awt_pool_end(int device, uint64_t graph, uint64_t hand) {
  return exported([&] { end_allocate_to_pool(index(device), {graph, hand}); });
}
AWT_EXPORT int awt_pool_release(int device, uint64_t graph, uint64_t hand) {
  return exported([&] { release_pool(index(device), {graph, hand}); });
}
AWT_EXPORT int awt_pool_empty(int device, uint64_t graph, uint64_t hand) {
  return exported([&] { device_memory(index(device)).empty_cache({graph, hand}); });
}
AWT_EXPORT int awt_pool_uses(int device, uint64_t graph, uint64_t hand, int* out) {
  return exported([&] { *out = device_memory(index(device)).pool_uses({graph, hand}); });
}
AWT_EXPORT int awt_pool_holds_exactly(int device, uint64_t graph, uint64_t hand,
                                      void* const* expected, int64_t count, int* out) {
  return exported([&] {
    *out = device_memory(index(device))
               .pool_holds_exactly({graph, hand}, {expected, expected + count});
  });
}

// Allocators of the user's.
AWT_EXPORT int awt_memory_plug_in(void* allocate, void* free) {
  return exported([&] {
    TORCH_CHECK(!any_memory_made(), "Can't swap an already initialized allocator");
    plug_in(std::make_shared<Plugin>(Plugin{reinterpret_cast<decltype(Plugin::allocate)>(allocate),
                                            reinterpret_cast<decltype(Plugin::free)>(free)}));
  });
}

// History and snapshots.
AWT_EXPORT int awt_memory_history(int recording, int stacks, uint64_t most, int clear,
                                  uint32_t skipped, StackCallback callback, int native_frames) {
  return exported([&] {
    auto& settings = history_settings();
    settings.recording = false;
    settings.stacks = 0;
    set_stack_callback(callback, native_frames != 0);
    settings.most_entries = most;
    settings.skipped = skipped;
    if (!recording || clear)
      for (c10::DeviceIndex device = 0; device < device_count(); ++device)
        if (device_memory_made(device)) device_memory(device).clear_trace();
    if (!recording) return;
    settings.stacks = stacks;
    settings.recording = true;
  });
}
AWT_EXPORT int awt_memory_history_enabled(int* out) {
  return exported([&] { *out = history_settings().recording; });
}
AWT_EXPORT int awt_memory_set_metadata(const char* words) {
  return exported([&] { set_trace_metadata(words); });
}
AWT_EXPORT int awt_memory_metadata(const char** out) {
  return exported([&] { *out = text(trace_metadata()); });
}
AWT_EXPORT int awt_memory_stack_of(const void* address, int64_t* out) {
  return exported([&] {
    const c10::DeviceIndex device = device_of(address);
    *out = device < 0 ? 0 : device_memory(device).stack_of(address);
  });
}
AWT_EXPORT int awt_memory_native_frames(int64_t stack, const char** out) {
  return exported([&] { *out = text(native_frames(stack)); });
}
// A JSON array with an object per device: {"segments": [...], "trace": [...]}.
AWT_EXPORT int awt_memory_snapshot(uint64_t graph, uint64_t hand, int traces, const char** out) {
  return exported([&] {
    require_native("snapshot");
    const int64_t stack = stack_for(Stacks::state);
    std::string found = "[";
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
      if (found.size() > 1) found += ',';
      if (!device_memory_made(device)) {
        found += "{\"segments\":[],\"trace\":[]}";
        continue;
      }
      device_memory(device).snapshot_taken(stack);
      device_memory(device).write_snapshot(found, {graph, hand}, traces != 0);
    }
    *out = text(found + "]");
  });
}
AWT_EXPORT int awt_memory_observe_oom(OutOfMemoryObserver observer) {
  return exported([&] { observe_out_of_memory(observer); });
}

// Page-locked memory: 4 counters, 2 durations of total, max, min, count.
AWT_EXPORT int awt_pinned_stats(int64_t* out) {
  return exported([&] {
    const PinnedStats stats = pinned_stats();
    out = write(write(out, stats.allocations), stats.allocated_bytes);
    out = write(write(out, stats.active_requests), stats.active_bytes);
    for (const Duration& each : {stats.alloc_time, stats.free_time})
      *out++ = each.total, *out++ = each.max, *out++ = each.min, *out++ = each.count;
  });
}
AWT_EXPORT int awt_pinned_reset(int peaks) {
  return exported([&] { reset_pinned_stats(peaks != 0); });
}
AWT_EXPORT int awt_pinned_empty_cache() {
  return exported([&] { empty_pinned_cache(); });
}
AWT_EXPORT int awt_pinned_allocator(uint64_t* out) {
  return exported([&] { *out = reinterpret_cast<uint64_t>(pinned_allocator()); });
}

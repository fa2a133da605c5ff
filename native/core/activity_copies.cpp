// What a program copies from its device to the host, kept for `anywarp record`: such buffers are
// the results that it looks at (docs/contracts.md, section 12).
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/activity_hub.h"
#include "core/file_limit.h"
#include "core/log.h"
#include "core/settings.h"

namespace aw {
namespace {

#ifdef ANYWARP_FORWARDING
constexpr bool kForwarding = true;  // in the library that passes calls on to NVIDIA's driver
#else
constexpr bool kForwarding = false;
#endif
constexpr size_t kMostPending = 4096, kLongestName = 1000;

// Stands before each copy in the file: then come the kernel's name and the bytes that are kept.
struct Head {
  char magic[4];
  uint32_t name_bytes;
  uint64_t bytes;  // of the copy
  uint64_t kept;   // 0 where there was no room
};

struct Pending {
  const void* place;
  uint64_t bytes;
  std::string after;
};

struct Copies {
  std::mutex mutex;
  std::string folder, kernel;
  int descriptor = -1;
  uint64_t written = 0, room = 0;
  bool ended = false;
  std::vector<Pending> pending;  // asynchronous ones, until somebody has waited
};

Copies& copies() {
  static Copies& instance = *new Copies;
  return instance;
}

// With the mutex held, as the following.
void give_up(Copies& c, const char* what) {
  c.ended = true;
  say(LogLevel::warn, std::string("copies to the host are not recorded any more: ") + what);
}

bool put(Copies& c, const void* content, uint64_t bytes) {
  auto* at = static_cast<const char*>(content);
  while (bytes) {
    ssize_t done = write(c.descriptor, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done, bytes -= static_cast<uint64_t>(done), c.written += static_cast<uint64_t>(done);
  }
  return true;
}

void keep(Copies& c, const void* place, uint64_t bytes, std::string_view after) {
  if (c.ended) return;
  if (c.descriptor < 0) {
    std::string path = c.folder + "/" + std::to_string(getpid()) + ".copies";
    c.descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (c.descriptor < 0) return give_up(c, "their file cannot be made");
  }
  after = after.substr(0, kLongestName);
  bool fits = bytes <= c.room;
  Head head{{'A', 'W', 'C', '1'}, static_cast<uint32_t>(after.size()), bytes, fits ? bytes : 0};
  if (!within_file_limit(c.written + sizeof head + after.size() + head.kept))
    return give_up(c, "files may not be longer (ulimit -f)");
  bool whole =
      put(c, &head, sizeof head) && put(c, after.data(), after.size()) && put(c, place, head.kept);
  if (!whole) return give_up(c, "their file cannot grow");
  c.room -= head.kept;
}

void keep_pending(Copies& c) {
  for (const Pending& each : c.pending) keep(c, each.place, each.bytes, each.after);
  c.pending.clear();
}

bool is_of_device(uint32_t kind) {
  return kind == AW_MEMORY_DEVICE || kind == AW_MEMORY_ARRAY || kind == AW_MEMORY_MANAGED;
}

// On the processor: work that is over, with what it did.
void done(const AwRecord* record) {
  Copies& c = copies();
  if (record->kind == AW_ACTIVITY_KERNEL) {
    std::lock_guard lock(c.mutex);
    c.kernel = anywarp_activity_text(record->name);
    return;
  }
  bool to_host =
      record->copy.to_kind == AW_MEMORY_PAGEABLE || record->copy.to_kind == AW_MEMORY_PINNED;
  if (record->kind != AW_ACTIVITY_COPY || !to_host || !is_of_device(record->copy.from_kind)) return;
  if (record->flags & AW_COPY_HAS_GAPS) return;
  std::lock_guard lock(c.mutex);
  keep(c, reinterpret_cast<const void*>(record->copy.to), record->copy.bytes, c.kernel);
}

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// Where only calls are seen: a copy that the program has waited for is in the host's memory.
void called(AwCall* call) {
  std::string_view name = call->site->name;
  bool waits = begins(name, "cuStreamSynchronize") || begins(name, "cuCtxSynchronize") ||
               begins(name, "cuEventSynchronize");
  bool later = begins(name, "cuMemcpyDtoHAsync_v2");
  bool now = begins(name, "cuMemcpyDtoH_v2");
  if (call->result != 0 || !(waits || later || now)) return;
  Copies& c = copies();
  std::lock_guard lock(c.mutex);
  if (waits) return keep_pending(c);
  struct {
    const void* to;
    uint64_t from, bytes;
  } given;
  if (call->params_bytes < sizeof given) return;
  memcpy(&given, call->params, sizeof given);
  if (later) {
    if (c.pending.size() < kMostPending) c.pending.push_back({given.to, given.bytes, c.kernel});
    return;
  }
  keep_pending(c);
  keep(c, given.to, given.bytes, c.kernel);
}

// The library that passes calls on tells of a launch as a range.
void launched(const AwRecord* record) {
  constexpr std::string_view kLaunch = "launch ";
  if (record->kind != AW_ACTIVITY_RANGE) return;
  std::string_view text = anywarp_activity_text(record->name);
  if (!begins(text, kLaunch)) return;
  Copies& c = copies();
  std::lock_guard lock(c.mutex);
  c.kernel = text.substr(kLaunch.size());
}

// A forked child writes a file of its own.
void begin_anew() {
  Copies& c = copies();
  new (&c.mutex) std::mutex;
  if (c.descriptor >= 0) close(c.descriptor);
  c.descriptor = -1;
  c.pending.clear();
}

}  // namespace

void start_copies() {
  const char* folder = getenv("ANYWARP_COPIES_DIR");
  const char* driver = getenv("ANYWARP_NVIDIA_DRIVER");
  const char* device = getenv("ANYWARP_DEVICE");
  bool elsewhere = driver && *driver;
  if (!folder || !*folder || elsewhere != kForwarding) return;
  Copies& c = copies();
  c.folder = folder;
  const char* limit = getenv("ANYWARP_COPIES_LIMIT");
  c.room = limit && *limit ? parse_size(limit) : uint64_t{256} << 20;
  pthread_atfork(nullptr, nullptr, begin_anew);
  bool by_calls = kForwarding || (device && begins(device, "hip"));
  static AwListener& listener = *new AwListener{};
  listener.wants = by_calls ? AW_LISTEN_CALLS | AW_LISTEN_RANGES | AW_LISTEN_WORK
                            : AW_LISTEN_WORK | AW_LISTEN_NODES;
  listener.record = kForwarding ? launched : done;
  if (by_calls) listener.exit = called;
  anywarp_activity_listen(&listener);
}

}  // namespace aw

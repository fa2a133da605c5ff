// Driver API reference: error log management.
#include "cuda/error_log.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "cuda/api.h"

namespace aw {
namespace {

constexpr size_t kMostEntries = 100;  // as documented for the buffer of the driver
constexpr size_t kMostBytes = 25600;  // likewise, of a dump into memory

struct Callback {
  CUlogsCallback function;
  void* data;
};

struct Log {
  std::mutex mutex;
  std::deque<std::string> entries;
  CUlogIterator first = 0;  // the number of the oldest entry that is kept
  std::map<uintptr_t, Callback> callbacks;
  uintptr_t next_callback = 1;
};

Log& log() {
  static auto& instance = *new Log;
  return instance;
}

std::string stamped(CUlogLevel level, const std::string& text) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  tm local;
  localtime_r(&now.tv_sec, &local);
  char head[96];
  size_t n = strftime(head, sizeof head, "[%H:%M:%S.", &local);
  snprintf(head + n, sizeof head - n, "%03ld][%d][CUDA][%c] ", now.tv_nsec / 1000000, getpid(),
           level == CU_LOG_LEVEL_ERROR ? 'E' : 'W');
  return head + text;
}

void keep(CUlogLevel level, const std::string& text) {
  thread_local bool inside = false;  // a callback's own errors are not told to it
  if (inside) return;
  std::map<uintptr_t, Callback> listeners;
  std::string line = stamped(level, text);
  {
    std::lock_guard lock(log().mutex);
    log().entries.push_back(line);
    if (log().entries.size() > kMostEntries) log().entries.pop_front(), ++log().first;
    listeners = log().callbacks;
  }
  inside = true;
  for (auto& [number, callback] : listeners)
    callback.function(callback.data, level, line.data(), line.size());
  inside = false;
}

// The entries from an iterator on (all without one), which then stands behind the last. With
// `limit`, only as many of the latest as fit.
std::string read_log(CUlogIterator* iterator, size_t limit) {
  std::lock_guard lock(log().mutex);
  Log& l = log();
  CUlogIterator end = l.first + static_cast<CUlogIterator>(l.entries.size());
  size_t from = iterator && *iterator > l.first ? *iterator - l.first : 0;
  std::string text;
  for (size_t i = l.entries.size(); i-- > from;) {
    if (text.size() + l.entries[i].size() + 1 > limit) break;
    text = l.entries[i] + "\n" + text;
  }
  if (iterator) *iterator = end;
  return text;
}

}  // namespace

void log_entry(CUlogLevel level, const std::string& text) noexcept {
  try {
    keep(level, text);
  } catch (const std::exception&) {
    // A log that has no room must not change what the program is told.
  }
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuLogsRegisterCallback(CUlogsCallback function, void* data,
                                          CUlogsCallbackHandle* out) {
  return api<"cuLogsRegisterCallback", Needs::nothing>([&] {
    require(function && out);
    std::lock_guard lock(log().mutex);
    uintptr_t number = log().next_callback++;
    log().callbacks[number] = {function, data};
    *out = reinterpret_cast<CUlogsCallbackHandle>(number);
  });
}

AW_EXPORT CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return api<"cuLogsUnregisterCallback", Needs::nothing>([&] {
    std::lock_guard lock(log().mutex);
    require(log().callbacks.erase(reinterpret_cast<uintptr_t>(handle)) == 1);
  });
}

AW_EXPORT CUresult cuLogsCurrent(CUlogIterator* out, unsigned flags) {
  return api<"cuLogsCurrent", Needs::nothing>([&] {
    require(out && flags == 0);
    std::lock_guard lock(log().mutex);
    *out = log().first + static_cast<CUlogIterator>(log().entries.size());
  });
}

AW_EXPORT CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned flags) {
  return api<"cuLogsDumpToFile", Needs::nothing>([&] {
    require(path && flags == 0);
    std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path, "a"), &fclose);
    require(file != nullptr);
    std::string text = read_log(iterator, SIZE_MAX);
    require(fwrite(text.data(), 1, text.size(), file.get()) == text.size(),
            CUDA_ERROR_OPERATING_SYSTEM);
  });
}

AW_EXPORT CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size,
                                      unsigned flags) {
  return api<"cuLogsDumpToMemory", Needs::nothing>([&] {
    require(buffer && size && *size > 0 && *size <= kMostBytes && flags == 0);
    std::string text = read_log(iterator, *size - 1);
    memcpy(buffer, text.c_str(), text.size() + 1);
    *size = text.size();
  });
}

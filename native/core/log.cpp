#include "core/log.h"

#include <unistd.h>

#include <mutex>
#include <unordered_set>

#include "core/report.h"

namespace aw {
namespace {

constexpr size_t kMostMessages = 4096;  // a program that errs for ever must not fill the memory

bool first_time(const std::string& text) {
  static std::mutex& mutex = *new std::mutex;
  static auto& said = *new std::unordered_set<std::string>;
  std::lock_guard lock(mutex);
  return said.size() < kMostMessages && said.insert(text).second;
}

}  // namespace

void say(LogLevel level, const std::string& text) {
  if (level > settings().log || !first_time(text)) return;
  std::string line = "anywarp: " + text;
  while (!line.empty() && line.back() == '\n') line.pop_back();
  line += '\n';
  // One write, so that lines of several threads and processes do not mix.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void diagnose(LogLevel level, const std::string& text) {
  say(level, text);
  report_diagnostic(text);
}

}  // namespace aw

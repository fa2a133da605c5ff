#include "core/report.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "core/file_limit.h"
#include "core/findings.h"
#include "core/log.h"
#include "core/text.h"

namespace aw {
namespace {

struct KernelCount {
  uint64_t launches = 0, compiled = 0, cached = 0;
  double compile_ms = 0;
};

struct OperatorCount {
  uint64_t count = 0, nanoseconds = 0, bytes_copied = 0, widened = 0;
};

struct ReportState {
  std::mutex mutex;
  std::map<std::string, KernelCount> kernels;
  std::map<std::string, OperatorCount> operators;
  std::set<std::string> diagnostics;
  std::unordered_map<std::string, CallCounter*> absent;
  std::string device, start;
};

std::atomic<CallCounter*> counters{nullptr};
std::atomic<uint64_t> peak_bytes{0};

ReportState& report_state() {
  static ReportState& instance = *new ReportState;
  return instance;
}

std::string command_line() {
  std::string text;
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  char buffer[4096];
  ssize_t got = file < 0 ? 0 : read(file, buffer, sizeof buffer);
  if (file >= 0) close(file);
  for (ssize_t i = 0; i < got; ++i) text += buffer[i] ? buffer[i] : ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string render(ReportState& s) {
  std::string out =
      "process\t" + std::to_string(getpid()) + "\t" + percent_encode(command_line()) + "\n";
  out += "device\t" + percent_encode(s.device) + "\n";
  out += "memory\t" + std::to_string(peak_bytes.load()) + "\n";
  for (CallCounter* c = counters.load(); c; c = c->next) {
    if (uint64_t n = c->count.load()) {
      out += std::string(c->absent ? "absent\t" : "call\t") + c->name + "\t" + std::to_string(n) +
             "\n";
    }
  }
  for (auto& [name, k] : s.kernels) {
    char line[128];
    snprintf(line, sizeof line, "\t%llu\t%llu\t%llu\t%.3f\n",
             static_cast<unsigned long long>(k.launches),
             static_cast<unsigned long long>(k.compiled), static_cast<unsigned long long>(k.cached),
             k.compile_ms);
    out += "kernel\t" + percent_encode(name) + line;
  }
  for (auto& [name, o] : s.operators)
    out += "operator\t" + percent_encode(name) + "\t" + std::to_string(o.count) + "\t" +
           std::to_string(o.nanoseconds) + "\t" + std::to_string(o.bytes_copied) + "\t" +
           std::to_string(o.widened) + "\n";
  for (auto& text : s.diagnostics) out += "diagnostic\t" + percent_encode(text) + "\n";
  return out + render_findings();
}

void write_report() {
  ReportState& s = report_state();
  std::lock_guard lock(s.mutex);
  std::string stem = settings().report_dir + "/" + std::to_string(getpid()) + "-" + s.start;
  std::string text = render(s), temporary = stem + ".new";
  if (!within_file_limit(text.size())) return;
  int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  size_t done = 0;
  while (done < text.size()) {
    ssize_t got = write(file, text.data() + done, text.size() - done);
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  close(file);
  if (done == text.size()) {
    rename(temporary.c_str(), (stem + ".tsv").c_str());
  } else {
    unlink(temporary.c_str());
  }
}

// A forked child is a process of its own and has done nothing yet.
void begin_anew() {
  for (CallCounter* c = counters.load(); c; c = c->next) c->count = 0;
  ReportState& s = report_state();
  new (&s.mutex) std::mutex;  // whoever held it does not exist here
  s.kernels.clear();
  s.operators.clear();
  s.diagnostics.clear();
  forget_findings();
}

}  // namespace

CallCounter::CallCounter(const char* function_name, bool is_absent)
    : name(function_name), absent(is_absent) {
  next = counters.load();
  while (!counters.compare_exchange_weak(next, this)) {
  }
}

namespace {

void count(const char* name) {
  ReportState& s = report_state();
  std::lock_guard lock(s.mutex);
  auto [at, fresh] = s.absent.try_emplace(name);  // keeps the name: the caller's may go
  if (fresh) at->second = new CallCounter(at->first.c_str(), true);
  ++at->second->count;
}

}  // namespace

void report_absent(const char* name, const char* reason) {
  count(name);
  say(LogLevel::warn, std::string(name) + " is not supported: " + reason);
}

void count_absent(const char* name, const char* reason) {
  count(name);
  say(LogLevel::info, std::string(name) + " is not supported: " + reason);
}

void report_diagnostic(const std::string& text) {
  ReportState& s = report_state();
  std::lock_guard lock(s.mutex);
  if (s.diagnostics.size() < 4096) s.diagnostics.insert(text);
}

void report_launch(const std::string& kernel) {
  if (settings().report_dir.empty()) return;
  ReportState& s = report_state();
  std::lock_guard lock(s.mutex);
  ++s.kernels[kernel].launches;
}

void report_artifact(const std::string& kernel, bool cached, double compile_ms) {
  ReportState& s = report_state();
  std::lock_guard lock(s.mutex);
  KernelCount& count = s.kernels[kernel];
  ++(cached ? count.cached : count.compiled);
  if (!cached) count.compile_ms += compile_ms;
}

void report_operator(const char* name, uint64_t nanoseconds, uint64_t bytes_copied, bool widened) {
  if (settings().report_dir.empty()) return;
  ReportState& s = report_state();
  std::lock_guard lock(s.mutex);
  OperatorCount& count = s.operators[name];
  ++count.count;
  count.nanoseconds += nanoseconds;
  count.bytes_copied += bytes_copied;
  count.widened += widened;
}

void report_memory(uint64_t bytes_in_use) {
  uint64_t seen = peak_bytes.load(std::memory_order_relaxed);
  while (bytes_in_use > seen && !peak_bytes.compare_exchange_weak(seen, bytes_in_use)) {
  }
}

void write_report_now() {
  if (!settings().report_dir.empty() && !report_state().start.empty()) write_report();
}

void start_report(const std::string& device_name) {
  static std::once_flag once;
  std::call_once(once, [&] {
    ReportState& s = report_state();
    s.device = device_name;
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    s.start = std::to_string(now.tv_sec) + std::to_string(1000000000 + now.tv_nsec).substr(1);
    if (settings().report_dir.empty()) return;
    pthread_atfork(nullptr, nullptr, begin_anew);
    atexit(write_report);
  });
}

}  // namespace aw

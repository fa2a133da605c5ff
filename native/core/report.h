// What a process did, counted as it goes and written at its end for `anywarp run`
// (docs/contracts.md, section 5).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace aw {

// Counts the calls of one exported function; lives for ever, so that counting takes one addition.
struct CallCounter {
  const char* name;
  bool absent;
  std::atomic<uint64_t> count{0};
  CallCounter* next = nullptr;
  explicit CallCounter(const char* function_name, bool is_absent = false);
};

// Tells the user once that `name` was called though nothing implements it; generated code calls it.
void report_absent(const char* name, const char* reason);

// The same where "not supported" is an ordinary answer, which clients of the library expect of some
// devices: counted, and said only to who asks for much.
void count_absent(const char* name, const char* reason);

void report_diagnostic(const std::string& text);
void report_launch(const std::string& kernel);
void report_artifact(const std::string& kernel, bool cached, double compile_ms);
// One operator of a framework that ran on a device; `widened`: in a wider type than was asked for.
void report_operator(const char* name, uint64_t nanoseconds, uint64_t bytes_copied, bool widened);
void report_memory(uint64_t bytes_in_use);

// Writes what is known so far; nothing without a folder to write to.
void write_report_now();

// Arranges for the report to be written when the process ends.
void start_report(const std::string& device_name);

}  // namespace aw

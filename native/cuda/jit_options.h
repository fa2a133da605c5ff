// Options of the calls that compile: logs to be filled, and the time it took.
#pragma once

#include <cstddef>
#include <string>

#include "core/report.h"
#include "core/status.h"
#include "cuda/cuda_api.h"

namespace aw {

// Reads the arrays of a call once and writes results back into them, as cuModuleLoadDataEx and
// cuLinkCreate document.
class JitOptions {
 public:
  JitOptions(unsigned count, const int* options, void** values);

  // Runs `body`; its Failure goes to the error log and on to the caller.
  template <class Body>
  auto run(Body&& body) {
    try {
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        finish("");
      } else {
        auto result = body();
        finish("");
        return result;
      }
    } catch (const Failure& failure) {
      finish(failure.text);
      if (!has_error_log()) throw;
      report_diagnostic(failure.text);  // the caller was told in its own way
      throw Failure(failure.code);
    }
  }

  void inform(const std::string& text);  // a line for the info log
  bool has_error_log() const { return error_.buffer && error_.room; }

 private:
  struct Log {
    char* buffer = nullptr;
    size_t room = 0;
    void** used = nullptr;  // where the number of bytes written goes
    std::string text;
  };
  void finish(const std::string& error);
  static void write(const Log& log);

  Log info_, error_;
  void** wall_time_ = nullptr;
  double begin_ = 0;
};

}  // namespace aw

// Driver API reference: initialization, version management, error handling; and the fork that a
// device does not cross.
#include <pthread.h>

#include <mutex>

#include "core/presence.h"
#include "cuda/api.h"
#include "cuda/driver.h"
#include "cuda/error_log.h"
#include "cuda/error_table.h"
#include "cuda/visible.h"

namespace aw {
namespace {

std::atomic<bool> initialised{false}, forked{false};

void mark_fork() {
  if (initialised) forked = true;
}

}  // namespace

bool is_initialised() {
  return initialised.load(std::memory_order_relaxed) && !forked.load(std::memory_order_relaxed);
}

CUresult report_failure(const char* function, const Failure& failure) {
  if (!failure.text.empty()) diagnose(LogLevel::error, failure.text);
  const ErrorText* text = find_error(failure.code);
  std::string words =
      std::string(function) + " returns " + (text ? text->name : std::to_string(failure.code));
  say(LogLevel::debug, words);
  // That something is not there, or not ready, is an answer and no error.
  if (failure.code != CUDA_ERROR_NOT_READY && failure.code != CUDA_ERROR_NOT_FOUND)
    log_entry(LogEntryLevel::error, failure.text.empty() ? words : words + ": " + failure.text);
  return static_cast<CUresult>(failure.code);
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuInit(unsigned flags) {
  return api<"cuInit", Needs::nothing>([&] {
    require(flags == 0);
    require(!forked, CUDA_ERROR_NOT_INITIALIZED);
    if (settings().device != "cpu") {
      throw Failure(CUDA_ERROR_NO_DEVICE,
                    "the driver library has no device named " + settings().device +
                        "\nhelp: set ANYWARP_DEVICE to cpu, or leave it unset");
    }
    choose_visible_devices();
    static std::once_flag once;
    std::call_once(once, [] {
      pthread_atfork(nullptr, nullptr, mark_fork);
      start_report(device_info().name);
      announce_presence();
      initialised = true;
    });
  });
}

AW_EXPORT CUresult cuDriverGetVersion(int* version) {
  return api<"cuDriverGetVersion", Needs::nothing>([&] {
    require(version);
    *version = kDriverVersion;
  });
}

AW_EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
  return api<"cuGetErrorName", Needs::nothing>([&] {
    require(name);
    const ErrorText* text = find_error(error);
    *name = text ? text->name : nullptr;
    require(text);
  });
}

AW_EXPORT CUresult cuGetErrorString(CUresult error, const char** words) {
  return api<"cuGetErrorString", Needs::nothing>([&] {
    require(words);
    const ErrorText* text = find_error(error);
    *words = text ? text->words : nullptr;
    require(text);
  });
}

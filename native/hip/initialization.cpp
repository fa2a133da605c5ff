// Driver API reference: initialization, version management, error handling; and the fork that a
// device does not cross.
#include <pthread.h>

#include <cstdlib>
#include <mutex>

#include "cuda/api.h"
#include "cuda/error_log.h"
#include "cuda/error_table.h"
#include "hip/devices.h"

namespace aw {
namespace {

std::atomic<bool> initialised{false}, forked{false};

void mark_fork() {
  if (initialised) forked = true;
}

void require_hip() {
  const char* given = getenv("ANYWARP_DEVICE");  // the settings make cpu of none
  std::string wanted = given ? given : "";
  if (wanted.empty() || wanted == "hip" || wanted.rfind("hip:", 0) == 0) return;
  throw Failure(CUDA_ERROR_NO_DEVICE,
                "this driver library is for the device hip, and the device " + wanted +
                    " is asked for\nhelp: start the program by `anywarp run --device hip`");
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
    if (initialised) return;
    require_hip();
    choose_visible_devices();
    static std::once_flag once;
    std::call_once(once, [] {
      pthread_atfork(nullptr, nullptr, mark_fork);
      start_report(hip_device_of(0).name);
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

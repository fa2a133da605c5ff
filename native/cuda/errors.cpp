// Driver API reference: version management, error handling; and what becomes of a call that fails.
#include "cuda/api.h"
#include "cuda/error_log.h"
#include "cuda/error_table.h"

namespace aw {

CUresult report_failure(const char* function, const Failure& failure) {
  if (!failure.text.empty()) diagnose(LogLevel::error, failure.text);
  const ErrorText* text = find_error(failure.code);
  std::string words =
      std::string(function) + " returns " + (text ? text->name : std::to_string(failure.code));
  say(LogLevel::debug, words);
  // That something is not there, or not ready, is an answer and no error.
  if (failure.code != CUDA_ERROR_NOT_READY && failure.code != CUDA_ERROR_NOT_FOUND)
    log_entry(CU_LOG_LEVEL_ERROR, failure.text.empty() ? words : words + ": " + failure.text);
  return static_cast<CUresult>(failure.code);
}

}  // namespace aw

using namespace aw;

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

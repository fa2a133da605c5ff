#include <mutex>
#include <set>
#include <string>

#include "core/own_functions.h"
#include "libraries/api.h"
#include "libraries/work.h"

namespace aw::lib {

std::atomic<uint64_t>& call_counter(const char* function) {
  return *anywarp_call_counter(function);
}

const std::atomic<uint32_t>& wanted_activities() {
  static const auto& wanted = *anywarp_activity_wanted();
  return wanted;
}

int absent(const char* function, const char* reason) {
  anywarp_report_absent(function, reason);
  return codes.not_supported;
}

int failed(const char* function, const Failure& failure) {
  if (failure.text.empty()) return failure.code;
  static std::mutex& mutex = *new std::mutex;
  static auto& said = *new std::set<std::string>;
  std::string text = std::string(function) + ": " + failure.text;
  std::lock_guard lock(mutex);
  if (said.insert(text).second) anywarp_diagnose(text.c_str());
  return failure.code;
}

void ensure_context() {
  int device;
  if (anywarp_current_context(&device)) return;
  CUcontext context;
  bool fine = cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
              cuCtxSetCurrent(context) == CUDA_SUCCESS;
  require(fine, codes.not_initialized);
}

void submit_work(CUstream stream, const AwNativeWork& work) {
  if (logs(Log::trace)) log(Log::trace, work.name, "given to its stream");
  int result = anywarp_native_work(stream, &work);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw Failure(codes.alloc_failed);
  if (result == CUDA_ERROR_NOT_INITIALIZED) throw Failure(codes.not_initialized);
  if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_VALUE)
    throw Failure(codes.invalid_value);
  if (result != CUDA_SUCCESS) throw Failure(codes.internal);
}

}  // namespace aw::lib

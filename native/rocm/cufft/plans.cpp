// Plans of cuFFT are numbers; what cuFFT has and hipFFT has not.
#include <map>
#include <mutex>

#include AW_TABLES

using namespace aw::rocm;

AW_EXPORT int cufftDestroy(int plan) {
  void* theirs = nullptr;
  if (own_find(plan, &theirs)) {
    count(at_cufftDestroy);
    return cuda::CUFFT_INVALID_PLAN;
  }
  own_remove(plan);
  return AW_CALL(cufftDestroy, (void*), theirs);
}

AW_EXPORT int cufftGetVersion(int* version) {
  count(at_cufftGetVersion);
  if (!version) return cuda::CUFFT_INVALID_VALUE;
  *version = cuda::CUFFT_VER_MAJOR * 1000 + cuda::CUFFT_VER_MINOR * 100 + cuda::CUFFT_VER_PATCH;
  return cuda::CUFFT_SUCCESS;
}

AW_EXPORT int cufftGetProperty(int property, int* value) {
  count(at_cufftGetProperty);
  if (!value || property < 0 || property > 2) return cuda::CUFFT_INVALID_VALUE;
  const int parts[] = {cuda::CUFFT_VER_MAJOR, cuda::CUFFT_VER_MINOR, cuda::CUFFT_VER_PATCH};
  *value = parts[property];
  return cuda::CUFFT_SUCCESS;
}

// A callback is a function of NVIDIA's machine code in the program's kernels: there is nothing that
// ROCm could call.
AW_EXPORT int cufftXtSetCallback(int, void**, int, void**) {
  count(at_cufftXtSetCallback);
  return unsupported("cufftXtSetCallback",
                     "a callback is device code that hipFFT would have to call");
}

AW_EXPORT int cufftXtClearCallback(int plan, int) {
  count(at_cufftXtClearCallback);
  void* theirs = nullptr;
  return own_find(plan, &theirs) ? cuda::CUFFT_INVALID_PLAN
                                 : cuda::CUFFT_SUCCESS;  // there never is one
}

AW_EXPORT int cufftXtSetCallbackSharedSize(int, int, size_t) {
  count(at_cufftXtSetCallbackSharedSize);
  return unsupported("cufftXtSetCallbackSharedSize",
                     "a callback is device code that hipFFT would have to call");
}

// One area per device of the plan; plans of ours that come from here have one.
AW_EXPORT int cufftXtSetWorkArea(int plan, void** areas) {
  count(at_cufftXtSetWorkArea);
  void* theirs = nullptr;
  if (own_find(plan, &theirs)) return cuda::CUFFT_INVALID_PLAN;
  if (!areas) return cuda::CUFFT_INVALID_VALUE;
  return AW_CALL(cufftSetWorkArea, (void*, void*), theirs, areas[0]);
}

// Devices by their numbers, which are HIP's on the other side.
AW_EXPORT int cufftXtSetGPUs(int plan, int count_of, int* devices) {
  void* theirs = nullptr;
  if (own_find(plan, &theirs)) return count(at_cufftXtSetGPUs), cuda::CUFFT_INVALID_PLAN;
  if (!devices || count_of < 1 || count_of > 64)
    return count(at_cufftXtSetGPUs), cuda::CUFFT_INVALID_VALUE;
  int numbers[64];
  for (int i = 0; i < count_of; i++) {
    numbers[i] = hip_device(devices[i]);
    if (numbers[i] < 0) return count(at_cufftXtSetGPUs), cuda::CUFFT_INVALID_DEVICE;
  }
  return AW_CALL(cufftXtSetGPUs, (void*, int, int*), theirs, count_of, numbers);
}

namespace {

std::mutex& mutex() {
  static std::mutex& made = *new std::mutex;
  return made;
}
std::map<std::pair<int, int>, long long>& properties() {
  static auto& made = *new std::map<std::pair<int, int>, long long>;
  return made;
}

int known(int plan, int property) {
  void* theirs = nullptr;
  if (own_find(plan, &theirs)) return cuda::CUFFT_INVALID_PLAN;
  int ignored = 0;
  return to_cufftProperty_t(property, &ignored) == 1 ? cuda::CUFFT_INVALID_VALUE
                                                     : cuda::CUFFT_SUCCESS;
}

}  // namespace

// Properties tune NVIDIA's planner; they are kept, so that a program reads what it wrote.
AW_EXPORT int cufftSetPlanPropertyInt64(int plan, int property, long long value) {
  count(at_cufftSetPlanPropertyInt64);
  if (const int problem = known(plan, property)) return problem;
  std::lock_guard lock(mutex());
  properties()[{plan, property}] = value;
  return cuda::CUFFT_SUCCESS;
}

AW_EXPORT int cufftGetPlanPropertyInt64(int plan, int property, long long* value) {
  count(at_cufftGetPlanPropertyInt64);
  if (const int problem = known(plan, property)) return problem;
  if (!value) return cuda::CUFFT_INVALID_VALUE;
  std::lock_guard lock(mutex());
  const auto found = properties().find({plan, property});
  *value = found == properties().end() ? 0 : found->second;
  return cuda::CUFFT_SUCCESS;
}

AW_EXPORT int cufftResetPlanProperty(int plan, int property) {
  count(at_cufftResetPlanProperty);
  if (const int problem = known(plan, property)) return problem;
  std::lock_guard lock(mutex());
  properties().erase({plan, property});
  return cuda::CUFFT_SUCCESS;
}

// A wish for little or much memory: hipFFT has one way.
AW_EXPORT int cufftXtSetWorkAreaPolicy(int plan, int policy, size_t*) {
  count(at_cufftXtSetWorkAreaPolicy);
  void* theirs = nullptr;
  if (own_find(plan, &theirs)) return cuda::CUFFT_INVALID_PLAN;
  if (policy == cuda::CUFFT_WORKAREA_PERFORMANCE) return cuda::CUFFT_SUCCESS;
  return unsupported("cufftXtSetWorkAreaPolicy", "hipFFT has no plans that use less memory");
}

// NVML reference: initialization and cleanup, error reporting, system queries.
#include <algorithm>
#include <string>

#include "cuda/cuda_api.h"
#include "devices/identity.h"
#include "nvml/api.h"

namespace aw::nvml {

int device_count() { return std::clamp(settings().devices, 0, kMostDevices); }

int number_of(nvmlDevice device) {
  auto number = reinterpret_cast<uintptr_t>(device);
  require(number >= 1 && number <= static_cast<uintptr_t>(device_count()));
  return static_cast<int>(number - 1);
}

namespace {

// The branch of NVIDIA's drivers that brought the CUDA version which we are (CUDA release notes,
// table of driver versions).
constexpr const char* kDriver = "580.00";
constexpr const char* kNvml = "13.580.00";

nvmlReturn begin() {
  users().fetch_add(1);
  return NVML_SUCCESS;
}

}  // namespace
}  // namespace aw::nvml

using namespace aw::nvml;

AW_EXPORT nvmlReturn nvmlInit() { return api<"nvmlInit", Needs::nothing>(begin); }
AW_EXPORT nvmlReturn nvmlInit_v2() { return api<"nvmlInit_v2", Needs::nothing>(begin); }
AW_EXPORT nvmlReturn nvmlInitWithFlags(unsigned) {
  return api<"nvmlInitWithFlags", Needs::nothing>(begin);
}

AW_EXPORT nvmlReturn nvmlShutdown() {
  return api<"nvmlShutdown">([] { users().fetch_sub(1); });
}

AW_EXPORT nvmlReturn nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return api<"nvmlSystemGetDriverVersion">([&] { copy_text(kDriver, version, length); });
}

AW_EXPORT nvmlReturn nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return api<"nvmlSystemGetNVMLVersion">([&] { copy_text(kNvml, version, length); });
}

AW_EXPORT nvmlReturn nvmlSystemGetCudaDriverVersion(int* version) {
  return api<"nvmlSystemGetCudaDriverVersion">([&] {
    require(version);
    *version = kDriverVersion;
  });
}

AW_EXPORT nvmlReturn nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return api<"nvmlSystemGetCudaDriverVersion_v2">([&] {
    require(version);
    *version = kDriverVersion;
  });
}

// Confidential computing is a feature of cards; it is off here.
AW_EXPORT nvmlReturn nvmlSystemGetConfComputeState(nvmlConfComputeSystemState* state) {
  return api<"nvmlSystemGetConfComputeState">([&] {
    require(state);
    *state = {};
  });
}

AW_EXPORT nvmlReturn nvmlSystemGetTopologyGpuSet(unsigned, unsigned* count, nvmlDevice* devices) {
  return api<"nvmlSystemGetTopologyGpuSet">([&] {
    require(count);
    unsigned room = *count;
    *count = static_cast<unsigned>(device_count());
    if (!devices) return;  // the first of two calls asks how many
    require(room >= *count, NVML_ERROR_INSUFFICIENT_SIZE);
    for (unsigned i = 0; i < *count; ++i) devices[i] = handle_of(static_cast<int>(i));
  });
}

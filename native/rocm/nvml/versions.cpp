// The versions that programs compare: those of the CUDA that libcuda of the device hip answers for.
#include "cuda/cuda_api.h"
#include "devices/identity.h"
#include "nvml/api.h"

using namespace aw;
using namespace aw::nvml;

namespace {

nvmlReturn say_version(int* version) {
  require(version);
  *version = kDriverVersion;
  return NVML_SUCCESS;
}

}  // namespace

AW_EXPORT nvmlReturn nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return api<"nvmlSystemGetNVMLVersion">([&] { copy_text("13.580.00", version, length); });
}
AW_EXPORT nvmlReturn nvmlSystemGetCudaDriverVersion(int* version) {
  return api<"nvmlSystemGetCudaDriverVersion">([&] { return say_version(version); });
}
AW_EXPORT nvmlReturn nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return api<"nvmlSystemGetCudaDriverVersion_v2">([&] { return say_version(version); });
}

AW_EXPORT nvmlReturn nvmlDeviceGetCudaComputeCapability(nvmlDevice device, int* major, int* minor) {
  return api<"nvmlDeviceGetCudaComputeCapability">([&] {
    require(major && minor);
    number_of(device);
    *major = kCapabilityMajor, *minor = kCapabilityMinor;
  });
}
AW_EXPORT nvmlReturn nvmlDeviceGetArchitecture(nvmlDevice device, unsigned* architecture) {
  return api<"nvmlDeviceGetArchitecture">([&] {
    constexpr unsigned kAmpere = 7;  // the architecture of compute capability 8.0
    require(architecture);
    number_of(device);
    *architecture = kAmpere;
  });
}

// Kernels ready to be launched: the function of a code object, and what its artifact says of
// registers, waves and memory.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "core/artifacts.h"
#include "cuda/driver.h"
#include "hip/hip_api.h"

namespace aw {

// The line `amd` of an artifact (docs/contracts.md, section 1).
struct AmdLine {
  std::string architecture;
  uint32_t wave = 64, warps_per_wave = 2;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0, scratch = 0, vgpr_spills = 0, sgpr_spills = 0, lds = 0;
  uint32_t max_threads = 1024;
};

// The driver's Versions (cuda/driver.h): here there is one, a code object.
class Versions {
 public:
  KernelArtifact artifact;
  AmdLine amd;
  int device = 0;
  const char* name = "";  // lives as long as the process
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  std::atomic<uint64_t> services{0};  // of its device, once known
  std::string code;  // the code object; HIP reads it for as long as the module is loaded
  std::array<uint32_t, 3> block{};  // zeros: any

  Versions() = default;
  ~Versions();
  Versions(const Versions&) = delete;
  Versions& operator=(const Versions&) = delete;

  // Obtains the code for a request, from the cache or the compile service, and loads it on the
  // current device. Throws Failure with what the compiler or HIP said.
  static std::shared_ptr<Versions> obtain(const KernelRequest& request);
};
using HipKernel = Versions;

}  // namespace aw

#include "cuda/function_attributes.h"

#include <algorithm>
#include <cstdlib>

#include "cpu/launch.h"
#include "cpu/versions.h"
#include "cuda/device_attributes.h"

namespace aw {
namespace {

int max_threads(const Entry& entry) {
  uint64_t declared = uint64_t{std::max(entry.maxntid[0], 1u)} * std::max(entry.maxntid[1], 1u) *
                      std::max(entry.maxntid[2], 1u);
  bool stated = entry.maxntid[0] || entry.maxntid[1] || entry.maxntid[2];
  return stated ? static_cast<int>(std::min<uint64_t>(declared, kMaxThreadsPerBlock))
                : kMaxThreadsPerBlock;
}

// Some attributes are known only after compiling; the shape does not matter for them.
const KernelArtifact& compiled(Function& function, std::shared_ptr<KernelCode>& keep) {
  {
    std::lock_guard lock(function.mutex);
    if (!function.compiled.empty()) keep = function.compiled.begin()->second->general();
  }
  if (!keep)
    keep =
        function.code({static_cast<uint32_t>(std::min(max_threads(*function.entry), 256)), 1, 1})
            ->general();
  return keep->artifact;
}

int constant_bytes(const ModuleDescription& description) {
  uint64_t bytes = 0;
  for (auto& [name, variable] : description.variables) {
    if (variable.space == "const") bytes += variable.size;
  }
  return static_cast<int>(std::min<uint64_t>(bytes, 0x7fffffff));
}

// The virtual architecture that PTX was made for, "sm_90a" to 90: libraries choose by it the shape
// of their launches that the kernel was compiled with.
int architecture_number(const std::string& target) {
  size_t digits = target.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : atoi(target.c_str() + digits);
}

}  // namespace

int read_attribute(Function& f, int attribute) {
  std::shared_ptr<KernelCode> keep;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return max_threads(*f.entry);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(compiled(f, keep).shared);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return constant_bytes(*f.description);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(compiled(f, keep).local);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return 32;  // of no meaning on a processor; small enough for full occupancy
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return architecture_number(f.description->ptx_target);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return kCapabilityMajor * 10 + kCapabilityMinor;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return most_dynamic_shared(f, compiled(f, keep).shared);
    default:
      break;
  }
  std::lock_guard lock(f.mutex);
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return f.attributes.max_dynamic_shared;
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return f.attributes.carveout;
  require(attribute >= CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET &&
          attribute <= CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  auto it = f.attributes.others.find(attribute);
  return it == f.attributes.others.end() ? 0 : it->second;
}

void write_attribute(Function& f, int attribute, int value) {
  std::shared_ptr<KernelCode> keep;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    // Static and dynamic shared memory together must fit (cuFuncSetAttribute).
    int fixed = value > kMaxSharedDefault ? static_cast<int>(compiled(f, keep).shared) : 0;
    require(value >= 0 && value <= kMaxSharedOptIn - fixed);
    std::lock_guard lock(f.mutex);
    f.attributes.max_dynamic_shared = value;
    return;
  }
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    require(value >= -1 && value <= 100);
    std::lock_guard lock(f.mutex);
    f.attributes.carveout = value;
    return;
  }
  // Clusters came with compute capability 9.0, and this device has 8.0.
  bool cluster = attribute > CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET &&
                 attribute <= CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
  require(cluster);
  if (attribute <= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)
    require(value <= 1, CUDA_ERROR_NOT_SUPPORTED);
  std::lock_guard lock(f.mutex);
  f.attributes.others[attribute] = value;
}

}  // namespace aw

// What cuFuncGetAttribute answers: from the module's description and the artifact of the code
// object.
#include "cuda/function_attributes.h"

#include <algorithm>
#include <cstdlib>

#include "cuda/device_attributes.h"
#include "hip/devices.h"
#include "hip/launch.h"
#include "hip/occupancy.h"

namespace aw {
namespace {

int max_threads(const Entry& entry) {
  uint64_t declared = 1;
  for (uint32_t axis : entry.maxntid) declared *= std::max(axis, 1u);
  bool stated = entry.maxntid[0] | entry.maxntid[1] | entry.maxntid[2];
  return stated ? static_cast<int>(std::min<uint64_t>(declared, kMaxThreadsPerBlock))
                : kMaxThreadsPerBlock;
}

int constant_bytes(const ModuleDescription& description) {
  uint64_t bytes = 0;
  for (auto& [name, variable] : description.variables) {
    if (variable.space == "const") bytes += variable.size;
  }
  return static_cast<int>(std::min<uint64_t>(bytes, 0x7fffffff));
}

// The virtual architecture that PTX was made for, "sm_90a" to 90.
int architecture_number(const std::string& target) {
  size_t digits = target.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : atoi(target.c_str() + digits);
}

int room(const Function& f) {
  auto context = f.context.lock();
  return static_cast<int>(hip_device_of(context ? context->device : 0).shared);
}

}  // namespace

// Some attributes are known only after compiling; the shape does not matter for them.
std::shared_ptr<HipKernel> any_code(Function& f) {
  {
    std::lock_guard lock(f.mutex);
    if (!f.compiled.empty()) return f.compiled.begin()->second;
  }
  return f.code({static_cast<uint32_t>(std::min(max_threads(*f.entry), 256)), 1, 1}, 1);
}

int most_dynamic_shared(Function& f, uint64_t fixed) {
  std::lock_guard lock(f.mutex);
  int asked = f.attributes.max_dynamic_shared;
  if (asked >= 0) return asked;
  return std::max(
      kMaxSharedDefault - static_cast<int>(std::min<uint64_t>(fixed, kMaxSharedDefault)), 0);
}

int read_attribute(Function& f, int attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return max_threads(*f.entry);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(any_code(f)->artifact.shared);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return constant_bytes(*f.description);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(any_code(f)->amd.scratch);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return registers_per_thread(any_code(f)->amd);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return architecture_number(f.description->ptx_target);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return kCapabilityMajor * 10 + kCapabilityMinor;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return most_dynamic_shared(f, any_code(f)->artifact.shared);
    default:
      break;
  }
  std::lock_guard lock(f.mutex);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return f.attributes.carveout;
  require(attribute >= CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET &&
          attribute <= CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  auto it = f.attributes.others.find(attribute);
  return it == f.attributes.others.end() ? 0 : it->second;
}

void write_attribute(Function& f, int attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    // Static and dynamic shared memory together must fit (cuFuncSetAttribute).
    int fixed = value > kMaxSharedDefault ? static_cast<int>(any_code(f)->artifact.shared) : 0;
    if (value > room(f) - fixed) tell_missing_shared(f, value, fixed, room(f));
    require(value >= 0 && value <= room(f) - fixed);
    std::lock_guard lock(f.mutex);
    f.attributes.max_dynamic_shared = value;
    return;
  }
  std::lock_guard lock(f.mutex);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    require(value >= -1 && value <= 100);
    f.attributes.carveout = value;
    return;
  }
  // Clusters came with compute capability 9.0, and this device has 8.0.
  require(attribute > CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET &&
          attribute <= CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  if (attribute <= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)
    require(value <= 1, CUDA_ERROR_NOT_SUPPORTED);
  f.attributes.others[attribute] = value;
}

}  // namespace aw

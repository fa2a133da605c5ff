// Driver API reference: execution control, attributes of functions.
#include "cuda/function_attributes.h"

#include <algorithm>
#include <cstdlib>

#include "cuda/context.h"
#include "cuda/device_attributes.h"

namespace aw {
namespace {

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

int max_threads(const Entry& entry) {
  uint64_t declared = 1;
  for (uint32_t axis : entry.maxntid) declared *= std::max(axis, 1u);
  bool stated = entry.maxntid[0] || entry.maxntid[1] || entry.maxntid[2];
  return stated ? static_cast<int>(std::min<uint64_t>(declared, kMaxThreadsPerBlock))
                : kMaxThreadsPerBlock;
}

int read_stated_attribute(Function& f, int attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return max_threads(*f.entry);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return constant_bytes(*f.description);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return architecture_number(f.description->ptx_target);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return kCapabilityMajor * 10 + kCapabilityMinor;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
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

void write_stated_attribute(Function& f, int attribute, int value) {
  std::lock_guard lock(f.mutex);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    require(value >= CU_SHAREDMEM_CARVEOUT_DEFAULT && value <= CU_SHAREDMEM_CARVEOUT_MAX_SHARED);
    f.attributes.carveout = value;
    return;
  }
  // Clusters came with compute capability 9.0, and our devices have 8.0.
  require(attribute > CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET &&
          attribute <= CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  if (attribute <= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)
    require(value <= 1, CUDA_ERROR_NOT_SUPPORTED);
  f.attributes.others[attribute] = value;
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                      CUfunction function) {
  return api<"cuFuncGetAttribute">([&] {
    require(value);
    current_context();
    *value = read_attribute(*function_of(function), attribute);
  });
}

AW_EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                      int value) {
  return api<"cuFuncSetAttribute">([&] {
    current_context();
    write_attribute(*function_of(function), attribute, value);
  });
}

// Preferences about caches and banks, which no device of ours has a use for.
AW_EXPORT CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return api<"cuFuncSetCacheConfig">([&] {
    require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL);
    current_context();
    function_of(function);
  });
}

AW_EXPORT CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
  return api<"cuFuncSetSharedMemConfig">([&] {
    require(config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
            config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    current_context();
    function_of(function);
  });
}

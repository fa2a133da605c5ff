#include "cuda/function_attributes.h"

#include <algorithm>

#include "cpu/launch.h"
#include "cpu/versions.h"
#include "cuda/device_attributes.h"

namespace aw {
namespace {

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

}  // namespace

int read_attribute(Function& f, int attribute) {
  std::shared_ptr<KernelCode> keep;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(compiled(f, keep).shared);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(compiled(f, keep).local);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return 32;  // of no meaning on a processor; small enough for full occupancy
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return most_dynamic_shared(f, compiled(f, keep).shared);
    default:
      return read_stated_attribute(f, attribute);
  }
}

void write_attribute(Function& f, int attribute, int value) {
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return write_stated_attribute(f, attribute, value);
  // Static and dynamic shared memory together must fit (cuFuncSetAttribute).
  std::shared_ptr<KernelCode> keep;
  int fixed = value > kMaxSharedDefault ? static_cast<int>(compiled(f, keep).shared) : 0;
  require(value >= 0 && value <= kMaxSharedOptIn - fixed);
  std::lock_guard lock(f.mutex);
  f.attributes.max_dynamic_shared = value;
}

}  // namespace aw

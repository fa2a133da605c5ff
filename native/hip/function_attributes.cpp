// What cuFuncGetAttribute answers: from the module's description and the artifact of the code
// object.
#include "cuda/function_attributes.h"

#include <algorithm>

#include "cuda/device_attributes.h"
#include "hip/devices.h"
#include "hip/launch.h"
#include "hip/occupancy.h"

namespace aw {
namespace {

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
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(any_code(f)->artifact.shared);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(any_code(f)->amd.scratch);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return registers_per_thread(any_code(f)->amd);
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return most_dynamic_shared(f, any_code(f)->artifact.shared);
    default:
      return read_stated_attribute(f, attribute);
  }
}

void write_attribute(Function& f, int attribute, int value) {
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return write_stated_attribute(f, attribute, value);
  // Static and dynamic shared memory together must fit (cuFuncSetAttribute).
  int fixed = value > kMaxSharedDefault ? static_cast<int>(any_code(f)->artifact.shared) : 0;
  if (value > room(f) - fixed) tell_missing_shared(f, value, fixed, room(f));
  require(value >= 0 && value <= room(f) - fixed);
  std::lock_guard lock(f.mutex);
  f.attributes.max_dynamic_shared = value;
}

}  // namespace aw

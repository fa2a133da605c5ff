// The exported functions: ours, or NVIDIA's where ANYWARP_NVRTC asks for that.
#include "nvrtc/nvrtc_api.h"

#define AW_EXPORT extern "C" __attribute__((visibility("default")))

using namespace aw;
using namespace aw::nvrtc;

#define AW_FUNCTION(name, parameters, arguments)                             \
  AW_EXPORT int name parameters {                                            \
    using Function = int(*) parameters;                                      \
    if (!nvidia_wanted()) return own::name arguments;                        \
    static auto theirs = reinterpret_cast<Function>(nvidia_function(#name)); \
    return theirs ? theirs arguments : static_cast<int>(kInternal);          \
  }

AW_NVRTC_FUNCTIONS(AW_FUNCTION)
#if AW_MAJOR == 12
AW_NVRTC_FUNCTIONS_12(AW_FUNCTION)
#else
AW_NVRTC_FUNCTIONS_13(AW_FUNCTION)
#endif

AW_EXPORT const char* nvrtcGetErrorString(int result) { return own::nvrtcGetErrorString(result); }

// Entries that NVIDIA's own libraries use among each other; their meaning is not public.
AW_EXPORT int __nvrtcCPEx() { return kInternal; }
#if AW_MAJOR == 13
AW_EXPORT int __nvrtcNvvmHandle() { return kInternal; }
#endif

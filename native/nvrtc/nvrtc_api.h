// NVRTC's interface: types and results, as its public header lists them, and the table of its
// functions.
#pragma once

#include <cstddef>

namespace aw::nvrtc {

using Program = struct OpaqueProgram*;
using Callback = int (*)(void* payload, void* reserved);

enum Result : int {
  kSuccess = 0,
  kOutOfMemory = 1,
  kProgramCreation = 2,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInvalidOption = 5,
  kCompilation = 6,
  kNoExpressionsAfter = 8,
  kNoNamesBefore = 9,
  kNameNotValid = 10,
  kInternal = 11,
  kNoPchAttempted = 13,
  kCancelled = 16,
};

struct BundledHeaders {
  int available;
  size_t compressed, uncompressed;
  int major, minor;
  unsigned files;
};

// Every function of versions 12 and 13: name, parameters, arguments.
#define AW_NVRTC_FUNCTIONS(X)                                                                 \
  X(nvrtcVersion, (int* major, int* minor), (major, minor))                                   \
  X(nvrtcGetNumSupportedArchs, (int* count), (count))                                         \
  X(nvrtcGetSupportedArchs, (int* architectures), (architectures))                            \
  X(nvrtcCreateProgram,                                                                       \
    (Program * program, const char* source, const char* name, int count,                      \
     const char* const* headers, const char* const* names),                                   \
    (program, source, name, count, headers, names))                                           \
  X(nvrtcDestroyProgram, (Program * program), (program))                                      \
  X(nvrtcCompileProgram, (Program program, int count, const char* const* options),            \
    (program, count, options))                                                                \
  X(nvrtcGetPTXSize, (Program program, size_t* size), (program, size))                        \
  X(nvrtcGetPTX, (Program program, char* text), (program, text))                              \
  X(nvrtcGetCUBINSize, (Program program, size_t* size), (program, size))                      \
  X(nvrtcGetCUBIN, (Program program, char* image), (program, image))                          \
  X(nvrtcGetLTOIRSize, (Program program, size_t* size), (program, size))                      \
  X(nvrtcGetLTOIR, (Program program, char* image), (program, image))                          \
  X(nvrtcGetOptiXIRSize, (Program program, size_t* size), (program, size))                    \
  X(nvrtcGetOptiXIR, (Program program, char* image), (program, image))                        \
  X(nvrtcGetProgramLogSize, (Program program, size_t* size), (program, size))                 \
  X(nvrtcGetProgramLog, (Program program, char* text), (program, text))                       \
  X(nvrtcAddNameExpression, (Program program, const char* expression), (program, expression)) \
  X(nvrtcGetLoweredName, (Program program, const char* expression, const char** name),        \
    (program, expression, name))                                                              \
  X(nvrtcGetPCHHeapSize, (size_t* size), (size))                                              \
  X(nvrtcSetPCHHeapSize, (size_t size), (size))                                               \
  X(nvrtcGetPCHCreateStatus, (Program program), (program))                                    \
  X(nvrtcGetPCHHeapSizeRequired, (Program program, size_t* size), (program, size))            \
  X(nvrtcSetFlowCallback, (Program program, Callback callback, void* payload),                \
    (program, callback, payload))

#define AW_NVRTC_FUNCTIONS_12(X)                                        \
  X(nvrtcGetNVVMSize, (Program program, size_t* size), (program, size)) \
  X(nvrtcGetNVVM, (Program program, char* image), (program, image))

#define AW_NVRTC_FUNCTIONS_13(X)                                                        \
  X(nvrtcGetTileIRSize, (Program program, size_t* size), (program, size))               \
  X(nvrtcGetTileIR, (Program program, char* image), (program, image))                   \
  X(nvrtcInstallBundledHeaders, (const char* folder, unsigned flags, const char** log), \
    (folder, flags, log))                                                               \
  X(nvrtcGetBundledHeadersInfo, (BundledHeaders * info, const char** log), (info, log)) \
  X(nvrtcRemoveBundledHeaders, (const char* folder, const char** log), (folder, log))

// Ours, one for each function; `own` is what the exported one calls unless NVIDIA's library was
// asked for.
namespace own {
#define AW_DECLARE(name, parameters, arguments) int name parameters;
AW_NVRTC_FUNCTIONS(AW_DECLARE)
AW_NVRTC_FUNCTIONS_12(AW_DECLARE)
AW_NVRTC_FUNCTIONS_13(AW_DECLARE)
#undef AW_DECLARE
const char* nvrtcGetErrorString(int result);
}  // namespace own

// NVIDIA's library, opened because ANYWARP_NVRTC asks for it; null otherwise. A function it lacks
// is null.
bool nvidia_wanted();
void* nvidia_function(const char* name);

}  // namespace aw::nvrtc

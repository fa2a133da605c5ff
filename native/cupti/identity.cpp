// CUPTI's version, errors, attributes, and the numbers of contexts, streams, devices and graphs.
#include <string.h>

#include <map>
#include <mutex>

#include "cuda/cuda_api.h"
#include "cupti/buffers.h"
#include "cupti/session.h"

extern "C" {
CUresult cuCtxGetId(CUcontext context, unsigned long long* id);
CUresult cuCtxGetCurrent(CUcontext* out);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext* out);
CUresult cuCtxGetDevice(CUdevice* out);
CUresult cuStreamGetId(CUstream stream, unsigned long long* id);
CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long* id);
CUresult cuDeviceGetCount(int* count);
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device);
}

namespace aw::cupti {
namespace {

thread_local constinit int last_error = 0;

struct Text {
  int code;
  const char *name, *words;
};

constexpr Text kTexts[] = {
    {0, "CUPTI_SUCCESS", "no error"},
    {1, "CUPTI_ERROR_INVALID_PARAMETER", "an argument is not valid"},
    {2, "CUPTI_ERROR_INVALID_DEVICE", "there is no such device"},
    {3, "CUPTI_ERROR_INVALID_CONTEXT", "there is no such context, or none is current"},
    {4, "CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID", "there is no such domain of events"},
    {5, "CUPTI_ERROR_INVALID_EVENT_ID", "there is no such event"},
    {6, "CUPTI_ERROR_INVALID_EVENT_NAME", "there is no event of this name"},
    {7, "CUPTI_ERROR_INVALID_OPERATION", "this cannot be done now"},
    {8, "CUPTI_ERROR_OUT_OF_MEMORY", "there is not enough memory"},
    {9, "CUPTI_ERROR_HARDWARE", "the device failed"},
    {10, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT", "the place for the result is too small"},
    {11, "CUPTI_ERROR_API_NOT_IMPLEMENTED", "the function is not implemented"},
    {12, "CUPTI_ERROR_MAX_LIMIT_REACHED", "there are no more"},
    {13, "CUPTI_ERROR_NOT_READY", "it is not ready"},
    {14, "CUPTI_ERROR_NOT_COMPATIBLE", "this does not go with what was asked for before"},
    {15, "CUPTI_ERROR_NOT_INITIALIZED", "CUPTI is not initialised"},
    {18, "CUPTI_ERROR_QUEUE_EMPTY", "the queue is empty"},
    {19, "CUPTI_ERROR_INVALID_HANDLE", "the handle is not valid"},
    {20, "CUPTI_ERROR_INVALID_STREAM", "there is no such stream"},
    {21, "CUPTI_ERROR_INVALID_KIND", "there is no such kind of activity"},
    {24, "CUPTI_ERROR_INVALID_MODULE", "there is no such module"},
    {27, "CUPTI_ERROR_NOT_SUPPORTED", "this is not supported"},
    {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "the user may not do this"},
    {38, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED",
     "events and metrics of the first interface are not supported"},
    {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "there is a subscriber already"},
    {999, "CUPTI_ERROR_UNKNOWN", "unknown error"},
};

const Text* text_of(int code) {
  for (const Text& text : kTexts) {
    if (text.code == code) return &text;
  }
  return nullptr;
}

// What was set with cuptiActivitySetAttribute: sizes of buffers that no device has here.
struct Attributes {
  std::mutex mutex;
  std::map<uint32_t, uint64_t> values;
};

Attributes& attributes() {
  static Attributes& instance = *new Attributes;
  return instance;
}

constexpr uint32_t kZeroedBuffers = 5, kThreadIdType = 21, kClock = 22, kAttributes = 25;

int set_attribute(uint32_t attribute, size_t* bytes, void* value) {
  if (!bytes || !value || attribute >= kAttributes) return ended(kInvalidParameter);
  if (attribute == kClock) {
    uint64_t (*clock)();
    if (*bytes < sizeof clock) return ended(kTooShort);
    memcpy(&clock, value, sizeof clock);
    if (!clock) return ended(kInvalidParameter);
    set_profiler_clock(clock);
    return kSuccess;
  }
  uint64_t number = 0;
  memcpy(&number, value, *bytes < sizeof number ? *bytes : sizeof number);
  if (attribute == kThreadIdType) set_system_threads(static_cast<uint32_t>(number) == 1);
  std::lock_guard lock(attributes().mutex);
  attributes().values[attribute] = number;
  return kSuccess;
}

int get_attribute(uint32_t attribute, size_t* bytes, void* value) {
  if (!bytes || !value || attribute >= kAttributes) return ended(kInvalidParameter);
  std::lock_guard lock(attributes().mutex);
  auto found = attributes().values.find(attribute);
  uint64_t number = found == attributes().values.end() ? 0 : found->second;
  size_t size = attribute == kZeroedBuffers ? 1 : sizeof number;
  if (*bytes < size) return ended(kTooShort);
  memcpy(value, &number, size);
  *bytes = size;
  return kSuccess;
}

// Runs `body` with a context current.
template <class Body>
int inside(CUcontext context, Body&& body) {
  if (context && cuCtxPushCurrent_v2(context) != CUDA_SUCCESS) return ended(kInvalidContext);
  int code = body();
  CUcontext popped;
  if (context) cuCtxPopCurrent_v2(&popped);
  return code ? ended(code) : kSuccess;
}

int stream_id(CUcontext context, CUstream stream, bool per_thread, uint32_t* out) {
  if (!out) return ended(kInvalidParameter);
  return inside(context, [&]() -> int {
    unsigned long long id = 0;
    CUresult code =
        per_thread && !stream ? cuStreamGetId_ptsz(stream, &id) : cuStreamGetId(stream, &id);
    if (code != CUDA_SUCCESS) return kInvalidStream;
    *out = static_cast<uint32_t>(id);
    return kSuccess;
  });
}

}  // namespace

int ended(int code) {
  if (code) last_error = code;
  return code;
}

}  // namespace aw::cupti

using namespace aw::cupti;

AW_CUPTI cuptiGetVersion(uint32_t* version) {
  if (!version) return ended(kInvalidParameter);
  *version = kMajor >= 13 ? 130500 : 28;  // CUPTI_API_VERSION of 13.5 and of 12.9
  return kSuccess;
}

AW_CUPTI cuptiGetResultString(int code, const char** text) {
  const Text* found = text_of(code);
  if (!text || !found) return ended(kInvalidParameter);
  *text = found->name;
  return kSuccess;
}

AW_CUPTI cuptiGetErrorMessage(int code, const char** text) {
  const Text* found = text_of(code);
  if (!text || !found) return ended(kInvalidParameter);
  *text = found->words;
  return kSuccess;
}

AW_CUPTI cuptiGetLastError() {
  int code = last_error;
  last_error = 0;
  return code;
}

AW_CUPTI cuptiActivitySetAttribute(uint32_t attribute, size_t* bytes, void* value) {
  return set_attribute(attribute, bytes, value);
}
AW_CUPTI cuptiActivityGetAttribute(uint32_t attribute, size_t* bytes, void* value) {
  return get_attribute(attribute, bytes, value);
}
AW_CUPTI cuptiActivitySetAttribute_v2(void*, uint32_t attribute, size_t* bytes, void* value) {
  return set_attribute(attribute, bytes, value);
}
AW_CUPTI cuptiActivityGetAttribute_v2(void*, uint32_t attribute, size_t* bytes, void* value) {
  return get_attribute(attribute, bytes, value);
}

AW_CUPTI cuptiGetContextId(CUcontext context, uint32_t* out) {
  unsigned long long id = 0;
  if (!out) return ended(kInvalidParameter);
  if (!context || cuCtxGetId(context, &id) != CUDA_SUCCESS) return ended(kInvalidContext);
  *out = static_cast<uint32_t>(id);
  return kSuccess;
}

AW_CUPTI cuptiGetDeviceId(CUcontext context, uint32_t* out) {
  if (!out) return ended(kInvalidParameter);
  return inside(context, [&]() -> int {
    CUdevice device = 0;
    if (cuCtxGetDevice(&device) != CUDA_SUCCESS) return kInvalidContext;
    *out = static_cast<uint32_t>(device);
    return kSuccess;
  });
}

AW_CUPTI cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* out) {
  return stream_id(context, stream, false, out);
}
AW_CUPTI cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t* out) {
  return stream_id(context, stream, per_thread != 0, out);
}

AW_CUPTI cuptiGetGraphId(uint64_t graph, uint32_t* out) {
  if (!graph || !out) return ended(kInvalidParameter);
  *out = graph_number(graph);
  return kSuccess;
}
AW_CUPTI cuptiGetGraphExecId(uint64_t graph, uint32_t* out) { return cuptiGetGraphId(graph, out); }
AW_CUPTI cuptiGetGraphNodeId(uint64_t node, uint64_t* out) {
  if (!node || !out) return ended(kInvalidParameter);
  *out = graph_number(node);
  return kSuccess;
}
AW_CUPTI cuptiGetCudaEventId(uint64_t event, uint32_t* out) { return cuptiGetGraphId(event, out); }

AW_CUPTI cuptiDeviceGetChipName(CUdevice device, const char** name) {
  static char text[128];
  if (!name) return ended(kInvalidParameter);
  if (cuDeviceGetName(text, sizeof text, device) != CUDA_SUCCESS) return ended(kInvalidDevice);
  *name = text;
  return kSuccess;
}

AW_CUPTI cuptiDeviceSupported(CUdevice device, int* supported) {
  int count = 0;
  if (!supported) return ended(kInvalidParameter);
  if (cuDeviceGetCount(&count) != CUDA_SUCCESS || device < 0 || device >= count)
    return ended(kInvalidDevice);
  *supported = 1;
  return kSuccess;
}

AW_CUPTI cuptiComputeCapabilitySupported(int major, int minor, int* supported) {
  if (!supported) return ended(kInvalidParameter);
  *supported = major == 8 && minor == 0 ? 1 : 0;  // what our devices report
  return kSuccess;
}

AW_CUPTI cuptiDeviceVirtualizationMode(CUdevice device, uint32_t* mode) {
  int supported;
  if (!mode) return ended(kInvalidParameter);
  if (int code = cuptiDeviceSupported(device, &supported)) return code;
  *mode = 0;
  return kSuccess;
}

// Loaded by NVTX as a tool; ranges reach us through libcuda's hub instead, so it is told no.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx(void*) { return 0; }
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(void*) { return 0; }
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(void*) {
  return 0;
}

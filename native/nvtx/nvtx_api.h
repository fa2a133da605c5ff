// Types of NVIDIA's tools extension, as its headers (nvToolsExt.h, nvtxDetail/nvtxTypes.h) lay them
// out.
#pragma once

#include <cstddef>
#include <cstdint>

#define AW_EXPORT extern "C" __attribute__((visibility("default")))

// What a tool that is not there answers to a push or a pop (NVTX_NO_PUSH_POP_TRACKING).
constexpr int kNoTracking = -2;

union nvtxMessage {
  const char* ascii;
  const wchar_t* wide;
  const struct nvtxString* registered;
};

struct nvtxEventAttributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  nvtxMessage message;
};
static_assert(sizeof(nvtxEventAttributes) == 48 && offsetof(nvtxEventAttributes, message) == 40);

enum { kMessageAscii = 1, kMessageWide = 2, kMessageRegistered = 3, kColorArgb = 1 };

// How header-only NVTX 3 gets its functions from a tool.
using nvtxFunctions = void (***)();  // places of pointers, by number, from 1
struct nvtxCallbacks {
  size_t struct_size;
  int (*table_of)(int module, nvtxFunctions* table, unsigned* count);
};
using nvtxExportTable = const void* (*)(uint32_t id);
enum { kCallbacks = 1, kModuleCore = 1, kModuleCore2 = 5 };

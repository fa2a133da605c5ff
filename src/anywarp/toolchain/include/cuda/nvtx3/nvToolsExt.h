// NVIDIA's tools extension, version 3: ranges and marks of a program, for the tool that NVTX_INJECTION64_PATH names. Without one the
// functions do nothing. Values and layouts are those of the manual (NVTX C API reference).
#ifndef NVTX_VERSION
#define NVTX_VERSION 3

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "../anywarp/nvtx_tool.h"

#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_ERR_INIT_LOAD_PROPERTY 2
#define NVTX_ERR_INIT_ACCESS_LIBRARY 3
#define NVTX_ERR_INIT_LOAD_LIBRARY 4
#define NVTX_ERR_INIT_MISSING_LIBRARY_ENTRY_POINT 5
#define NVTX_ERR_INIT_FAILED_LIBRARY_ENTRY_POINT 6
#define NVTX_ERR_NO_INJECTION_LIBRARY_AVAILABLE 7
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef enum nvtxResourceGenericType_t {
  NVTX_RESOURCE_TYPE_UNKNOWN = 0,
  NVTX_RESOURCE_TYPE_GENERIC_POINTER = 0x10001,
  NVTX_RESOURCE_TYPE_GENERIC_HANDLE = 0x10002,
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = 0x10003,
  NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = 0x10004
} nvtxResourceGenericType_t;
#define NVTX_RESOURCE_CLASS_GENERIC 1
#define NVTX_RESOURCE_MAKE_TYPE(CLASS, INDEX) ((((uint32_t)(NVTX_RESOURCE_CLASS_##CLASS)) << 16) | ((uint32_t)(INDEX)))

typedef union nvtxMessageValue_t {
  const char *ascii;
  const wchar_t *unicode;
  nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef struct nvtxEventAttributes_v2 nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)(sizeof(nvtxEventAttributes_t)))

typedef struct nvtxResourceAttributes_v0 {
  uint16_t version;
  uint16_t size;
  int32_t identifierType;
  union identifier_t {
    const void *pValue;
    uint64_t ullValue;
  } identifier;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxResourceAttributes_v0;
typedef struct nvtxResourceAttributes_v0 nvtxResourceAttributes_t;
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)(sizeof(nvtxResourceAttributes_v0)))

// The numbers are those of nvtxCallbackIdCore and nvtxCallbackIdCore2.
AW_NVTX_DOES(CORE, 1, nvtxMarkEx, (const nvtxEventAttributes_t *eventAttrib), (eventAttrib))
AW_NVTX_DOES(CORE, 2, nvtxMarkA, (const char *message), (message))
AW_NVTX_DOES(CORE, 3, nvtxMarkW, (const wchar_t *message), (message))
AW_NVTX_GIVES(nvtxRangeId_t, 0, CORE, 4, nvtxRangeStartEx, (const nvtxEventAttributes_t *eventAttrib), (eventAttrib))
AW_NVTX_GIVES(nvtxRangeId_t, 0, CORE, 5, nvtxRangeStartA, (const char *message), (message))
AW_NVTX_GIVES(nvtxRangeId_t, 0, CORE, 6, nvtxRangeStartW, (const wchar_t *message), (message))
AW_NVTX_DOES(CORE, 7, nvtxRangeEnd, (nvtxRangeId_t id), (id))
AW_NVTX_GIVES(int, NVTX_NO_PUSH_POP_TRACKING, CORE, 8, nvtxRangePushEx, (const nvtxEventAttributes_t *eventAttrib), (eventAttrib))
AW_NVTX_GIVES(int, NVTX_NO_PUSH_POP_TRACKING, CORE, 9, nvtxRangePushA, (const char *message), (message))
AW_NVTX_GIVES(int, NVTX_NO_PUSH_POP_TRACKING, CORE, 10, nvtxRangePushW, (const wchar_t *message), (message))
AW_NVTX_GIVES(int, NVTX_NO_PUSH_POP_TRACKING, CORE, 11, nvtxRangePop, (void), ())
AW_NVTX_DOES(CORE, 12, nvtxNameCategoryA, (uint32_t category, const char *name), (category, name))
AW_NVTX_DOES(CORE, 13, nvtxNameCategoryW, (uint32_t category, const wchar_t *name), (category, name))
AW_NVTX_DOES(CORE, 14, nvtxNameOsThreadA, (uint32_t threadId, const char *name), (threadId, name))
AW_NVTX_DOES(CORE, 15, nvtxNameOsThreadW, (uint32_t threadId, const wchar_t *name), (threadId, name))

AW_NVTX_DOES(CORE2, 1, nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *eventAttrib), (domain, eventAttrib))
AW_NVTX_GIVES(nvtxRangeId_t, 0, CORE2, 2, nvtxDomainRangeStartEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *eventAttrib),
              (domain, eventAttrib))
AW_NVTX_DOES(CORE2, 3, nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t id), (domain, id))
AW_NVTX_GIVES(int, NVTX_NO_PUSH_POP_TRACKING, CORE2, 4, nvtxDomainRangePushEx,
              (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *eventAttrib), (domain, eventAttrib))
AW_NVTX_GIVES(int, NVTX_NO_PUSH_POP_TRACKING, CORE2, 5, nvtxDomainRangePop, (nvtxDomainHandle_t domain), (domain))
AW_NVTX_GIVES(nvtxResourceHandle_t, NULL, CORE2, 6, nvtxDomainResourceCreate, (nvtxDomainHandle_t domain, nvtxResourceAttributes_t *attribs),
              (domain, attribs))
AW_NVTX_DOES(CORE2, 7, nvtxDomainResourceDestroy, (nvtxResourceHandle_t resource), (resource))
AW_NVTX_DOES(CORE2, 8, nvtxDomainNameCategoryA, (nvtxDomainHandle_t domain, uint32_t category, const char *name), (domain, category, name))
AW_NVTX_DOES(CORE2, 9, nvtxDomainNameCategoryW, (nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name), (domain, category, name))
AW_NVTX_GIVES(nvtxStringHandle_t, NULL, CORE2, 10, nvtxDomainRegisterStringA, (nvtxDomainHandle_t domain, const char *string), (domain, string))
AW_NVTX_GIVES(nvtxStringHandle_t, NULL, CORE2, 11, nvtxDomainRegisterStringW, (nvtxDomainHandle_t domain, const wchar_t *string), (domain, string))
AW_NVTX_GIVES(nvtxDomainHandle_t, NULL, CORE2, 12, nvtxDomainCreateA, (const char *name), (name))
AW_NVTX_GIVES(nvtxDomainHandle_t, NULL, CORE2, 13, nvtxDomainCreateW, (const wchar_t *name), (name))
AW_NVTX_DOES(CORE2, 14, nvtxDomainDestroy, (nvtxDomainHandle_t domain), (domain))
AW_NVTX_DOES(CORE2, 15, nvtxInitialize, (const void *reserved), (reserved))

#ifdef __cplusplus
}
#endif

// The names without a letter take the characters that UNICODE chooses.
#ifdef UNICODE
#define AW_NVTX_CHARACTERS(name) name##W
#else
#define AW_NVTX_CHARACTERS(name) name##A
#endif
#define nvtxMark AW_NVTX_CHARACTERS(nvtxMark)
#define nvtxRangeStart AW_NVTX_CHARACTERS(nvtxRangeStart)
#define nvtxRangePush AW_NVTX_CHARACTERS(nvtxRangePush)
#define nvtxNameCategory AW_NVTX_CHARACTERS(nvtxNameCategory)
#define nvtxNameOsThread AW_NVTX_CHARACTERS(nvtxNameOsThread)
#define nvtxDomainCreate AW_NVTX_CHARACTERS(nvtxDomainCreate)
#define nvtxDomainRegisterString AW_NVTX_CHARACTERS(nvtxDomainRegisterString)
#define nvtxDomainNameCategory AW_NVTX_CHARACTERS(nvtxDomainNameCategory)

#endif

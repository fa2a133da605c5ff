// What a program tells a tool of its own locks (NVTX).
#ifndef NVTOOLSEXT_SYNC_V3
#define NVTOOLSEXT_SYNC_V3

#include "nvToolsExt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nvtxSyncUser *nvtxSyncUser_t;
typedef struct nvtxSyncUserAttributes_v0 {
  uint16_t version;
  uint16_t size;
  int32_t messageType;
  nvtxMessageValue_t message;
} nvtxSyncUserAttributes_v0;
typedef struct nvtxSyncUserAttributes_v0 nvtxSyncUserAttributes_t;
#define NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE ((uint16_t)(sizeof(nvtxSyncUserAttributes_v0)))

AW_NVTX_GIVES(nvtxSyncUser_t, NULL, SYNC, 1, nvtxDomainSyncUserCreate,
              (nvtxDomainHandle_t domain, const nvtxSyncUserAttributes_t *attribs), (domain, attribs))
AW_NVTX_DOES(SYNC, 2, nvtxDomainSyncUserDestroy, (nvtxSyncUser_t handle), (handle))
AW_NVTX_DOES(SYNC, 3, nvtxDomainSyncUserAcquireStart, (nvtxSyncUser_t handle), (handle))
AW_NVTX_DOES(SYNC, 4, nvtxDomainSyncUserAcquireFailed, (nvtxSyncUser_t handle), (handle))
AW_NVTX_DOES(SYNC, 5, nvtxDomainSyncUserAcquireSuccess, (nvtxSyncUser_t handle), (handle))
AW_NVTX_DOES(SYNC, 6, nvtxDomainSyncUserReleasing, (nvtxSyncUser_t handle), (handle))

#ifdef __cplusplus
}
#endif

#endif

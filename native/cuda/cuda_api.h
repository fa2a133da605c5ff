// The part of NVIDIA's driver interface that we implement: types, values and layouts as its public
// headers document them (CUDA Driver API reference, 13.x). Handles are numbers to us and never
// pointers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/cuda_values.h"

#define AW_EXPORT extern "C" __attribute__((visibility("default")))

typedef uint64_t CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUlib_st* CUlibrary;
typedef struct CUkern_st* CUkernel;
typedef struct CUarray_st* CUarray;
typedef struct CUmipmappedArray_st* CUmipmappedArray;
typedef struct CUevent_st* CUevent;
typedef struct CUstream_st* CUstream;
typedef struct CUgraph_st* CUgraph;
typedef struct CUgraphNode_st* CUgraphNode;
typedef struct CUgraphExec_st* CUgraphExec;
typedef struct CUmemPoolHandle_st* CUmemoryPool;
typedef struct CUuserObject_st* CUuserObject;
typedef struct CUlinkState_st* CUlinkState;
typedef unsigned long long CUmemGenericAllocationHandle;

struct CUuuid {
  char bytes[16];
};

typedef void (*CUhostFn)(void* user_data);

typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void* user_data);
typedef size_t (*CUoccupancyB2DSize)(int block_size);

constexpr int kDriverVersion = 13000;  // of the interface that we are

// Stream handles that name default streams.
constexpr uintptr_t kLegacyStream = 1, kPerThreadStream = 2;

union CUlaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } cluster;
  int flag;
  struct {
    CUevent event;
    int flags;
  } event;
};

struct CUlaunchAttribute {
  CUlaunchAttributeID id;
  char pad[4];
  CUlaunchAttributeValue value;
};

struct CUlaunchConfig {
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  CUstream stream;
  CUlaunchAttribute* attributes;
  unsigned attribute_count;
};

struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
};

// CUDA_MEMCPY3D_PEER has the same layout, with contexts where this has reserved words.
struct CUDA_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  void* reserved0;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  void* reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
};

enum CUarrayFlags : unsigned {
  CUDA_ARRAY3D_LAYERED = 0x01,
  CUDA_ARRAY3D_SURFACE_LDST = 0x02,
  CUDA_ARRAY3D_CUBEMAP = 0x04,
  CUDA_ARRAY3D_TEXTURE_GATHER = 0x08,
  CUDA_ARRAY3D_FLAGS_MASK = 0x1ff,
};

struct CUDA_ARRAY_DESCRIPTOR {
  size_t Width, Height;
  CUarray_format Format;
  unsigned NumChannels;
};

struct CUDA_ARRAY3D_DESCRIPTOR {
  size_t Width, Height, Depth;
  CUarray_format Format;
  unsigned NumChannels, Flags;
};

struct CUDA_ARRAY_SPARSE_PROPERTIES {
  unsigned tileExtent[3], miptailFirstLevel;
  unsigned long long miptailSize;
  unsigned flags, reserved[4];
};

struct CUDA_ARRAY_MEMORY_REQUIREMENTS {
  size_t size, alignment;
  unsigned reserved[4];
};

struct CUmemLocation {
  int type;  // 1 device, 2 host
  int id;
};

struct CUmemAllocationProp {
  int type;
  int requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
};

struct CUmemAccessDesc {
  CUmemLocation location;
  int flags;  // 0 none, 1 read, 3 read and write
};

struct CUmemPoolProps {
  int allocType, handleTypes;
  CUmemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

struct CUdevprop {
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], sharedMemPerBlock, totalConstantMemory,
      SIMDWidth, memPitch, regsPerBlock, clockRate, textureAlign;
};

// The parameters of kernel nodes; version 1 ends before `kern`.
struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func;
  unsigned grid[3], block[3];
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
  CUkernel kern;
  CUcontext ctx;
};

struct CUDA_MEMSET_NODE_PARAMS {
  CUdeviceptr dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};

struct CUDA_HOST_NODE_PARAMS {
  CUhostFn fn;
  void* userData;
};

struct CUDA_MEMCPY_NODE_PARAMS {
  int flags, reserved;
  CUcontext copyCtx;
  CUDA_MEMCPY3D copyParams;
};

struct CUDA_MEM_ALLOC_NODE_PARAMS {
  CUmemPoolProps poolProps;
  const CUmemAccessDesc* accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  CUdeviceptr dptr;
};

// An operation in 48 bytes.
struct CUstreamBatchMemOpParams {
  int operation;  // 1 wait 32, 2 write 32, 3 flush remote writes, 4 wait 64, 5 write 64, 6 barrier
  int pad;
  CUdeviceptr address;
  uint64_t value;
  unsigned flags;
  unsigned pad2;
  uint64_t alias[2];
};

struct CUDA_BATCH_MEM_OP_NODE_PARAMS {
  CUcontext ctx;
  unsigned count;
  CUstreamBatchMemOpParams* paramArray;
  unsigned flags;
};

struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS {
  unsigned long long value, nvSciSync, key;
  unsigned reserved0[12], flags, reserved[16];
};
struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS {
  unsigned long long value, nvSciSync, key;
  unsigned timeoutMs, pad, reserved0[10], flags, reserved[16];
};
typedef struct CUextSemaphore_st* CUexternalSemaphore;
typedef struct CUextMemory_st* CUexternalMemory;

// The parameters of signalling and waiting nodes have the same layout.
template <class Params>
struct SemaphoreNodeParams {
  CUexternalSemaphore* extSemArray;
  const Params* paramsArray;
  unsigned numExtSems;
};
typedef SemaphoreNodeParams<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> CUDA_EXT_SEM_SIGNAL_NODE_PARAMS;
typedef SemaphoreNodeParams<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> CUDA_EXT_SEM_WAIT_NODE_PARAMS;

struct CUDA_CONDITIONAL_NODE_PARAMS {
  uint64_t handle;
  int type;  // 0 if, 1 while, 2 switch
  unsigned size;
  CUgraph* phGraph_out;
  CUcontext ctx;
};

struct CUgraphNodeParams {
  CUgraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMCPY_NODE_PARAMS memcpy;
    struct {
      CUDA_MEMSET_NODE_PARAMS params;
      CUcontext ctx;
    } memset;
    CUDA_HOST_NODE_PARAMS host;
    struct {
      CUgraph graph;
      int ownership;
    } graph;
    struct {
      CUevent event;
    } event;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    struct {
      CUdeviceptr dptr;
    } free;
    CUDA_BATCH_MEM_OP_NODE_PARAMS memOp;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS extSemSignal;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS extSemWait;
    CUDA_CONDITIONAL_NODE_PARAMS conditional;
  };
  long long reserved2;
};

struct CUDA_GRAPH_INSTANTIATE_PARAMS {
  uint64_t flags;
  CUstream hUploadStream;
  CUgraphNode hErrNode_out;
  int result_out;
};

struct CUgraphExecUpdateResultInfo {
  int result;
  CUgraphNode errorNode, errorFromNode;
};

struct CUgraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};

static_assert(sizeof(CUDA_MEMCPY2D) == 128 && sizeof(CUDA_MEMCPY3D) == 200);
static_assert(sizeof(CUDA_ARRAY_DESCRIPTOR) == 24 && sizeof(CUDA_ARRAY3D_DESCRIPTOR) == 40);
static_assert(sizeof(CUDA_ARRAY_SPARSE_PROPERTIES) == 48 &&
              sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS) == 32);
static_assert(sizeof(CUlaunchAttribute) == 72 && sizeof(CUlaunchConfig) == 56);
static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == 72 && sizeof(CUDA_MEMSET_NODE_PARAMS) == 40);
static_assert(sizeof(CUmemAllocationProp) == 32 && sizeof(CUmemPoolProps) == 88 &&
              sizeof(CUgraphNodeParams) == 256);
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == 120 && sizeof(CUstreamBatchMemOpParams) == 48 &&
              sizeof(CUDA_CONDITIONAL_NODE_PARAMS) == 32);
static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS) == 144 &&
              sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS) == 144);

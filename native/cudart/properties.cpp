// Runtime API reference: device management: attributes and properties.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "cudart/state.h"

namespace aw {
namespace {

// Attributes have the same numbers in both interfaces.
template <class T>
void read_attribute(T& field, int attribute, int device) {
  int value = 0;
  check(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), device));
  field = static_cast<T>(value);
}

void read_limits(cudaDeviceProp& p, int device) {
  auto get = [&](auto& field, int attribute) { read_attribute(field, attribute, device); };
  get(p.sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  get(p.regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  get(p.warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  get(p.memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  get(p.maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  for (int i = 0; i < 3; ++i) {
    get(p.maxThreadsDim[i], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
    get(p.maxGridSize[i], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
  }
  get(p.totalConstMem, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  get(p.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  get(p.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  get(p.multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  get(p.maxThreadsPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  get(p.sharedMemPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  get(p.regsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  get(p.sharedMemPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  get(p.maxBlocksPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  get(p.reservedSharedMemPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
}

void read_texture_limits(cudaDeviceProp& p, int device) {
  auto get = [&](auto& field, int attribute) { read_attribute(field, attribute, device); };
  auto all = [&](auto& fields, int first) {
    for (size_t i = 0; i < std::extent_v<std::remove_reference_t<decltype(fields)>>; ++i)
      read_attribute(fields[i], first + static_cast<int>(i), device);
  };
  get(p.textureAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  get(p.texturePitchAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
  get(p.surfaceAlignment, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT);
  get(p.maxTexture1D, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
  get(p.maxTexture1DMipmap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH);
  all(p.maxTexture2D, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH);
  all(p.maxTexture2DMipmap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH);
  all(p.maxTexture2DLinear, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH);
  all(p.maxTexture2DGather, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH);
  all(p.maxTexture3D, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH);
  all(p.maxTexture3DAlt, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE);
  get(p.maxTextureCubemap, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
  all(p.maxTexture1DLayered, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH);
  all(p.maxTexture2DLayered, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH);
  all(p.maxTextureCubemapLayered, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH);
  get(p.maxSurface1D, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH);
  all(p.maxSurface2D, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH);
  all(p.maxSurface3D, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH);
  all(p.maxSurface1DLayered, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH);
  all(p.maxSurface2DLayered, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH);
  get(p.maxSurfaceCubemap, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH);
  all(p.maxSurfaceCubemapLayered, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH);
}

void read_features(cudaDeviceProp& p, int device) {
  auto get = [&](auto& field, int attribute) { read_attribute(field, attribute, device); };
  get(p.integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED);
  get(p.canMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
  get(p.concurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
  get(p.ECCEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
  get(p.pciBusID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  get(p.pciDeviceID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
  get(p.pciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
  get(p.tccDriver, CU_DEVICE_ATTRIBUTE_TCC_DRIVER);
  get(p.asyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  get(p.unifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
  get(p.memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  get(p.l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  get(p.persistingL2CacheMaxSize, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
  get(p.streamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
  get(p.globalL1CacheSupported, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
  get(p.localL1CacheSupported, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
  get(p.managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
  get(p.isMultiGpuBoard, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD);
  get(p.multiGpuBoardGroupID, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID);
  get(p.hostNativeAtomicSupported, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
  get(p.pageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
  get(p.concurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
  get(p.computePreemptionSupported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
  get(p.canUseHostPointerForRegisteredMem,
      CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
  get(p.cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
  get(p.pageableMemoryAccessUsesHostPageTables,
      CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
  get(p.directManagedMemAccessFromHost, CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
  get(p.accessPolicyMaxWindowSize, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
}

// What CUDA 12 added to the structure.
void read_sharing(cudaDeviceProp& p, int device) {
  auto get = [&](auto& field, int attribute) { read_attribute(field, attribute, device); };
  get(p.hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
  get(p.sparseCudaArraySupported, CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED);
  get(p.hostRegisterReadOnlySupported, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
  get(p.timelineSemaphoreInteropSupported,
      CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED);
  get(p.memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  get(p.gpuDirectRDMASupported, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
  get(p.gpuDirectRDMAFlushWritesOptions, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
  get(p.gpuDirectRDMAWritesOrdering, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING);
  get(p.memoryPoolSupportedHandleTypes, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES);
  get(p.deferredMappingCudaArraySupported,
      CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED);
  get(p.ipcEventSupported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED);
  get(p.clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
  get(p.unifiedFunctionPointers, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS);
}

void read_of_version(cudaDeviceProp& p, int device) {
  auto get = [&](auto& field, int attribute) { read_attribute(field, attribute, device); };
#if CUDART_VERSION < 13000
  get(p.clockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  get(p.deviceOverlap, CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
  get(p.kernelExecTimeoutEnabled, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
  get(p.computeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  get(p.maxTexture1DLinear, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
  get(p.memoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  get(p.singleToDoublePrecisionPerfRatio,
      CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
  get(p.cooperativeMultiDeviceLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH);
#else
  get(p.deviceNumaConfig, CU_DEVICE_ATTRIBUTE_NUMA_CONFIG);
  get(p.deviceNumaId, CU_DEVICE_ATTRIBUTE_NUMA_ID);
  get(p.mpsEnabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
  get(p.hostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
  get(p.gpuPciDeviceID, CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID);
  get(p.gpuPciSubsystemID, CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID);
  get(p.hostNumaMultinodeIpcSupported, CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED);
#endif
}

void read_all(cudaDeviceProp& p, int device) {
  memset(&p, 0, sizeof p);
  check(cuDeviceGetName(p.name, sizeof p.name, device));
  check(cuDeviceGetUuid_v2(&p.uuid, device));
  check(cuDeviceTotalMem_v2(&p.totalGlobalMem, device));
  read_limits(p, device);
  read_texture_limits(p, device);
  read_features(p, device);
  read_sharing(p, device);
  read_of_version(p, device);
}

// How well a device does what was asked for; fields of zero ask for nothing.
int matches(const cudaDeviceProp& wanted, const cudaDeviceProp& there) {
  int points = 0;
  auto rate = [&](auto want, auto has) { points += want && has >= want ? 1 : 0; };
  rate(wanted.major * 10 + wanted.minor, there.major * 10 + there.minor);
  rate(wanted.totalGlobalMem, there.totalGlobalMem);
  rate(wanted.multiProcessorCount, there.multiProcessorCount);
  rate(wanted.maxThreadsPerBlock, there.maxThreadsPerBlock);
  rate(wanted.sharedMemPerBlock, there.sharedMemPerBlock);
  rate(wanted.integrated, there.integrated);
  points += wanted.name[0] && strncmp(wanted.name, there.name, sizeof there.name) == 0 ? 8 : 0;
  return points;
}

}  // namespace

cudaError_t rt::cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  require(value);
  check_device(device);
  return error_of(cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device));
}

cudaError_t rt::cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  require(properties);
  check_device(device);
#if CUDART_VERSION >= 13000
  read_all(*properties, device);
#else
  // Under this name version 12 has the structure of version 11, which ends earlier.
  cudaDeviceProp all;
  read_all(all, device);
  memcpy(properties, &all, offsetof(cudaDeviceProp, hostRegisterSupported));
#endif
  return cudaSuccess;
}

#if CUDART_VERSION < 13000
cudaError_t rt::cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {
  require(properties);
  check_device(device);
  read_all(*properties, device);
  return cudaSuccess;
}
#endif

cudaError_t rt::cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  require(device && wanted);
  int best = -1, count = device_count();
  require(count > 0, cudaErrorNoDevice);
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp there;
    read_all(there, i);
    int points = matches(*wanted, there);
    if (points > best) best = points, *device = i;
  }
  return cudaSuccess;
}

}  // namespace aw

// Attributes of extended launches.
#include "cuda/launch_request.h"

#include "cuda/api.h"

namespace aw {
namespace {

void read_attribute_into(const CUlaunchAttribute& a, ExtendedLaunch& launch) {
  switch (a.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      launch.request.cooperative = a.value.cooperative != 0;
      return;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: {
      const auto& cluster = a.value.clusterDim;  // the preferred one is laid out alike
      if (cluster.x > 1 || cluster.y > 1 || cluster.z > 1)
        throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                      "launches with clusters of several blocks are not supported");
      return;
    }
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      launch.events.push_back(
          a.value.programmaticEvent.event);  // a later moment than asked for is allowed
      return;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      if (a.value.deviceUpdatableKernelNode.deviceUpdatable)
        throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                      "kernel nodes that the device updates are not supported");
      return;
    default:
      require(a.id >= CU_LAUNCH_ATTRIBUTE_IGNORE &&
              a.id <= CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE);
  }
}

}  // namespace

LaunchRequest request_of(const CUDA_KERNEL_NODE_PARAMS& p) {
  return {{p.gridDimX, p.gridDimY, p.gridDimZ},
          {p.blockDimX, p.blockDimY, p.blockDimZ},
          p.sharedMemBytes,
          p.kernelParams,
          p.extra,
          false};
}

void write_shape(const unsigned (&grid)[3], const unsigned (&block)[3],
                 CUDA_KERNEL_NODE_PARAMS& out) {
  out.gridDimX = grid[0], out.gridDimY = grid[1], out.gridDimZ = grid[2];
  out.blockDimX = block[0], out.blockDimY = block[1], out.blockDimZ = block[2];
}

LaunchRequest request_of(const CUDA_LAUNCH_PARAMS& p) {
  return {{p.gridDimX, p.gridDimY, p.gridDimZ},
          {p.blockDimX, p.blockDimY, p.blockDimZ},
          p.sharedMemBytes,
          p.kernelParams,
          nullptr,
          true};
}

ExtendedLaunch read_launch(const CUlaunchConfig* config, void** params, void** extra) {
  require(config && (config->numAttrs == 0 || config->attrs));
  ExtendedLaunch launch;
  LaunchRequest& r = launch.request;
  r.grid[0] = config->gridDimX, r.grid[1] = config->gridDimY, r.grid[2] = config->gridDimZ;
  r.block[0] = config->blockDimX, r.block[1] = config->blockDimY, r.block[2] = config->blockDimZ;
  r.dynamic_shared = config->sharedMemBytes, r.params = params, r.extra = extra;
  for (unsigned i = 0; i < config->numAttrs; ++i) read_attribute_into(config->attrs[i], launch);
  return launch;
}

}  // namespace aw

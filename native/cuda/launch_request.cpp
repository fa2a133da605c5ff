// Attributes of extended launches.
#include "cuda/launch_request.h"

#include <cstring>

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
      bool single = a.value.cluster.x <= 1 && a.value.cluster.y <= 1 && a.value.cluster.z <= 1;
      if (!single)
        throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                      "launches with clusters of several blocks are not supported");
      return;
    }
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      launch.events.push_back(a.value.event.event);  // a later moment than asked for is allowed
      return;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      if (a.value.flag)
        throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                      "kernel nodes that the device updates are not supported");
      return;
    default:
      require(a.id >= 0 && a.id <= 17);
  }
}

}  // namespace

ExtendedLaunch read_launch(const CUlaunchConfig* config, void** params, void** extra) {
  require(config && (config->attribute_count == 0 || config->attributes));
  ExtendedLaunch launch;
  LaunchRequest& r = launch.request;
  memcpy(r.grid, config->grid, sizeof r.grid);
  memcpy(r.block, config->block, sizeof r.block);
  r.dynamic_shared = config->shared_bytes, r.params = params, r.extra = extra;
  for (unsigned i = 0; i < config->attribute_count; ++i)
    read_attribute_into(config->attributes[i], launch);
  return launch;
}

}  // namespace aw

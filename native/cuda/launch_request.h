// What a launch asks for, as all drivers of ours read it.
#pragma once

#include <vector>

#include "cuda/cuda_api.h"

namespace aw {

struct LaunchRequest {
  unsigned grid[3], block[3];
  unsigned dynamic_shared = 0;
  void** params = nullptr;  // an address per parameter, or null
  void** extra = nullptr;   // a list that names one buffer
  bool cooperative = false;
};

// A kernel node of a graph, and the other way its shape.
LaunchRequest request_of(const CUDA_KERNEL_NODE_PARAMS& params);
void write_shape(const unsigned (&grid)[3], const unsigned (&block)[3],
                 CUDA_KERNEL_NODE_PARAMS& out);

// One grid of a cooperative launch on several devices.
LaunchRequest request_of(const CUDA_LAUNCH_PARAMS& params);

// An extended launch: the request, and the events to be recorded behind it.
struct ExtendedLaunch {
  LaunchRequest request{};
  std::vector<CUevent> events;
};

// Throws INVALID_VALUE for what is no configuration, and NOT_SUPPORTED for attributes that no
// device of ours serves. Those that are hints about caches, priorities and scheduling change no
// result.
ExtendedLaunch read_launch(const CUlaunchConfig* config, void** params, void** extra);

}  // namespace aw

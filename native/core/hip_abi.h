// What a launch on the device hip tells a kernel beside its parameters: AwHipHidden, and where it
// lies (compiler/amdgpu/hidden.py).
#pragma once

#include "core/hip_structures.h"

namespace aw {

constexpr size_t kHipHiddenAlign = 16;

// Where AwHipHidden lies behind a parameter buffer.
constexpr size_t hip_hidden_start(size_t param_bytes) {
  return (param_bytes + kHipHiddenAlign - 1) / kHipHiddenAlign * kHipHiddenAlign;
}

// Threads of the workgroup that is launched for a block. Kernels with one warp per wave leave the
// upper half of each wave of 64 idle: their workgroup is {64 * warps, 1, 1}; all others have the
// block's own shape.
constexpr uint32_t hip_workgroup_threads(uint32_t threads, uint32_t wave, uint32_t warps_per_wave) {
  return wave == 64 && warps_per_wave == 1 ? (threads + 31) / 32 * 64 : threads;
}

}  // namespace aw

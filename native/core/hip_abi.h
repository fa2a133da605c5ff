// What a launch on the device hip tells a kernel beside its parameters. compiler/amdgpu/hidden.py
// mirrors it; a test compares.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aw {

// One argument buffer per launch: CUDA's parameter buffer as it is, then, at the next multiple of
// 16, this.
struct AwHipHidden {
  uint32_t grid[3];
  uint32_t block[3];        // CUDA's block, whatever workgroup is launched
  uint32_t dynamic_shared;  // bytes that the launch asks for beyond the static ones
  uint32_t shared_total;    // static and dynamic
  uint64_t module_data;     // device address of the module's .global and .const variables
  uint64_t services;        // AwHipServices, in memory that host and device see; 0: none
  uint64_t grid_id;
  uint64_t grid_workspace;  // of a cooperative launch: the address that %envreg1 and %envreg2 tell;
                            // else 0
  uint32_t first_block[3];  // added to the workgroup's number: large grids are launched in pieces
  uint32_t module_data_bytes;
};

static_assert(sizeof(AwHipHidden) == 80);
static_assert(offsetof(AwHipHidden, module_data) == 32);
static_assert(offsetof(AwHipHidden, grid_workspace) == 56);
static_assert(offsetof(AwHipHidden, first_block) == 64);

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

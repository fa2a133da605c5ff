// What an AMD architecture has of what occupancy is made of, by HIP's name of it.
#pragma once

#include <cstdint>
#include <string>

namespace aw {

struct Architecture {
  uint32_t wave;                // lanes
  uint32_t shared;              // bytes of LDS that one workgroup may have
  uint32_t shared_per_unit;     // bytes of LDS that the workgroups of one compute unit share
  uint32_t shared_granule;      // bytes by which LDS is given out
  uint32_t registers_per_unit;  // of 32 bits, of all lanes
  uint32_t vgpr_per_lane;       // vector registers of one SIMD, for one lane of a wave
  uint32_t vgpr_granule;
  uint32_t simds, waves_per_simd;
};

// Of `gfx942`, `gfx942:sramecc+:xnack-`, `gfx9-4-generic`. Of one that nobody knows: the least of
// all. Sources: LLVM's AMDGPUUsage (granules), the architecture tables of ROCm's documentation.
Architecture architecture_of(const std::string& name);

// False for what cannot run our kernels: before gfx9, and what is no gfx at all.
bool is_supported(const std::string& name);

}  // namespace aw

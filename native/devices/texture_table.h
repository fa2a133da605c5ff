// Live texture and surface objects by handle, and the module variables (.texref, .samplerref,
// .surfref) that stand for them. A handle of a kernel is a number from anywhere, so it is looked up
// and never followed.
#pragma once

#include <cstdint>

#include "devices/texture_view.h"

namespace aw {

// Registers an object; returns its handle, or 0 when there are too many. Thread-safe, as are all
// here.
uint64_t add_texture_view(const TextureView& view);
// Kernels that still use the object find none, or what it was.
void remove_texture_view(uint64_t handle);

// Null for what is no live handle. Takes no lock: one comparison.
const TextureView* find_texture_view(uint64_t handle);

enum class Reference : uint8_t { texture = 1, sampler = 2, surface = 3 };

// A variable of 8 bytes at `address`: the handle of the object bound to it (0: none), or a
// sampler's state (sampler_bits in texture_unit.h).
void add_reference(uint64_t address, Reference kind);
void remove_reference(uint64_t address);
// 0 for an address at which no such variable lies.
int find_reference(uint64_t address);

}  // namespace aw

// Texture and surface objects on the device hip: a handle is the address of a descriptor in device
// memory, which generated code reads (hip/device/textures.cpp). Who creates an object fills one.
#pragma once

#include <cstdint>

#include "devices/texture_view.h"

namespace aw {

constexpr uint64_t kHipTextureMark = 0x3158'4554'5741'0000;  // "\0\0AWTEX1"; no object has another

// Aligned to 64 bytes. The levels' addresses are those that the device sees.
struct HipTexture {
  uint64_t mark;      // kHipTextureMark while the object lives, 0 afterwards
  uint64_t reserved;  // 0
  TextureView view;
};

static_assert(sizeof(TextureLevel) == 40 && sizeof(TextureView) == 776 && sizeof(HipTexture) == 792,
              "compiler/amdgpu/texture.py says the same");

// Why a texture or surface instruction ends its kernel; 0 is none.
enum HipTextureFault : uint32_t {
  kNoObject = 1,
  kSurfaceForTexture,
  kTextureForSurface,
  kNoCubemap,
  kNoSampler,
  kBadAccess,
};

}  // namespace aw

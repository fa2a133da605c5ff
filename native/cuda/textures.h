// Texture and surface objects: checked descriptions of memory and of how to sample it, by handle.
// Kernels hold the handles; their instructions (tex, tld4, suld, sust and their kin) find in the
// texture unit's table (devices/texture_table.h) what was made of the description here.
#pragma once

#include <memory>
#include <optional>

#include "cuda/context.h"
#include "cuda/cuda_api.h"
#include "devices/texture_table.h"

namespace aw {

// An entry of the texture unit's table, for as long as the object lives.
// What a program passes may be no mode at all.
inline bool is_address_mode(CUaddress_mode mode) {
  return mode >= CU_TR_ADDRESS_MODE_WRAP && mode <= CU_TR_ADDRESS_MODE_BORDER;
}
inline bool is_filter_mode(CUfilter_mode mode) {
  return mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR;
}

struct TextureSlot {
  uint64_t handle;
  explicit TextureSlot(const TextureView& view);  // throws OUT_OF_MEMORY
  ~TextureSlot();
  TextureSlot(const TextureSlot&) = delete;
  TextureSlot& operator=(const TextureSlot&) = delete;
};

struct Texture {
  std::weak_ptr<Context> context;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC sampling{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
  std::unique_ptr<TextureSlot> slot;
};

struct Surface {
  std::weak_ptr<Context> context;
  CUDA_RESOURCE_DESC resource{};
  std::unique_ptr<TextureSlot> slot;
};

Handles<Texture>& textures();
Handles<Surface>& surfaces();

// All throw INVALID_VALUE for what the manual forbids (cuTexObjectCreate, cuSurfObjectCreate).
void check_texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
                   const CUDA_RESOURCE_VIEW_DESC* view);
void check_surface(const CUDA_RESOURCE_DESC& resource);

// What the texture unit reads; of descriptions that were checked.
TextureView texture_view(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
                         const CUDA_RESOURCE_VIEW_DESC* view);
TextureView surface_view(const CUDA_RESOURCE_DESC& resource);

}  // namespace aw

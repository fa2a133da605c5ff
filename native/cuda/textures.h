// Texture and surface objects: checked descriptions of memory and of how to sample it, by handle.
// Kernels hold the handles; their instructions (tex, tld4, suld, sust and their kin) are refused by
// name when such a kernel is launched, so that nothing is ever sampled wrongly. Whoever
// implements them finds the description here by the number that the kernel holds.
#pragma once

#include <memory>
#include <optional>

#include "cuda/context.h"
#include "cuda/texture_api.h"

namespace aw {

// Descriptions name arrays by handle: one that the program destroyed meanwhile is not found then.
struct Texture {
  std::weak_ptr<Context> context;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC sampling{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

struct Surface {
  std::weak_ptr<Context> context;
  CUDA_RESOURCE_DESC resource{};
};

Handles<Texture>& textures();
Handles<Surface>& surfaces();

// All throw INVALID_VALUE for what the manual forbids (cuTexObjectCreate, cuSurfObjectCreate).
void check_texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
                   const CUDA_RESOURCE_VIEW_DESC* view);
void check_surface(const CUDA_RESOURCE_DESC& resource);

}  // namespace aw

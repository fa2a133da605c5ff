// Driver API reference: texture object management, surface object management.
#include "cuda/textures.h"

#include "cuda/arrays.h"
#include "cuda/device_attributes.h"
#include "cuda/visible.h"

namespace aw {

Handles<Texture>& textures() {
  static auto& instance = *new Handles<Texture>;
  return instance;
}

Handles<Surface>& surfaces() {
  static auto& instance = *new Handles<Surface>;
  return instance;
}

}  // namespace aw

using namespace aw;

namespace {

std::shared_ptr<Texture> texture_of(CUtexObject handle) {
  current_context();
  auto texture = textures().find(handle);
  require(texture != nullptr);
  return texture;
}

}  // namespace

AW_EXPORT CUresult cuTexObjectCreate(CUtexObject* out, const CUDA_RESOURCE_DESC* resource,
                                     const CUDA_TEXTURE_DESC* sampling,
                                     const CUDA_RESOURCE_VIEW_DESC* view) {
  return api<"cuTexObjectCreate">([&] {
    auto context = current_context();
    require(out && resource && sampling);
    check_texture(*resource, *sampling, view);
    auto made = std::make_shared<Texture>();
    made->context = context, made->resource = *resource, made->sampling = *sampling;
    if (view) made->view = *view;
    made->slot = std::make_unique<TextureSlot>(texture_view(*resource, *sampling, view));
    textures().insert(made->slot->handle, made);
    *out = made->slot->handle;
  });
}

AW_EXPORT CUresult cuTexObjectDestroy(CUtexObject handle) {
  return api<"cuTexObjectDestroy">([&] {
    current_context();
    require(textures().remove(handle) != nullptr);
  });
}

AW_EXPORT CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject handle) {
  return api<"cuTexObjectGetResourceDesc">([&] {
    require(out);
    *out = texture_of(handle)->resource;
  });
}

AW_EXPORT CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject handle) {
  return api<"cuTexObjectGetTextureDesc">([&] {
    require(out);
    *out = texture_of(handle)->sampling;
  });
}

AW_EXPORT CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* out,
                                                  CUtexObject handle) {
  return api<"cuTexObjectGetResourceViewDesc">([&] {
    require(out);
    auto texture = texture_of(handle);
    require(texture->view.has_value());
    *out = *texture->view;
  });
}

AW_EXPORT CUresult cuSurfObjectCreate(CUsurfObject* out, const CUDA_RESOURCE_DESC* resource) {
  return api<"cuSurfObjectCreate">([&] {
    auto context = current_context();
    require(out && resource);
    check_surface(*resource);
    auto made = std::make_shared<Surface>();
    made->context = context, made->resource = *resource;
    made->slot = std::make_unique<TextureSlot>(surface_view(*resource));
    surfaces().insert(made->slot->handle, made);
    *out = made->slot->handle;
  });
}

AW_EXPORT CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return api<"cuSurfObjectDestroy">([&] {
    current_context();
    require(surfaces().remove(handle) != nullptr);
  });
}

AW_EXPORT CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject handle) {
  return api<"cuSurfObjectGetResourceDesc">([&] {
    current_context();
    require(out);
    auto surface = surfaces().find(handle);
    require(surface != nullptr);
    *out = surface->resource;
  });
}

AW_EXPORT CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* out, CUarray_format format,
                                                      unsigned channels, CUdevice dev) {
  return api<"cuDeviceGetTexture1DLinearMaxWidth">([&] {
    require(out);
    check_device(dev);
    element_bytes(format, channels);
    int elements = 0;  // the same for elements of every size
    device_attribute(69, &elements);
    *out = static_cast<size_t>(elements);
  });
}

// Driver API reference: texture reference management, surface reference management (deprecated).
#include "cuda/texture_references.h"

#include <algorithm>

#include "cuda/arrays.h"
#include "cuda/device_attributes.h"
#include "cuda/module.h"

namespace aw {
namespace {

Handles<TextureReference>& references() {
  static auto& instance = *new Handles<TextureReference>;
  return instance;
}

std::shared_ptr<TextureReference> reference_of(const void* handle) {
  current_context();
  auto found = references().find(handle);
  require(found != nullptr);
  return found;
}

// Launches before the change still see what was bound then: they are done first.
void publish_slot(TextureReference& r, std::unique_ptr<TextureSlot> slot) {
  if (auto owner = r.context.lock()) owner->wait_for_streams();
  r.slot = std::move(slot);
  uint64_t handle = r.slot ? r.slot->handle : 0;
  if (r.cell) write_reference(r.cell, handle);
}

// Calls come in any order; coordinates in mipmapped arrays are always normalised.
CUDA_TEXTURE_DESC effective(const TextureReference& r, const CUDA_RESOURCE_DESC& resource) {
  CUDA_TEXTURE_DESC sampling = r.sampling;
  if (resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
    sampling.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  check_texture(resource, sampling, nullptr);
  return sampling;
}

void rebind(TextureReference& r) {
  if (!r.bound) return;
  auto sampling = effective(r, r.resource);
  publish_slot(r, std::make_unique<TextureSlot>(texture_view(r.resource, sampling, nullptr)));
}

// Sets one thing; what was there stays when it does not fit with the rest.
template <class Change>
void change_reference(CUtexref handle, Change set) {
  auto reference = reference_of(handle);
  CUDA_TEXTURE_DESC before = reference->sampling;
  set(*reference);
  try {
    rebind(*reference);
  } catch (...) {
    reference->sampling = before;
    throw;
  }
}

void bind(TextureReference& r, const CUDA_RESOURCE_DESC& resource) {
  effective(r, resource);  // throws before anything changes
  r.resource = resource, r.bound = true;
  rebind(r);
}

std::shared_ptr<TextureReference> find_or_make(Module& module, const char* name, const char* kind) {
  auto found = module.description->references.find(name);
  require(found != module.description->references.end() && found->second.kind == kind,
          CUDA_ERROR_NOT_FOUND);
  auto& known = module.references[name];
  if (known) return known;
  auto made = std::make_shared<TextureReference>();
  made->context = module.context, made->data = module.data;
  made->cell = reinterpret_cast<uint64_t>(module.data->base) + found->second.offset;
  made->handle = references().add(made);
  return known = made;
}

int value_of_attribute(int number) {
  int value = 0;
  device_attribute(number, &value);
  return value;
}

}  // namespace

void forget_references(Module& module) {
  for (auto& [name, reference] : module.references)
    references().remove(as_handle<CUtexref>(reference->handle));
  module.references.clear();
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuModuleGetTexRef(CUtexref* out, CUmodule module, const char* name) {
  return api<"cuModuleGetTexRef">([&] {
    require(out && name);
    current_context();
    *out = as_handle<CUtexref>(find_or_make(*module_of(module), name, "texref")->handle);
  });
}

AW_EXPORT CUresult cuModuleGetSurfRef(CUsurfref* out, CUmodule module, const char* name) {
  return api<"cuModuleGetSurfRef">([&] {
    require(out && name);
    current_context();
    *out = as_handle<CUsurfref>(find_or_make(*module_of(module), name, "surfref")->handle);
  });
}

AW_EXPORT CUresult cuTexRefCreate(CUtexref* out) {
  return api<"cuTexRefCreate">([&] {
    require(out);
    auto made = std::make_shared<TextureReference>();
    made->context = current_context();
    made->handle = references().add(made);
    *out = as_handle<CUtexref>(made->handle);
  });
}

AW_EXPORT CUresult cuTexRefDestroy(CUtexref handle) {
  return api<"cuTexRefDestroy">([&] {
    require(reference_of(handle)->cell == 0);  // a module's goes with the module
    references().remove(handle);
  });
}

// --- binding ------------------------------------------------------------------------------------

AW_EXPORT CUresult cuTexRefSetArray(CUtexref handle, CUarray array, unsigned flags) {
  return api<"cuTexRefSetArray">([&] {
    auto reference = reference_of(handle);
    require(flags == CU_TRSA_OVERRIDE_FORMAT);
    auto shape = array_of(array)->shape;
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY, resource.res.array.hArray = array;
    bind(*reference, resource);
    reference->format = shape.Format, reference->channels = static_cast<int>(shape.NumChannels);
  });
}

AW_EXPORT CUresult cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray array,
                                             unsigned flags) {
  return api<"cuTexRefSetMipmappedArray">([&] {
    auto reference = reference_of(handle);
    require(flags == CU_TRSA_OVERRIDE_FORMAT);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = array;
    bind(*reference, resource);
  });
}

AW_EXPORT CUresult cuTexRefSetAddress_v2(size_t* offset, CUtexref handle, CUdeviceptr address,
                                         size_t bytes) {
  return api<"cuTexRefSetAddress_v2">([&] {
    auto reference = reference_of(handle);
    size_t beyond = address % static_cast<size_t>(value_of_attribute(14));
    require(offset || beyond == 0);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    auto& l = resource.res.linear;
    l.devPtr = address - beyond, l.sizeInBytes = bytes + beyond;
    l.format = static_cast<CUarray_format>(reference->format);
    l.numChannels = static_cast<unsigned>(reference->channels);
    bind(*reference, resource);
    if (offset) *offset = beyond;
  });
}

AW_EXPORT CUresult cuTexRefSetAddress2D_v3(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* shape,
                                           CUdeviceptr address, size_t pitch) {
  return api<"cuTexRefSetAddress2D_v3">([&] {
    auto reference = reference_of(handle);
    require(shape);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    auto& p = resource.res.pitch2D;
    p.devPtr = address, p.format = shape->Format, p.numChannels = shape->NumChannels;
    p.width = shape->Width, p.height = shape->Height, p.pitchInBytes = pitch;
    bind(*reference, resource);
  });
}

AW_EXPORT CUresult cuTexRefSetAddress2D_v2(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* shape,
                                           CUdeviceptr address, size_t pitch) {
  return api<"cuTexRefSetAddress2D_v2">(
      [&] { return cuTexRefSetAddress2D_v3(handle, shape, address, pitch); });
}

AW_EXPORT CUresult cuSurfRefSetArray(CUsurfref handle, CUarray array, unsigned flags) {
  return api<"cuSurfRefSetArray">([&] {
    auto reference = reference_of(handle);
    require(flags == 0);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY, resource.res.array.hArray = array;
    check_surface(resource);
    publish_slot(*reference, std::make_unique<TextureSlot>(surface_view(resource)));
    reference->resource = resource, reference->bound = true;
  });
}

// --- how it is read -----------------------------------------------------------------------------

AW_EXPORT CUresult cuTexRefSetFormat(CUtexref handle, int format, int channels) {
  return api<"cuTexRefSetFormat">([&] {
    auto reference = reference_of(handle);
    element_bytes(static_cast<CUarray_format>(format), static_cast<unsigned>(channels));
    reference->format = format, reference->channels = channels;
  });
}

AW_EXPORT CUresult cuTexRefSetAddressMode(CUtexref handle, int axis, CUaddress_mode mode) {
  return api<"cuTexRefSetAddressMode">([&] {
    require(axis >= 0 && axis < 3 && is_address_mode(mode));
    change_reference(handle, [&](auto& r) { r.sampling.addressMode[axis] = mode; });
  });
}

AW_EXPORT CUresult cuTexRefSetFilterMode(CUtexref handle, CUfilter_mode mode) {
  return api<"cuTexRefSetFilterMode">([&] {
    require(is_filter_mode(mode));
    change_reference(handle, [&](auto& r) { r.sampling.filterMode = mode; });
  });
}

AW_EXPORT CUresult cuTexRefSetMipmapFilterMode(CUtexref handle, CUfilter_mode mode) {
  return api<"cuTexRefSetMipmapFilterMode">([&] {
    require(is_filter_mode(mode));
    change_reference(handle, [&](auto& r) { r.sampling.mipmapFilterMode = mode; });
  });
}

AW_EXPORT CUresult cuTexRefSetMipmapLevelBias(CUtexref handle, float bias) {
  return api<"cuTexRefSetMipmapLevelBias">(
      [&] { change_reference(handle, [&](auto& r) { r.sampling.mipmapLevelBias = bias; }); });
}

AW_EXPORT CUresult cuTexRefSetMipmapLevelClamp(CUtexref handle, float least, float most) {
  return api<"cuTexRefSetMipmapLevelClamp">([&] {
    change_reference(handle, [&](auto& r) {
      r.sampling.minMipmapLevelClamp = least, r.sampling.maxMipmapLevelClamp = most;
    });
  });
}

AW_EXPORT CUresult cuTexRefSetMaxAnisotropy(CUtexref handle, unsigned most) {
  return api<"cuTexRefSetMaxAnisotropy">(
      [&] { change_reference(handle, [&](auto& r) { r.sampling.maxAnisotropy = most; }); });
}

AW_EXPORT CUresult cuTexRefSetBorderColor(CUtexref handle, const float* colour) {
  return api<"cuTexRefSetBorderColor">([&] {
    require(colour);
    change_reference(handle, [&](auto& r) { std::copy_n(colour, 4, r.sampling.borderColor); });
  });
}

AW_EXPORT CUresult cuTexRefSetFlags(CUtexref handle, unsigned flags) {
  return api<"cuTexRefSetFlags">([&] {
    require((flags & ~0x73u) == 0);
    change_reference(handle, [&](auto& r) { r.sampling.flags = flags; });
  });
}

// --- what was set -------------------------------------------------------------------------------

namespace {

const CUDA_RESOURCE_DESC& bound(const TextureReference& r, CUresourcetype type) {
  require(r.bound && r.resource.resType == type);
  return r.resource;
}

}  // namespace

AW_EXPORT CUresult cuTexRefGetAddress_v2(CUdeviceptr* out, CUtexref handle) {
  return api<"cuTexRefGetAddress_v2">([&] {
    auto reference = reference_of(handle);
    require(out && reference->bound);
    bool rows = reference->resource.resType == CU_RESOURCE_TYPE_PITCH2D;
    *out = rows ? reference->resource.res.pitch2D.devPtr
                : bound(*reference, CU_RESOURCE_TYPE_LINEAR).res.linear.devPtr;
  });
}

AW_EXPORT CUresult cuTexRefGetArray(CUarray* out, CUtexref handle) {
  return api<"cuTexRefGetArray">([&] {
    auto reference = reference_of(handle);
    require(out);
    *out = bound(*reference, CU_RESOURCE_TYPE_ARRAY).res.array.hArray;
  });
}

AW_EXPORT CUresult cuSurfRefGetArray(CUarray* out, CUsurfref handle) {
  return api<"cuSurfRefGetArray">([&] {
    auto reference = reference_of(handle);
    require(out);
    *out = bound(*reference, CU_RESOURCE_TYPE_ARRAY).res.array.hArray;
  });
}

AW_EXPORT CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* out, CUtexref handle) {
  return api<"cuTexRefGetMipmappedArray">([&] {
    auto reference = reference_of(handle);
    require(out);
    *out = bound(*reference, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY).res.mipmap.hMipmappedArray;
  });
}

AW_EXPORT CUresult cuTexRefGetFormat(int* format, int* channels, CUtexref handle) {
  return api<"cuTexRefGetFormat">([&] {
    auto reference = reference_of(handle);
    if (format) *format = reference->format;
    if (channels) *channels = reference->channels;
  });
}

AW_EXPORT CUresult cuTexRefGetAddressMode(int* out, CUtexref handle, int axis) {
  return api<"cuTexRefGetAddressMode">([&] {
    auto reference = reference_of(handle);
    require(out && axis >= 0 && axis < 3);
    *out = reference->sampling.addressMode[axis];
  });
}

AW_EXPORT CUresult cuTexRefGetFilterMode(int* out, CUtexref handle) {
  return api<"cuTexRefGetFilterMode">([&] {
    auto reference = reference_of(handle);
    require(out);
    *out = reference->sampling.filterMode;
  });
}

AW_EXPORT CUresult cuTexRefGetMipmapFilterMode(int* out, CUtexref handle) {
  return api<"cuTexRefGetMipmapFilterMode">([&] {
    auto reference = reference_of(handle);
    require(out);
    *out = reference->sampling.mipmapFilterMode;
  });
}

AW_EXPORT CUresult cuTexRefGetMipmapLevelBias(float* out, CUtexref handle) {
  return api<"cuTexRefGetMipmapLevelBias">([&] {
    auto reference = reference_of(handle);
    require(out);
    *out = reference->sampling.mipmapLevelBias;
  });
}

AW_EXPORT CUresult cuTexRefGetMipmapLevelClamp(float* least, float* most, CUtexref handle) {
  return api<"cuTexRefGetMipmapLevelClamp">([&] {
    auto reference = reference_of(handle);
    require(least && most);
    *least = reference->sampling.minMipmapLevelClamp;
    *most = reference->sampling.maxMipmapLevelClamp;
  });
}

AW_EXPORT CUresult cuTexRefGetMaxAnisotropy(int* out, CUtexref handle) {
  return api<"cuTexRefGetMaxAnisotropy">([&] {
    auto reference = reference_of(handle);
    require(out);
    *out = static_cast<int>(reference->sampling.maxAnisotropy);
  });
}

AW_EXPORT CUresult cuTexRefGetBorderColor(float* out, CUtexref handle) {
  return api<"cuTexRefGetBorderColor">([&] {
    auto reference = reference_of(handle);
    require(out);
    std::copy_n(reference->sampling.borderColor, 4, out);
  });
}

AW_EXPORT CUresult cuTexRefGetFlags(unsigned* out, CUtexref handle) {
  return api<"cuTexRefGetFlags">([&] {
    auto reference = reference_of(handle);
    require(out);
    *out = reference->sampling.flags;
  });
}

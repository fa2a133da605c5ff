// The texture unit of the device hip: one lane's texture or surface instruction, in code that
// kernels are linked with. The formulas are those of the processor's unit, compiled for the device
// by make_textures.py. Objects are described in core/hip_texture.h.
#include "core/hip_texture.h"
#include "devices/texture_unit.h"

namespace aw {
namespace {

using Form = TextureForm;

bool is_object(uint64_t address) {
  return address && address % 16 == 0 &&
         *reinterpret_cast<const uint64_t*>(address) == kHipTextureMark;
}

uint64_t content(uint64_t address) { return *reinterpret_cast<const uint64_t*>(address); }

// The object behind a handle, or behind the address of a variable that it is bound to.
const HipTexture* object_of(uint64_t value) {
  if (!value || value % 8) return nullptr;
  if (!is_object(value)) value = content(value);
  return is_object(value) ? reinterpret_cast<const HipTexture*>(value) : nullptr;
}

// A sampler's own variable has bit 63 set (apply_sampler in texture_unit.h).
bool is_sampler(uint64_t value) {
  return value && value % 8 == 0 && !is_object(value) && content(value) >> 63;
}

bool is_surface_access(const Form& f) {
  return f.kind >= Form::surface_load && f.kind <= Form::formatted_reduce;
}

uint32_t fault_of(const Form& f, const HipTexture* object) {
  if (!object) return kNoObject;
  const TextureView& v = object->view;
  if (f.kind != Form::query && v.surface != is_surface_access(f))
    return v.surface ? kSurfaceForTexture : kTextureForSurface;
  bool cubes = f.geometry == Form::cube || f.geometry == Form::acube;
  if (cubes && f.kind <= Form::gather && !v.cube) return kNoCubemap;
  return 0;
}

// --- queries ------------------------------------------------------------------------------------

// Neither tables nor a switch over constants: both would be memory of their own.
uint32_t data_type(const TextureView& v) {
  auto index = static_cast<unsigned>(v.channel);
  bool is_signed = index & 1;
  if (index >= 6) return index == 6 ? 0x10dd : 0x10de;
  if (v.fractions && index < 4) return (is_signed ? 0x10d0 : 0x10d2) + index / 2;
  return (is_signed ? 0x10d7 : 0x10da) + index / 2;
}

uint32_t address_mode(AddressMode mode) {
  return mode == AddressMode::wrap     ? 0
         : mode == AddressMode::clamp  ? 3
         : mode == AddressMode::mirror ? 1
                                       : 4;
}

enum Query : unsigned {
  kWidth,
  kHeight,
  kDepth,
  kDataType,
  kOrder,
  kNormalized,
  kArraySize,
  kLevels,
  kSamples,
  kForceUnnormalized,
  kFilter,
  kAddress0,
  kAddress1,
  kAddress2,
  kLayout
};

uint32_t answer(const TextureView& v, unsigned query, int32_t level) {
  auto last = static_cast<int32_t>(v.levels) - 1;
  const TextureLevel& l = v.level[level < 0 ? 0 : level > last ? last : level];
  if (query == kWidth) return l.width;
  if (query == kHeight) return v.dimensions > 1 ? l.height : 0;
  if (query == kDepth) return v.dimensions > 2 ? l.depth : 0;
  if (query == kDataType) return data_type(v);
  if (query == kOrder) return v.channels == 1 ? 0x10b0 : v.channels == 2 ? 0x10b2 : 0x10b5;
  if (query == kNormalized) return v.normalized;
  if (query == kArraySize) return v.layered ? v.layers / (v.cube ? 6 : 1) : 0;
  if (query == kLevels) return v.mipmapped ? v.levels : 0;
  if (query == kFilter) return !v.pointwise;
  if (query >= kAddress0 && query <= kAddress2) return address_mode(v.address[query - kAddress0]);
  return 0;
}

uint32_t sampler_answer(uint64_t bits, unsigned query) {
  if (query == kFilter) return bits & 1;
  if (query == kForceUnnormalized) return bits >> 1 & 1;
  if (query >= kAddress0 && query <= kAddress2) return bits >> (4 + 4 * (query - kAddress0)) & 15;
  return 0;
}

}  // namespace

void apply_sampler(TextureView& v, uint64_t bits) {
  v.pointwise = !(bits & 1);
  if (bits & 2) v.normalized = false;
  for (unsigned i = 0; i < 3; ++i) {
    unsigned mode = bits >> (4 + 4 * i) & 15;
    v.address[i] = mode == 0   ? AddressMode::wrap
                   : mode == 1 ? AddressMode::mirror
                   : mode < 4  ? AddressMode::clamp
                               : AddressMode::border;
  }
}

}  // namespace aw

using namespace aw;

// Each returns an HipTextureFault or 0; `out` has room for four words.
extern "C" {

uint32_t aw_hip_texture_fetch(uint32_t form, uint64_t value, const uint32_t* words, uint32_t* out) {
  const Form f(form);
  const HipTexture* object = object_of(value);
  if (uint32_t fault = fault_of(f, object)) return fault;
  (f.kind == Form::fetch ? sample : gather)(object->view, f, words, 1, out);
  return 0;
}

uint32_t aw_hip_texture_sampled(uint32_t form, uint64_t value, uint64_t sampler,
                                const uint32_t* words, uint32_t* out) {
  const Form f(form);
  const HipTexture* object = object_of(value);
  if (uint32_t fault = fault_of(f, object)) return fault;
  if (!is_sampler(sampler)) return kNoSampler;
  TextureView view = object->view;
  apply_sampler(view, content(sampler));
  (f.kind == Form::fetch ? sample : gather)(view, f, words, 1, out);
  return 0;
}

uint32_t aw_hip_texture_access(uint32_t form, uint64_t value, const uint32_t* words,
                               uint32_t* out) {
  const Form f(form);
  const HipTexture* object = object_of(value);
  if (uint32_t fault = fault_of(f, object)) return fault;
  return access_surface(object->view, f, words, 1, out, 1) ? kBadAccess : 0;
}

uint32_t aw_hip_texture_query(uint32_t form, uint64_t value, const uint32_t* words, uint32_t* out) {
  const Form f(form);
  if (f.kind == Form::is_type) {
    const HipTexture* object = object_of(value);
    unsigned kind = is_sampler(value) ? 2 : !object ? 0 : object->view.surface ? 3 : 1;
    *out = kind == f.detail;
    return 0;
  }
  if (is_sampler(value)) {
    *out = sampler_answer(content(value), f.detail);
    return 0;
  }
  const HipTexture* object = object_of(value);
  if (uint32_t fault = fault_of(f, object)) return fault;
  *out = answer(object->view, f.detail, f.mode ? static_cast<int32_t>(*words) : 0);
  return 0;
}

}  // extern "C"

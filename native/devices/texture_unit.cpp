#include "devices/texture_unit.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/host_services.h"
#include "devices/faults.h"
#include "devices/texture_batch.h"
#include "devices/texture_table.h"

namespace aw {
namespace {

thread_local char fault_text[128];

// Ends the kernel that called us. Outside the driver (kernels run in a test's own process) there is
// nobody to end it: the text is left for the caller, and the lanes go on with zeros.
void fault(unsigned lane, const char* text) {
  raise_fault(719, lane, text);
  snprintf(fault_text, sizeof fault_text, "%s", text);
}

// --- what lanes name ----------------------------------------------------------------------------

// The object behind a handle, or behind the address of a variable that it is bound to.
const TextureView* object_of(uint64_t value) {
  if (const TextureView* view = find_texture_view(value)) return view;
  int kind = find_reference(value);
  if (kind != static_cast<int>(Reference::texture) && kind != static_cast<int>(Reference::surface))
    return nullptr;
  return find_texture_view(*reinterpret_cast<const uint64_t*>(value));
}

// Neighbouring lanes name the same objects nearly always, so the last answer is kept.
class Objects {
 public:
  Objects(const TextureForm& form, uint32_t lanes, const uint64_t* values)
      : form_(form), lanes_(lanes), values_(values) {}

  // Null after a fault.
  const TextureView* of(uint32_t lane) {
    uint64_t object = values_[lane], sampler = form_.sampler ? values_[lanes_ + lane] : 0;
    if (known_ && object == object_ && sampler == sampler_) return view_;
    known_ = true, object_ = object, sampler_ = sampler;
    view_ = find(lane);
    return view_;
  }

  // The object of every lane in the mask if they all fetch from one; else null.
  const TextureView* of_all(const uint8_t* mask) {
    if (form_.kind != TextureForm::fetch) return nullptr;
    uint32_t first = lanes_;
    for (uint32_t lane = 0; lane < lanes_; ++lane) {
      if (!(mask[lane >> 3] >> (lane & 7) & 1)) continue;
      if (first == lanes_) first = lane;
      if (values_[lane] != values_[first]) return nullptr;
      if (form_.sampler && values_[lanes_ + lane] != values_[lanes_ + first]) return nullptr;
    }
    return first < lanes_ ? of(first) : nullptr;
  }

 private:
  bool is_surface_access() const {
    return form_.kind >= TextureForm::surface_load && form_.kind <= TextureForm::formatted_reduce;
  }

  const TextureView* find(uint32_t lane) {
    const TextureView* found = object_of(object_);
    if (!found) return failed(lane, "there is no texture or surface object of that handle");
    if (form_.kind != TextureForm::query && found->surface != is_surface_access()) {
      return failed(lane, found->surface ? "a surface where a texture belongs"
                                         : "a texture where a surface belongs");
    }
    bool cubes = form_.geometry == TextureForm::cube || form_.geometry == TextureForm::acube;
    if (cubes && !is_surface_access() && form_.kind != TextureForm::query && !found->cube)
      return failed(lane, "a cubemap fetch from a texture that is no cubemap");
    if (!form_.sampler) return found;
    if (find_reference(sampler_) != static_cast<int>(Reference::sampler))
      return failed(lane, "there is no sampler at that address");
    combined_ = *found;
    apply_sampler(combined_, *reinterpret_cast<const uint64_t*>(sampler_));
    return &combined_;
  }

  const TextureView* failed(uint32_t lane, const char* text) {
    known_ = false;
    fault(lane, text);
    return nullptr;
  }

  const TextureForm& form_;
  uint32_t lanes_;
  const uint64_t* values_;
  bool known_ = false;
  uint64_t object_ = 0, sampler_ = 0;
  const TextureView* view_ = nullptr;
  TextureView combined_;
};

// --- queries ------------------------------------------------------------------------------------

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

// OpenCL's numbers, the only ones that the PTX manual knows (section 5.3.3).
uint32_t data_type(const TextureView& v) {
  constexpr uint32_t kOf[] = {0x10da, 0x10d7, 0x10db, 0x10d8, 0x10dc, 0x10d9, 0x10dd, 0x10de};
  constexpr uint32_t kFractions[] = {0x10d2, 0x10d0, 0x10d3, 0x10d1};
  auto index = static_cast<unsigned>(v.channel);
  return v.fractions && index < 4 ? kFractions[index] : kOf[index];
}

uint32_t channel_order(const TextureView& v) {
  return v.channels == 1 ? 0x10b0 : v.channels == 2 ? 0x10b2 : 0x10b5;
}

uint32_t address_mode(AddressMode mode) {
  constexpr uint32_t kOf[] = {0, 3, 1,
                              4};  // wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border
  return kOf[static_cast<unsigned>(mode)];
}

uint32_t answer(const TextureView& v, unsigned query, int32_t level) {
  const TextureLevel& l = v.level[std::clamp<int64_t>(level, 0, v.levels - 1)];
  switch (query) {
    case kWidth:
      return l.width;
    case kHeight:
      return v.dimensions > 1 ? l.height : 0;
    case kDepth:
      return v.dimensions > 2 ? l.depth : 0;
    case kDataType:
      return data_type(v);
    case kOrder:
      return channel_order(v);
    case kNormalized:
      return v.normalized;
    case kArraySize:
      return v.layered ? v.layers / (v.cube ? 6 : 1) : 0;
    case kLevels:
      return v.mipmapped ? v.levels : 0;
    case kFilter:
      return !v.pointwise;
    case kAddress0:
    case kAddress1:
    case kAddress2:
      return address_mode(v.address[query - kAddress0]);
    default:  // samples (none is multi-sampled), layout (opaque)
      return 0;
  }
}

// A sampler's own variable, which only independent mode has.
uint32_t sampler_answer(uint64_t bits, unsigned query) {
  if (query == kFilter) return bits & 1;
  if (query == kForceUnnormalized) return bits >> 1 & 1;
  if (query >= kAddress0 && query <= kAddress2) return bits >> (4 + 4 * (query - kAddress0)) & 15;
  return 0;
}

uint32_t handle_kind(uint64_t value) {
  if (const TextureView* view = find_texture_view(value))
    return static_cast<uint32_t>(view->surface ? Reference::surface : Reference::texture);
  return static_cast<uint32_t>(find_reference(value));
}

// --- one lane -----------------------------------------------------------------------------------

void run_lane(const TextureForm& f, Objects& objects, uint32_t lane, uint32_t lanes,
              const uint64_t* values, const uint32_t* words, uint32_t* results) {
  const uint32_t* word = words + lane;
  uint32_t* out = results + lane;
  if (f.kind == TextureForm::is_type) {
    *out = handle_kind(values[lane]) == f.detail;
    return;
  }
  bool sampler = f.kind == TextureForm::query &&
                 find_reference(values[lane]) == static_cast<int>(Reference::sampler);
  if (sampler) {
    *out = sampler_answer(*reinterpret_cast<const uint64_t*>(values[lane]), f.detail);
    return;
  }
  const TextureView* view = objects.of(lane);
  uint32_t texel[4] = {};
  if (f.kind == TextureForm::query) {
    *out = view ? answer(*view, f.detail, f.mode ? static_cast<int32_t>(*word) : 0) : 0;
  } else if (f.kind <= TextureForm::gather) {
    if (view) (f.kind == TextureForm::fetch ? sample : gather)(*view, f, word, lanes, texel);
    for (unsigned i = 0; i < 4; ++i) out[uint64_t{i} * lanes] = texel[i];
  } else if (view) {
    if (const char* error = access_surface(*view, f, word, lanes, out, lanes)) fault(lane, error);
  }
}

}  // namespace

void apply_sampler(TextureView& v, uint64_t bits) {
  constexpr AddressMode kOf[] = {AddressMode::wrap, AddressMode::mirror, AddressMode::clamp,
                                 AddressMode::clamp, AddressMode::border};
  v.pointwise = !(bits & 1);
  if (bits & 2) v.normalized = false;
  for (unsigned i = 0; i < 3; ++i)
    v.address[i] = kOf[std::min<uint64_t>(bits >> (4 + 4 * i) & 15, 4)];
}

}  // namespace aw

using namespace aw;

void aw_texture(AwWorker*, uint32_t form, uint32_t lanes, const uint8_t* mask,
                const uint64_t* objects, const uint32_t* words, uint32_t* results) {
  const TextureForm f(form);
  Objects found(f, lanes, objects);
  if (const TextureView* view = found.of_all(mask)) {
    if (sample_batch(*view, f, lanes, mask, words, results)) return;
  }
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (mask[lane >> 3] >> (lane & 7) & 1) run_lane(f, found, lane, lanes, objects, words, results);
  }
}

const char* aw_texture_fault() {
  thread_local char taken[sizeof fault_text];
  memcpy(taken, fault_text, sizeof taken);
  fault_text[0] = 0;
  return taken;
}

// Texture fetches by the rules of the CUDA C++ Programming Guide (appendix "Texture Fetching") and
// of the PTX manual (tex, tld4). Sums are made in double precision and rounded once;
// docs/textures.md says what is done where the manuals leave it open.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "devices/texture_unit.h"

namespace aw {
namespace {

constexpr int64_t kOutside = -1;  // an index that means the border

struct Texel {
  double value[4];
};

// Where the texels of one axis lie: two neighbours and the weight of the second in 1/256ths.
struct Axis {
  int64_t first = 0, second = 0;
  unsigned weight = 0;
};

float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t as_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

double real(uint32_t bits) {
  float value = as_float(bits);
  return std::isnan(value) ? 0 : value;
}

// --- addresses ----------------------------------------------------------------------------------

int64_t index_of(int64_t i, int64_t size, AddressMode mode) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case AddressMode::wrap:
      return (i % size + size) % size;
    case AddressMode::mirror:  // one step beyond an end: coordinates are mirrored already
    case AddressMode::clamp:
      return i < 0 ? 0 : size - 1;
    case AddressMode::border:
      break;
  }
  return kOutside;
}

// The coordinate in texels with the address mode applied to it; exact, since a float times a size
// fits into a double.
double reduced(double x, int64_t size, AddressMode mode) {
  if (mode == AddressMode::clamp || mode == AddressMode::border) return std::clamp(x, -1e9, 1e9);
  if (!std::isfinite(x)) return 0;
  double period = static_cast<double>(mode == AddressMode::mirror ? 2 * size : size);
  double within = std::fmod(x, period);
  if (within < 0) within += period;
  if (mode == AddressMode::wrap && within >= period) within = std::nextafter(period, 0.0);
  if (mode == AddressMode::mirror && within >= static_cast<double>(size)) within = period - within;
  return within;
}

// Only normalised coordinates wrap around (CUDA Driver API, cuTexObjectCreate).
AddressMode mode_of(AddressMode mode, bool normalized) {
  bool around = mode == AddressMode::wrap || mode == AddressMode::mirror;
  return around && !normalized ? AddressMode::clamp : mode;
}

struct Coordinate {
  double x;
  int offset;
  bool normalized;
};

Axis locate(AddressMode given, const Coordinate& at, uint32_t extent, bool two) {
  auto size = static_cast<int64_t>(extent);
  AddressMode mode = mode_of(given, at.normalized);
  double u = reduced((at.normalized ? at.x * extent : at.x) + at.offset, size, mode);
  if (!two) {
    auto i = static_cast<int64_t>(std::floor(u));
    return {index_of(i, size, mode), 0, 0};
  }
  auto fixed = static_cast<int64_t>(std::floor((u - 0.5) * 256 + 0.5));
  int64_t i = fixed >> 8;
  return {index_of(i, size, mode), index_of(i + 1, size, mode), static_cast<unsigned>(fixed & 255)};
}

// --- texels -------------------------------------------------------------------------------------

constexpr double kLinearOfSrgb[256] = {
#include "devices/srgb_table.inc"
};

// What a stored integer is divided by; 1 for floats and for colours that a table converts.
double divisor(const TextureView& v) {
  switch (v.channel) {
    case Channel::u8:
      return v.srgb ? 1 : 255;
    case Channel::s8:
      return 127;
    case Channel::u16:
      return 65535;
    case Channel::s16:
      return 32767;
    default:
      return 1;
  }
}

template <class T>
T load(const uint8_t* from, unsigned index) {
  T value;
  memcpy(&value, from + index * sizeof(T), sizeof value);
  return value;
}

double channel_value(const TextureView& v, const uint8_t* texel, unsigned c) {
  switch (v.channel) {
    case Channel::f32:
      return load<float>(texel, c);
    case Channel::u8:
      return v.srgb && c < 3 ? kLinearOfSrgb[texel[c]] : texel[c] / (v.srgb ? 255.0 : 1.0);
    case Channel::s8:
      return std::max<int>(load<int8_t>(texel, c), -127);
    case Channel::u16:
      return load<uint16_t>(texel, c);
    case Channel::s16:
      return std::max<int>(load<int16_t>(texel, c), -32767);
    case Channel::f16:
      return half_to_float(load<uint16_t>(texel, c));
    default:
      return 0;
  }
}

struct Place {
  const TextureLevel& level;
  uint64_t slice;  // layer, face or z
};

const uint8_t* texel_at(const TextureView& v, const TextureLevel& l, int64_t x, int64_t y,
                        int64_t z) {
  return l.base + static_cast<uint64_t>(z) * l.slice + static_cast<uint64_t>(y) * l.pitch +
         static_cast<uint64_t>(x) * texel_bytes(v);
}

// Adds `weight` times a texel; outside the texture the border's colour.
void add(const TextureView& v, const TextureLevel& l, int64_t x, int64_t y, int64_t z,
         double weight, Texel& sum) {
  if (weight == 0) return;  // its infinities do not count
  if (x == kOutside || y == kOutside || z == kOutside) {
    double scale = divisor(v);
    for (unsigned c = 0; c < v.channels; ++c)
      sum.value[c] += weight * scale * as_float(v.border[c]);
    return;
  }
  const uint8_t* texel = texel_at(v, l, x, y, z);
  for (unsigned c = 0; c < v.channels; ++c) sum.value[c] += weight * channel_value(v, texel, c);
}

// --- cubemaps -----------------------------------------------------------------------------------

struct Face {
  unsigned number = 0;
  double s = 0, t = 0, m = 1;  // minor axes and the major one's magnitude
};

// The guide's table of faces (section "Cubemap Textures"); of equal magnitudes z counts, then y.
Face face_of(double x, double y, double z) {
  double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (az >= ax && az >= ay) return std::signbit(z) ? Face{5, -x, -y, az} : Face{4, x, -y, az};
  if (ay >= ax) return std::signbit(y) ? Face{3, x, -z, ay} : Face{2, x, z, ay};
  return std::signbit(x) ? Face{1, z, -y, ax} : Face{0, -z, -y, ax};
}

// The direction of a place on a face; the inverse of face_of with m = 1.
void direction_of(unsigned face, double s, double t, double* d) {
  const double of[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
                           {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};
  for (unsigned i = 0; i < 3; ++i) d[i] = of[face][i];
}

// A texel up to one step beyond an edge of a face: on its neighbour, at the same place in space.
void add_across(const TextureView& v, const TextureLevel& l, uint64_t cube, unsigned face,
                int64_t x, int64_t y, double weight, Texel& sum) {
  auto size = static_cast<int64_t>(l.width);
  bool inside = x >= 0 && x < size && y >= 0 && y < size;
  if (!inside) {
    double d[3];
    auto n = static_cast<double>(size);
    direction_of(face, (2 * static_cast<double>(x) + 1) / n - 1,
                 (2 * static_cast<double>(y) + 1) / n - 1, d);
    Face other = face_of(d[0], d[1], d[2]);
    face = other.number;
    x = std::clamp<int64_t>(static_cast<int64_t>((other.s / other.m + 1) / 2 * n), 0, size - 1);
    y = std::clamp<int64_t>(static_cast<int64_t>((other.t / other.m + 1) / 2 * n), 0, size - 1);
  }
  add(v, l, x, y, static_cast<int64_t>(cube * 6 + face), weight, sum);
}

// --- one level ----------------------------------------------------------------------------------

// What a fetch names, in the instruction's terms.
struct Target {
  unsigned axes = 0;  // 1, 2 or 3
  double at[3] = {};  // coordinates; of a face in [0, 1]
  int offset[3] = {};
  int64_t slice = 0;  // layer or face; unused with 3 axes
  uint64_t cube = 0;
  unsigned face = 0;
  bool on_face = false;
};

// Coordinates of a face run from 0 to 1 whatever the object says.
Coordinate coordinate(const TextureView& v, const Target& t, unsigned axis) {
  return {t.at[axis], t.offset[axis], v.normalized || t.on_face};
}

uint32_t extent(const TextureLevel& l, unsigned axis) {
  return axis == 0 ? l.width : axis == 1 ? l.height : l.depth;
}

// Seamless cubemaps: the footprint goes on across edges; of the four texels around a corner only
// three exist, and their mean stands for the fourth.
void blend_seamless(const TextureView& v, const TextureLevel& l, const Target& t, double share,
                    Texel& sum) {
  int64_t base[2];
  unsigned weight[2];
  auto size = static_cast<int64_t>(l.width);
  for (unsigned a = 0; a < 2; ++a) {
    auto fixed = static_cast<int64_t>(std::floor((t.at[a] * l.width - 0.5) * 256 + 0.5));
    base[a] = fixed >> 8, weight[a] = static_cast<unsigned>(fixed & 255);
  }
  auto beyond = [&](int64_t i) { return i < 0 || i >= size; };
  double weights[4], missing = 0;
  for (unsigned k = 0; k < 4; ++k) {
    weights[k] =
        share * (k & 1 ? weight[0] : 256 - weight[0]) * (k & 2 ? weight[1] : 256 - weight[1]);
    if (!beyond(base[0] + (k & 1)) || !beyond(base[1] + (k >> 1))) continue;
    missing = weights[k], weights[k] = -1;
  }
  for (unsigned k = 0; k < 4; ++k) {
    if (weights[k] < 0) continue;
    add_across(v, l, t.cube, t.face, base[0] + (k & 1), base[1] + (k >> 1),
               weights[k] + missing / 3, sum);
  }
}

// Adds `share` times the level's value, whose weights sum to 2^16 for two axes and so on.
void blend_level(const TextureView& v, const TextureLevel& l, const Target& t, double share,
                 Texel& sum) {
  if (t.on_face && v.seamless && !v.pointwise) return blend_seamless(v, l, t, share, sum);
  Axis a[3];
  for (unsigned i = 0; i < t.axes; ++i)
    a[i] = locate(v.address[i], coordinate(v, t, i), extent(l, i), !v.pointwise);
  bool solid = t.axes == 3;
  for (unsigned k = 0; k < (v.pointwise ? 1u : 1u << t.axes); ++k) {
    double weight = share;
    int64_t index[3] = {0, 0, solid ? 0 : t.slice};
    for (unsigned i = 0; i < t.axes; ++i) {
      bool second = k >> i & 1;
      index[i] = second ? a[i].second : a[i].first;
      if (!v.pointwise) weight *= second ? a[i].weight : 256 - a[i].weight;
    }
    add(v, l, index[0], index[1], index[2], weight, sum);
  }
}

// Integers are never blended.
void read_nearest(const TextureView& v, const TextureLevel& l, const Target& t, uint32_t* out) {
  int64_t index[3] = {0, 0, t.axes == 3 ? 0 : t.slice};
  bool outside = false;
  for (unsigned i = 0; i < t.axes; ++i) {
    index[i] = locate(v.address[i], coordinate(v, t, i), extent(l, i), false).first;
    outside |= index[i] == kOutside;
  }
  if (outside) {
    for (unsigned c = 0; c < 4; ++c) out[c] = c < v.channels ? v.border[c] : 0;
  } else {
    read_texel(v, texel_at(v, l, index[0], index[1], index[2]), out);
  }
}

// --- levels -------------------------------------------------------------------------------------

// The level of detail from derivatives: log2 of the longer of the two steps in texels. `fractions`:
// steps are parts of the texture, not texels.
double level_of_gradients(const TextureView& v, unsigned axes, bool fractions, const double* dx,
                          const double* dy) {
  double longest = 0;
  for (const double* d : {dx, dy}) {
    double square = 0;
    for (unsigned i = 0; i < axes; ++i) {
      double step = d[i] * (fractions ? extent(v.level[0], i) : 1);
      square += step * step;
    }
    longest = std::max(longest, square);
  }
  return longest > 0 ? std::log2(longest) / 2 : -INFINITY;
}

// The level of detail in 1/256ths: bias added, clamped to what the object allows and has.
int fixed_level(const TextureView& v, double lod) {
  double most = std::min<double>(v.most, v.levels - 1), least = std::max<double>(v.least, 0);
  double level = std::isnan(lod) ? 0 : lod + v.bias;
  level = std::clamp(std::clamp(level, std::min(least, most), most), 0.0, double(kMostLevels));
  return static_cast<int>(level * 256);
}

// Choosing between 0.5 ahead and behind: the nearer level, halves up.
unsigned nearest_level(int fixed) { return static_cast<unsigned>(fixed + 128) >> 8; }

void store(const TextureView& v, const Texel& sum, double whole, uint32_t* out) {
  double scale = whole * divisor(v);
  for (unsigned c = 0; c < 4; ++c)
    out[c] = c < v.channels ? as_bits(static_cast<float>(sum.value[c] / scale)) : 0;
}

void fetch_levels(const TextureView& v, const Target& t, int fixed, uint32_t* out) {
  unsigned nearest = std::min(nearest_level(fixed), v.levels - 1);
  if (!reads_floats(v)) return read_nearest(v, v.level[nearest], t, out);
  double whole = v.pointwise ? 1 : std::ldexp(1.0, static_cast<int>(8 * t.axes));
  Texel sum{};
  unsigned lower = static_cast<unsigned>(fixed) >> 8, part = static_cast<unsigned>(fixed) & 255;
  if (!v.level_linear || part == 0 || lower + 1 >= v.levels) {
    blend_level(v, v.level[v.level_linear ? std::min(lower, v.levels - 1) : nearest], t, 1, sum);
  } else {
    blend_level(v, v.level[lower], t, 256 - part, sum);
    blend_level(v, v.level[lower + 1], t, part, sum);
    whole *= 256;
  }
  store(v, sum, whole, out);
}

// --- operands -----------------------------------------------------------------------------------

struct Operands {
  const uint32_t* word;
  uint64_t stride;
  uint32_t next() {
    uint32_t value = *word;
    word += stride;
    return value;
  }
};

bool has_layer(unsigned g) {
  return g == TextureForm::a1d || g == TextureForm::a2d || g == TextureForm::acube ||
         g == TextureForm::a2dms;
}

bool is_cube(unsigned g) { return g == TextureForm::cube || g == TextureForm::acube; }

unsigned axes_of(unsigned g) {
  if (g == TextureForm::g1d || g == TextureForm::a1d) return 1;
  return g == TextureForm::g3d ? 3 : 2;
}

// Past the last layer is the last layer (indices are unsigned).
uint64_t layer_of(const TextureView& v, uint32_t index, bool cubes) {
  uint32_t count = std::max(cubes ? v.layers / 6 : v.layers, 1u);
  return std::min(index, count - 1);
}

void project(Target& t, const double* d) {
  Face face = face_of(d[0], d[1], d[2]);
  t.face = face.number, t.on_face = true;
  double m = face.m > 0 ? face.m : 1;
  t.at[0] = (face.s / m + 1) / 2, t.at[1] = (face.t / m + 1) / 2;
  t.slice = static_cast<int64_t>(t.cube * 6 + t.face);
}

// How a face's coordinates move with the direction.
void project_step(const Target& t, const double* d, const double* step, double* out) {
  double axis[3];  // rows of the table of faces, applied to the step
  const double of[6][3] = {{-step[2], -step[1], step[0]}, {step[2], -step[1], -step[0]},
                           {step[0], step[2], step[1]},   {step[0], -step[2], -step[1]},
                           {step[0], -step[1], step[2]},  {-step[0], -step[1], -step[2]}};
  std::copy(of[t.face], of[t.face] + 3, axis);
  double m = std::max({std::fabs(d[0]), std::fabs(d[1]), std::fabs(d[2])});
  if (m == 0) m = 1;
  for (unsigned i = 0; i < 2; ++i) out[i] = (axis[i] - (2 * t.at[i] - 1) * axis[2]) / m / 2;
}

// Integer coordinates name a texel of a level; where there is none the result is zero.
void fetch_texel(const TextureView& v, const TextureForm& f, Operands words, uint32_t* out) {
  int64_t index[3] = {};
  unsigned axes = axes_of(f.geometry);
  uint64_t layer = has_layer(f.geometry) ? layer_of(v, words.next(), false) : 0;
  for (unsigned i = 0; i < axes; ++i) index[i] = static_cast<int32_t>(words.next());
  int64_t level = f.mode == 1 ? static_cast<int32_t>(words.next()) : 0;
  if (f.mode == 2) {
    double step[2][3];
    for (auto& row : step) {
      for (unsigned i = 0; i < axes; ++i) row[i] = real(words.next());
    }
    level = nearest_level(fixed_level(v, level_of_gradients(v, axes, false, step[0], step[1])));
  }
  for (unsigned i = 0; f.offsets && i < axes; ++i) index[i] += static_cast<int32_t>(words.next());
  const TextureLevel& l = v.level[std::clamp<int64_t>(level, 0, v.levels - 1)];
  bool inside = true;
  for (unsigned i = 0; i < axes; ++i) inside &= index[i] >= 0 && index[i] < extent(l, i);
  if (axes < 3) index[2] = static_cast<int64_t>(layer);
  if (!inside) return std::fill(out, out + 4, 0u);
  read_texel(v, texel_at(v, l, index[0], index[1], index[2]), out);
}

Target target_of(const TextureView& v, const TextureForm& f, Operands& words, double* direction) {
  Target t;
  bool cubes = is_cube(f.geometry);
  t.axes = axes_of(f.geometry);
  uint64_t layer = has_layer(f.geometry) ? layer_of(v, words.next(), cubes) : 0;
  t.slice = static_cast<int64_t>(layer), t.cube = layer;
  for (unsigned i = 0; i < (cubes ? 3 : t.axes); ++i)
    (cubes ? direction : t.at)[i] = real(words.next());
  if (cubes) project(t, direction);
  return t;
}

}  // namespace

void sample(const TextureView& v, const TextureForm& f, const uint32_t* word, uint64_t stride,
            uint32_t* out) {
  Operands words{word, stride};
  if (f.integers) return fetch_texel(v, f, words, out);
  double direction[3], lod = 0;
  Target t = target_of(v, f, words, direction);
  if (f.mode == 1) lod = as_float(words.next());
  if (f.mode == 2) {
    double step[2][3], on_face[2][3] = {};
    bool cubes = is_cube(f.geometry);
    for (auto& row : step) {
      for (unsigned i = 0; i < (cubes ? 3 : t.axes); ++i) row[i] = real(words.next());
    }
    for (unsigned i = 0; cubes && i < 2; ++i) project_step(t, direction, step[i], on_face[i]);
    lod = level_of_gradients(v, t.axes, v.normalized || cubes, cubes ? on_face[0] : step[0],
                             cubes ? on_face[1] : step[1]);
  }
  for (unsigned i = 0; f.offsets && i < t.axes; ++i)
    t.offset[i] = static_cast<int32_t>(words.next());
  // Without a level of its own an instruction reads the base level (PTX manual, tex: `.base`).
  int fixed = f.mode == 0 || v.levels == 1 ? 0 : fixed_level(v, lod);
  fetch_levels(v, t, fixed, out);
}

void gather(const TextureView& v, const TextureForm& f, const uint32_t* word, uint64_t stride,
            uint32_t* out) {
  Operands words{word, stride};
  double direction[3];
  Target t = target_of(v, f, words, direction);
  for (unsigned i = 0; f.offsets && i < 2; ++i) t.offset[i] = static_cast<int32_t>(words.next());
  const TextureLevel& l = v.level[0];
  Axis x = locate(v.address[0], coordinate(v, t, 0), l.width, true);
  Axis y = locate(v.address[1], coordinate(v, t, 1), l.height, true);
  // Counter-clockwise from the lower left (PTX manual, tld4).
  const int64_t corner[4][2] = {
      {x.first, y.second}, {x.second, y.second}, {x.second, y.first}, {x.first, y.first}};
  for (unsigned k = 0; k < 4; ++k) {
    uint32_t texel[4];
    if (corner[k][0] == kOutside || corner[k][1] == kOutside) {
      out[k] = f.detail < v.channels ? v.border[f.detail] : 0;
    } else {
      read_texel(v, texel_at(v, l, corner[k][0], corner[k][1], t.slice), texel);
      out[k] = texel[f.detail & 3];
    }
  }
}

void read_texel(const TextureView& v, const uint8_t* texel, uint32_t* out) {
  for (unsigned c = 0; c < 4; ++c) {
    if (c >= v.channels) {
      out[c] = 0;
    } else if (v.channel == Channel::f32 || v.channel == Channel::u32 ||
               v.channel == Channel::s32) {
      out[c] = load<uint32_t>(texel, c);
    } else if (reads_floats(v)) {
      out[c] = as_bits(static_cast<float>(channel_value(v, texel, c) / divisor(v)));
    } else if (v.channel == Channel::u8) {
      out[c] = texel[c];
    } else if (v.channel == Channel::s8) {
      out[c] = static_cast<uint32_t>(load<int8_t>(texel, c));
    } else if (v.channel == Channel::u16) {
      out[c] = load<uint16_t>(texel, c);
    } else {
      out[c] = static_cast<uint32_t>(load<int16_t>(texel, c));
    }
  }
}

}  // namespace aw

#include "cudart/array_formats.h"

namespace aw {
namespace {

struct Plain {
  cudaChannelFormatKind kind;
  int bits;
  CUarray_format format;
};

constexpr Plain kPlain[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

// Normalised integers: both enumerations have them in one order, unsigned and signed, 8 and 16
// bits, 1, 2 and 4 channels.
constexpr int kFirstKind = cudaChannelFormatKindUnsignedNormalized8X1;
constexpr int kFirstFormat = CU_AD_FORMAT_UNORM_INT8X1;
constexpr int kNormalised = 12;

bool is_normalised(CUarray_format format) {
  return format >= kFirstFormat && format < kFirstFormat + kNormalised;
}

int normalised_bits(int index) { return 8 << index / 3 % 2; }

// Channels of equal size without gaps: how many, or 0.
unsigned channels_of(const cudaChannelFormatDesc& d) {
  const int bits[] = {d.x, d.y, d.z, d.w};
  unsigned count = 0;
  while (count < 4 && bits[count] != 0) ++count;
  for (unsigned i = 0; i < 4; ++i) {
    if (bits[i] != (i < count ? bits[0] : 0)) return 0;
  }
  return count;
}

}  // namespace

ArrayFormat format_of(const cudaChannelFormatDesc& d) {
  unsigned channels = channels_of(d);
  int index = static_cast<int>(d.f) - kFirstKind;
  if (index >= 0 && index < kNormalised) {
    bool agrees = channels == 1u << index % 3 && d.x == normalised_bits(index);
    require(agrees, cudaErrorInvalidChannelDescriptor);
    return {static_cast<CUarray_format>(kFirstFormat + index), channels};
  }
  for (auto& plain : kPlain) {
    if (plain.kind == d.f && plain.bits == d.x && channels) return {plain.format, channels};
  }
  throw Failure(cudaErrorInvalidChannelDescriptor);
}

cudaChannelFormatDesc description_of(CUarray_format format, unsigned channels) {
  cudaChannelFormatDesc d = {};
  int bits = 0;
  if (is_normalised(format)) {
    int index = format - kFirstFormat;
    d.f = static_cast<cudaChannelFormatKind>(kFirstKind + index);
    bits = normalised_bits(index);
  }
  for (auto& plain : kPlain) {
    if (plain.format == format) d.f = plain.kind, bits = plain.bits;
  }
  require(bits != 0, cudaErrorInvalidChannelDescriptor);
  int* all[] = {&d.x, &d.y, &d.z, &d.w};
  for (unsigned i = 0; i < 4; ++i) *all[i] = i < channels ? bits : 0;
  return d;
}

size_t element_bytes(CUarray_format format, unsigned channels) {
  return static_cast<size_t>(description_of(format, channels).x) / 8 * channels;
}

}  // namespace aw

// Formats of array elements: the runtime describes channels by their bits, the driver by a format.
#pragma once

#include "cudart/api.h"

namespace aw {

struct ArrayFormat {
  CUarray_format format;
  unsigned channels;
};

// Throws INVALID_CHANNEL_DESCRIPTOR for what no array can hold.
ArrayFormat format_of(const cudaChannelFormatDesc& description);
cudaChannelFormatDesc description_of(CUarray_format format, unsigned channels);

size_t element_bytes(CUarray_format format, unsigned channels);

}  // namespace aw

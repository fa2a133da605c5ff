// The common fetches for many lanes at once: one object, coordinates in 1 to 3 axes, no levels of
// detail.
#pragma once

#include "devices/texture_unit.h"

namespace aw {

// True if it has done the fetch for all lanes in the mask (and wrote something to the others too);
// else nothing is done. The values are those of `sample`.
bool sample_batch(const TextureView& view, const TextureForm& form, uint32_t lanes,
                  const uint8_t* mask, const uint32_t* words, uint32_t* results);

}  // namespace aw

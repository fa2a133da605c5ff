// Memory that came from an interface other than CUDA.
#pragma once

namespace aw {

// Flags of such an allocation, whose kind is `imported`: cuMemFree unmaps it.
constexpr unsigned kExternalBuffer = 1u << 31;

}  // namespace aw

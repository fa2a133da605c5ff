// Functions of the driver that do what a function of the runtime is asked for, with types of other
// names for the same values.
#pragma once

#include "cudart/api.h"

namespace aw {

// Calls the driver with the same values. Handles, addresses and enumerations keep their bits;
// pointers are to structures whose layouts are the same, which is asserted where it is used.
template <class... To, class... From>
cudaError_t forward(CUresult (*function)(To...), From... from) {
  static_assert(sizeof...(To) == sizeof...(From));
  return error_of(function((To)(from)...));
}

}  // namespace aw

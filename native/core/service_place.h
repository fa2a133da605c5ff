// Where the compile service's socket lies; the same rules as src/anywarp/runtime/place.py.
#pragma once

#include <string>

namespace aw {

// Returns the path and makes its private directory; throws Failure (999) when none can be had.
std::string service_socket_path();

}  // namespace aw

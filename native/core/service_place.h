// Where things that processes of one user share lie: the compile service's socket (the same rules
// as src/anywarp/runtime/place.py), and the list of processes that use a device.
#pragma once

#include <string>

namespace aw {

// Returns the path and makes its private directory; throws Failure (999) when none can be had.
std::string service_socket_path();

// A folder of this user's own that all programs find without settings of ours; empty when none can
// be had. Made if it is not there.
std::string user_folder();

}  // namespace aw

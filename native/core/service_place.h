// Where things that processes of one user share lie: the compile service's socket (the same rules
// as src/anywarp/runtime/place.py), and the list of processes that use a device.
#pragma once

#include <string>
#include <vector>

namespace aw {

// Returns where the service may listen, best first, and makes the private directories; throws
// Failure (999) when none can be had. There are several because a disk may be full.
std::vector<std::string> service_socket_paths();

// A folder of this user's own that all programs find without settings of ours; empty when none can
// be had. Made if it is not there.
std::string user_folder();

}  // namespace aw

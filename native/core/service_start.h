// Starting the compile service in an environment of its own: it serves other programs too, and what
// this one has changed for itself (Python's path, preloaded libraries, ...) must not change it.
#pragma once

#include <string>
#include <vector>

namespace aw {

// Starts the service, which listens at the first of `paths` that it can have and detaches itself;
// returns when it listens, or what went wrong. `limit`: seconds.
std::string start_service(const std::vector<std::string>& paths, double limit);

}  // namespace aw

// The one door to Python: asks the compile service for a module's description or a kernel
// (docs/contracts.md, section 3).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/container.h"

namespace aw {

struct Reply {
  std::vector<Line> lines;
  std::string payload;
};

// Sends `request`, and again with `image` if the service has not got it, and returns the reply with
// `status ok`. Throws Failure with the code and the diagnostics of the service, or 999 when no
// service can be had; `what` names the matter for the user, e.g. "kernel NAME". `aloud`: a user
// waits and is told when it takes long.
Reply ask_service(const std::vector<Line>& request, std::string_view image, const std::string& what,
                  bool aloud);

}  // namespace aw

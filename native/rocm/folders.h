// Where the libraries that CUDA's are handed on to are looked for, where no HIP runtime says more.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace aw::rocm {

// What goes before a library's name, in order: the folder that the user names or its prefix,
// nothing (where the loader looks), and where ROCm installs itself.
inline std::vector<std::string> library_prefixes() {
  const char* set = getenv("ANYWARP_ROCM_PATH");
  std::vector<std::string> found;
  if (set && *set) found = {std::string(set) + "/lib/", std::string(set) + "/"};
  found.insert(found.end(), {"", "/opt/rocm/lib/"});
  return found;
}

}  // namespace aw::rocm

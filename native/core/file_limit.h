// Files of ours under the program's limit: beyond it a write does not fail but sends SIGXFSZ, which
// ends the program (setrlimit(2)).
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace aw {

inline bool within_file_limit(uint64_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

}  // namespace aw

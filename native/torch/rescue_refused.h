// Operators whose CUDA kernels refuse narrow types as the CPU's do.
#pragma once

#include <cstring>
#include <string>

namespace awt {

// `words` is what the CPU's kernel said; operators are found by a part of their name.
inline bool refused_by_cuda(const std::string& name, const char* words) {
  static const char* const parts[] = {
      "linalg_", "cholesky", "_solve", "ormqr", "geqrf", "orgqr", "::lu_", "lstsq", "histogram",
  };
  for (const char* part : parts)
    if (name.find(part) != std::string::npos) return true;
  // cuFFT has half precision only of IEEE's kind.
  return name.find("_fft_") != std::string::npos && std::strstr(words, "BFloat16");
}

}  // namespace awt

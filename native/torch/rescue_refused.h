// Operators whose CUDA kernels refuse narrow types as the CPU's do, as torch's own database of
// operators (OpInfo.dtypesIfCUDA) has it.
#pragma once

#include <cstring>
#include <string>
#include <unordered_set>

namespace awt {

// No float16 or bfloat16: solvers of linear algebra and the rarer special functions, by a part of
// their name.
inline bool refused_narrow(const std::string& name) {
  static const char* const parts[] = {
      "linalg_", "cholesky",  "_solve",    "ormqr",   "geqrf",        "orgqr",
      "::lu_",   "lstsq",     "histogram", "_bessel", "_polynomial_", "_airy_ai",
      "_erfcx",  "_log_ndtr", "_ndtri",    "_zeta",   "cdist",        "aten::polar"};
  for (const char* part : parts)
    if (name.find(part) != std::string::npos) return true;
  return false;
}

// No complex32.
inline bool refused_complex32(const std::string& name) {
  static const std::unordered_set<std::string> names{"aten::mm",
                                                     "aten::addmm",
                                                     "aten::addmm_",
                                                     "aten::bmm",
                                                     "aten::baddbmm",
                                                     "aten::baddbmm_",
                                                     "aten::addmv",
                                                     "aten::addmv_",
                                                     "aten::dot",
                                                     "aten::vdot",
                                                     "aten::addr",
                                                     "aten::cumsum",
                                                     "aten::cumprod",
                                                     "aten::logcumsumexp",
                                                     "aten::_logcumsumexp",
                                                     "aten::log1p",
                                                     "aten::log10",
                                                     "aten::log2",
                                                     "aten::expm1",
                                                     "aten::logical_not",
                                                     "aten::logical_and",
                                                     "aten::logical_or",
                                                     "aten::logical_xor",
                                                     "aten::im2col",
                                                     "aten::silu",
                                                     "aten::sinc",
                                                     "aten::gather",
                                                     "aten::scatter",
                                                     "aten::scatter_add",
                                                     "aten::take",
                                                     "aten::put_",
                                                     "aten::pixel_shuffle",
                                                     "aten::pixel_unshuffle",
                                                     "aten::channel_shuffle"};
  return names.count(name) || name.rfind("aten::reflection_pad", 0) == 0 ||
         name.rfind("aten::replication_pad", 0) == 0;
}

// `words` is what the CPU's kernel said.
inline bool refused_by_cuda(const std::string& name, const char* words) {
  if (refused_narrow(name)) return true;
  if (std::strstr(words, "'ComplexHalf'")) return refused_complex32(name);
  // cuFFT has half precision only of IEEE's kind.
  return name.find("_fft_") != std::string::npos && std::strstr(words, "BFloat16");
}

}  // namespace awt

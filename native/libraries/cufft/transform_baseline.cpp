#include "libraries/cufft/transform_includes.h"

#ifndef __clang__
#pragma GCC push_options
#pragma GCC optimize("O3")
#endif
#undef POCKETFFT_HDRONLY_H
#undef POCKETFFT_NO_VECTORS
#define pocketfft pocketfft_baseline
#define AW_SET baseline
#include "libraries/cufft/transform_body.h"
#undef AW_SET
#undef pocketfft
#ifndef __clang__
#pragma GCC pop_options
#endif

// Not for AVX-512: sixteen lines at once are more than the ways of a first-level cache, and lengths
// are often powers of two.
std::shared_ptr<const aw::cufft::Transform> aw::cufft::make_transform(const Problem& problem) {
  return __builtin_cpu_supports("avx2") ? avx2::make(problem) : baseline::make(problem);
}

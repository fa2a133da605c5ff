#include "libraries/cufft/transform_includes.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#pragma clang fp contract(off)
#else
#pragma GCC push_options
#pragma GCC optimize("O3", "fp-contract=off")
#pragma GCC target("avx2")
#endif
// GCC reads the whole file before it heeds the pragma, and clang's attribute defines nothing:
// pocketfft is told.
#define __AVX__ 1
#undef POCKETFFT_HDRONLY_H
#undef POCKETFFT_NO_VECTORS
#define pocketfft pocketfft_avx2
#define AW_SET avx2
#include "libraries/cufft/transform_body.h"
#undef AW_SET
#undef pocketfft
#undef __AVX__
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

// cuda::aligned_size_t: a number of bytes that is a multiple of an alignment known to the compiler.
#ifndef ANYWARP_ALIGNED_SIZE_H
#define ANYWARP_ALIGNED_SIZE_H

#include "attributes.h"

namespace cuda {
template <__SIZE_TYPE__ Alignment>
struct aligned_size_t {
  static constexpr __SIZE_TYPE__ align = Alignment;
  __SIZE_TYPE__ value;
  AW_HD explicit aligned_size_t(__SIZE_TYPE__ n) : value(n) {}
  AW_HD operator __SIZE_TYPE__() const { return value; }
};
}  // namespace cuda

#endif

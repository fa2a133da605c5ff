// cuda::std has the names of std: what is constexpr in the host's library serves device code too.
#ifndef ANYWARP_CCCL_STD_H
#define ANYWARP_CCCL_STD_H

#ifdef __CUDACC_RTC__
#include "rtc.h"
#else
#include <cstddef>
#include <cstdint>

namespace cuda {
namespace std {
using namespace ::std;
using ::std::size_t;
using ::std::ptrdiff_t;
}  // namespace std
}  // namespace cuda
#endif

#endif

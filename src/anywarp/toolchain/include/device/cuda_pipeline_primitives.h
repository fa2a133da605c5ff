// Asynchronous copies into shared memory, in C: __pipeline_memcpy_async, _commit, _wait_prior, _arrive_on.
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "anywarp/device.h"

#define AW_COPY_ASYNC(bytes, way)                                                                              \
  __asm__ volatile("cp.async." way ".shared.global [%0], [%1], " #bytes ", %2;"                                \
                   : : "r"((unsigned int)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)),   \
                       "r"((unsigned int)(size - zeros)) : "memory")
// Sizes of 4, 8 and 16 bytes; the last `zeros` of them are written as zeros and not read.
AW_FN void __pipeline_memcpy_async(void *to, const void *from, __SIZE_TYPE__ size, __SIZE_TYPE__ zeros = 0) {
  if (size == 16) AW_COPY_ASYNC(16, "cg");
  else if (size == 8) AW_COPY_ASYNC(8, "ca");
  else if (size == 4) AW_COPY_ASYNC(4, "ca");
  else __trap();
}
#undef AW_COPY_ASYNC
AW_FN void __pipeline_commit() { __asm__ volatile("cp.async.commit_group;" : : : "memory"); }
// The number must be known to the compiler; beyond 8 the wait is for more than was asked.
AW_FN void __pipeline_wait_prior(__SIZE_TYPE__ n) {
#define AW_WAIT(k) \
  case k: __asm__ volatile("cp.async.wait_group " #k ";" : : : "memory"); break;
  switch (n < 8 ? n : 8) {
    AW_WAIT(0) AW_WAIT(1) AW_WAIT(2) AW_WAIT(3) AW_WAIT(4) AW_WAIT(5) AW_WAIT(6) AW_WAIT(7) AW_WAIT(8)
  }
#undef AW_WAIT
}
typedef unsigned long long __mbarrier_t;
AW_FN void __pipeline_arrive_on(__mbarrier_t *b) {
  __asm__ volatile("cp.async.mbarrier.arrive.shared.b64 [%0];"
                   : : "r"((unsigned int)__cvta_generic_to_shared(b)) : "memory");
}

#endif

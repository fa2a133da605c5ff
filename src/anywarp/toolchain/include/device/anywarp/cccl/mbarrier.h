// Barriers in shared memory (mbarrier objects): what cuda::barrier, awbarrier and pipelines are made of.
#ifndef ANYWARP_CCCL_MBARRIER_H
#define ANYWARP_CCCL_MBARRIER_H

#include "../device.h"

typedef unsigned long long aw_mbarrier;
AW_FN unsigned int aw_mbarrier_place(const aw_mbarrier *b) { return (unsigned int)__cvta_generic_to_shared(b); }
AW_FN void aw_mbarrier_init(aw_mbarrier *b, unsigned int count) {
  __asm__ volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(aw_mbarrier_place(b)), "r"(count) : "memory");
}
AW_FN void aw_mbarrier_inval(aw_mbarrier *b) {
  __asm__ volatile("mbarrier.inval.shared.b64 [%0];" : : "r"(aw_mbarrier_place(b)) : "memory");
}
AW_FN aw_mbarrier aw_mbarrier_arrive(aw_mbarrier *b) {
  aw_mbarrier token;
  __asm__ volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(aw_mbarrier_place(b)) : "memory");
  return token;
}
AW_FN aw_mbarrier aw_mbarrier_arrive_drop(aw_mbarrier *b) {
  aw_mbarrier token;
  __asm__ volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(aw_mbarrier_place(b)) : "memory");
  return token;
}
AW_FN bool aw_mbarrier_test(const aw_mbarrier *b, aw_mbarrier token) {
  unsigned int done;
  __asm__ volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done) : "r"(aw_mbarrier_place(b)), "l"(token) : "memory");
  return done;
}
AW_FN bool aw_mbarrier_test_parity(const aw_mbarrier *b, unsigned int parity) {
  unsigned int done;
  __asm__ volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done) : "r"(aw_mbarrier_place(b)), "r"(parity) : "memory");
  return done;
}

#endif

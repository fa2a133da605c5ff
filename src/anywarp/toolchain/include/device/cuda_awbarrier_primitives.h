// Barriers in shared memory, in C: __mbarrier_init, _arrive, _test_wait ...
#ifndef _CUDA_AWBARRIER_PRIMITIVES_H_
#define _CUDA_AWBARRIER_PRIMITIVES_H_

#include "anywarp/cccl/mbarrier.h"

typedef aw_mbarrier __mbarrier_t;
typedef aw_mbarrier __mbarrier_token_t;
AW_FN unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }
AW_FN void __mbarrier_init(__mbarrier_t *b, unsigned int count) { aw_mbarrier_init(b, count); }
AW_FN void __mbarrier_inval(__mbarrier_t *b) { aw_mbarrier_inval(b); }
AW_FN __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b) { return aw_mbarrier_arrive(b); }
AW_FN __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *b) { return aw_mbarrier_arrive_drop(b); }
AW_FN bool __mbarrier_test_wait(__mbarrier_t *b, __mbarrier_token_t token) { return aw_mbarrier_test(b, token); }
AW_FN bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool parity) { return aw_mbarrier_test_parity(b, parity); }
AW_FN bool __mbarrier_try_wait(__mbarrier_t *b, __mbarrier_token_t token, unsigned int) { return aw_mbarrier_test(b, token); }
AW_FN bool __mbarrier_try_wait_parity(__mbarrier_t *b, bool parity, unsigned int) { return aw_mbarrier_test_parity(b, parity); }
AW_FN unsigned int __mbarrier_token_pending_count(__mbarrier_token_t token) {
  unsigned int n;
  __asm__("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(token));
  return n;
}

#endif

// nvcuda::experimental::awbarrier: a barrier in shared memory that is arrived at and waited for apart.
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_

#include "cuda_awbarrier_primitives.h"

namespace nvcuda {
namespace experimental {

class awbarrier {
 public:
  class arrival_token {
   public:
    arrival_token() = default;
    __device__ arrival_token(aw_mbarrier t) : token(t) {}
    __device__ unsigned int pending_count() const { return __mbarrier_token_pending_count(token); }

   private:
    aw_mbarrier token;
    friend class awbarrier;
  };
  awbarrier() = default;
  awbarrier(const awbarrier &) = delete;
  awbarrier &operator=(const awbarrier &) = delete;
  __device__ arrival_token arrive() { return aw_mbarrier_arrive(&state); }
  __device__ arrival_token arrive_and_drop() { return aw_mbarrier_arrive_drop(&state); }
  __device__ bool timed_wait(arrival_token token, unsigned long long) { return aw_mbarrier_test(&state, token.token); }
  __device__ bool timed_wait_parity(bool phase, unsigned long long) { return aw_mbarrier_test_parity(&state, phase); }
  __device__ bool try_wait(arrival_token token, unsigned int) { return aw_mbarrier_test(&state, token.token); }
  __device__ void wait(arrival_token token) {
    while (!aw_mbarrier_test(&state, token.token)) {
    }
  }
  __device__ void arrive_and_wait() { wait(arrive()); }
  __device__ static constexpr unsigned int max() { return (1u << 20) - 1; }
  friend __device__ void init(awbarrier *b, unsigned int count) { aw_mbarrier_init(&b->state, count); }
  friend __device__ void inval(awbarrier *b) { aw_mbarrier_inval(&b->state); }

 private:
  aw_mbarrier state;
};

}  // namespace experimental
}  // namespace nvcuda

#endif

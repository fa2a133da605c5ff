// Asynchronous copies into shared memory, in C++: nvcuda::experimental::pipeline and the primitives.
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"

namespace nvcuda {
namespace experimental {

class pipeline {
 public:
  __device__ __forceinline__ pipeline() : commits(0) {}
  pipeline(const pipeline &) = delete;
  pipeline &operator=(const pipeline &) = delete;
  __device__ __forceinline__ __SIZE_TYPE__ commit() {
    __pipeline_commit();
    return commits++;
  }
  __device__ __forceinline__ void commit_and_wait() {
    commit();
    wait_prior<0>();
  }
  __device__ __forceinline__ void wait(__SIZE_TYPE__ batch) {
    __pipeline_wait_prior(commits > batch + 1 ? commits - batch - 1 : 0);
  }
  template <unsigned N>
  __device__ __forceinline__ void wait_prior() {
    __pipeline_wait_prior(N);
  }

 private:
  __SIZE_TYPE__ commits;
};

template <class T>
__device__ __forceinline__ void memcpy_async(T &to, const T &from, pipeline &) {
  if (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) {
    __pipeline_memcpy_async(&to, &from, sizeof(T));
  } else {
    to = from;
  }
}

}  // namespace experimental
}  // namespace nvcuda

#endif

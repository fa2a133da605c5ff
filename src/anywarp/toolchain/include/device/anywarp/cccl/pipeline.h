// cuda::pipeline: of one thread, or of a group with producers and consumers over stages in shared memory.
#ifndef ANYWARP_CCCL_PIPELINE_H
#define ANYWARP_CCCL_PIPELINE_H

#include "barrier.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

// For each stage one barrier that it is full and one that it is empty.
template <thread_scope Scope, unsigned char Stages>
struct pipeline_shared_state {
  barrier<Scope> aw_full[Stages], aw_empty[Stages];
  pipeline_shared_state() = default;
  pipeline_shared_state(const pipeline_shared_state &) = delete;
};

template <thread_scope Scope>
struct pipeline {
  barrier<Scope> *aw_full, *aw_empty;
  unsigned int aw_stages, aw_produced, aw_consumed;

  pipeline(pipeline &&) = default;
  pipeline(const pipeline &) = delete;
  __device__ pipeline(barrier<Scope> *full, barrier<Scope> *empty, unsigned int stages)
      : aw_full(full), aw_empty(empty), aw_stages(stages), aw_produced(0), aw_consumed(0) {}
  // A stage is free at first, and again when all consumers have released what was in it.
  __device__ void producer_acquire() {
    if (aw_stages) aw_empty[aw_produced % aw_stages].wait_parity(!(aw_produced / aw_stages & 1));
  }
  __device__ void producer_commit() {
    if (aw_stages) (void)aw_full[aw_produced % aw_stages].arrive();
    ++aw_produced;
  }
  __device__ void consumer_wait() {
    if (aw_stages) aw_full[aw_consumed % aw_stages].wait_parity(aw_consumed / aw_stages & 1);
  }
  __device__ void consumer_release() {
    if (aw_stages) (void)aw_empty[aw_consumed % aw_stages].arrive();
    ++aw_consumed;
  }
  __device__ bool quit() { return true; }
};
__device__ inline pipeline<thread_scope_thread> make_pipeline() {
  return pipeline<thread_scope_thread>(nullptr, nullptr, 0);
}
namespace aw {
template <class Group, thread_scope Scope, unsigned char Stages>
__device__ pipeline<Scope> start(const Group &g, pipeline_shared_state<Scope, Stages> *s, unsigned int producers,
                                 unsigned int consumers) {
  if (g.thread_rank() == 0)
    for (int k = 0; k < Stages; ++k) init(&s->aw_full[k], producers), init(&s->aw_empty[k], consumers);
  g.sync();
  return pipeline<Scope>(s->aw_full, s->aw_empty, Stages);
}
}  // namespace aw
template <class Group, thread_scope Scope, unsigned char Stages>
__device__ pipeline<Scope> make_pipeline(const Group &g, pipeline_shared_state<Scope, Stages> *s) {
  return aw::start(g, s, (unsigned int)g.size(), (unsigned int)g.size());
}
template <class Group, thread_scope Scope, unsigned char Stages>
__device__ pipeline<Scope> make_pipeline(const Group &g, pipeline_shared_state<Scope, Stages> *s, __SIZE_TYPE__ producers) {
  return aw::start(g, s, (unsigned int)producers, (unsigned int)(g.size() - producers));
}
template <class Group, thread_scope Scope, unsigned char Stages>
__device__ pipeline<Scope> make_pipeline(const Group &g, pipeline_shared_state<Scope, Stages> *s, pipeline_role role) {
  __shared__ unsigned int producers;
  if (g.thread_rank() == 0) producers = 0;
  g.sync();
  if (role == pipeline_role::producer) atomicAdd(&producers, 1u);
  g.sync();
  return aw::start(g, s, producers, (unsigned int)g.size() - producers);
}
// Only the copies of one thread's pipeline can be told apart: all are done when they are asked for.
template <unsigned char Prior>
__device__ void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &) {}
template <class Size, thread_scope Scope>
__device__ void memcpy_async(void *to, const void *from, Size bytes, pipeline<Scope> &) {
  for (__SIZE_TYPE__ k = 0; k < (__SIZE_TYPE__)bytes; ++k) ((char *)to)[k] = ((const char *)from)[k];
}
template <class T, class Size, thread_scope Scope>
__device__ void memcpy_async(T *to, const T *from, Size bytes, pipeline<Scope> &) {
  __SIZE_TYPE__ n = (__SIZE_TYPE__)bytes;
  if (n == sizeof(T)) *to = *from;
  else
    for (__SIZE_TYPE__ k = 0; k < n; ++k) ((char *)to)[k] = ((const char *)from)[k];
}
template <class Group, class T, class U, class Size, thread_scope Scope>
__device__ void memcpy_async(const Group &g, T *to, const U *from, Size bytes, pipeline<Scope> &) {
  aw::copy_together(g, to, from, (__SIZE_TYPE__)bytes);
}

}  // namespace cuda

#endif

// cooperative_groups::memcpy_async and wait: the group copies together.
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_

#include "../cooperative_groups.h"
#include "../anywarp/aligned_size.h"

namespace cooperative_groups {
namespace __v1 {

// The copy is done when the call returns for all threads; `wait` is where they learn of each other's part.
template <class Group>
AW_CG void aw_copy(const Group &g, void *to, const void *from, __SIZE_TYPE__ bytes) {
  __SIZE_TYPE__ step = g.num_threads(), rank = g.thread_rank(), place = (__SIZE_TYPE__)to | (__SIZE_TYPE__)from | bytes;
  if (place % 16 == 0) {
    for (__SIZE_TYPE__ k = rank; k < bytes / 16; k += step) ((uint4 *)to)[k] = ((const uint4 *)from)[k];
  } else if (place % 4 == 0) {
    for (__SIZE_TYPE__ k = rank; k < bytes / 4; k += step) ((unsigned int *)to)[k] = ((const unsigned int *)from)[k];
  } else {
    for (__SIZE_TYPE__ k = rank; k < bytes; k += step) ((unsigned char *)to)[k] = ((const unsigned char *)from)[k];
  }
}
template <class Group, class T, class U>
AW_CG void memcpy_async(const Group &g, T *to, const U *from, __SIZE_TYPE__ bytes) {
  aw_copy(g, to, from, bytes);
}
template <class Group, class T, class U, __SIZE_TYPE__ N>
AW_CG void memcpy_async(const Group &g, T *to, const U *from, const cuda::aligned_size_t<N> &bytes) {
  aw_copy(g, to, from, bytes);
}
// With layouts, counted in elements: as many as fit in both.
template <class Group, class T, class ToLayout, class FromLayout>
AW_CG void memcpy_async(const Group &g, T *to, const ToLayout &room, const T *from, const FromLayout &there) {
  __SIZE_TYPE__ a = room, b = there;
  aw_copy(g, to, from, (a < b ? a : b) * sizeof(T));
}
template <class Group>
AW_CG void wait(const Group &g) {
  g.sync();
}
template <unsigned int Stages, class Group>
AW_CG void wait_prior(const Group &g) {
  g.sync();
}

}  // namespace __v1
}  // namespace cooperative_groups

#endif

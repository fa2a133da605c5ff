// cooperative_groups::reduce and the operators it takes.
#ifndef _COOPERATIVE_GROUPS_REDUCE_H_
#define _COOPERATIVE_GROUPS_REDUCE_H_

#include "../cooperative_groups.h"
#include "../anywarp/cooperative/operators.h"

namespace cooperative_groups {
namespace __v1 {

template <unsigned int Size, class Parent, class T, class Op>
AW_CG T aw_reduce(const thread_block_tile<Size, Parent> &g, T v, Op op, aw::yes) {
  AW_UNROLL for (unsigned int bits = Size / 2; bits > 0; bits /= 2) v = op(v, g.shfl_xor(v, bits));
  return v;
}
// Of several warps: each by itself, then all read what the others found.
template <unsigned int Size, class Parent, class T, class Op>
AW_CG T aw_reduce(const thread_block_tile<Size, Parent> &g, T v, Op op, aw::no) {
  __shared__ __attribute__((aligned(alignof(T)))) char room[32 * sizeof(T)];
  T *found = (T *)room;
  thread_block_tile<32> warp = thread_block_tile<32>::aw_make(0, 1);
  v = aw_reduce(warp, v, op, aw::yes());
  unsigned int me = aw::thread_rank() / 32, first = me & ~(Size / 32 - 1);
  g.sync();
  if (aw::lane() == 0) found[me] = v;
  g.sync();
  v = found[first];
  for (unsigned int k = 1; k < Size / 32; ++k) v = op(v, found[first + k]);
  return v;
}
template <unsigned int Size, class Parent, class T, class Op>
AW_CG auto reduce(const thread_block_tile<Size, Parent> &g, T v, Op &&op) -> typename aw::bare<T>::type {
  return aw_reduce(g, v, op, typename aw::choose<(Size <= 32), aw::yes, aw::no>::type());
}
template <class T, class Op>
AW_CG auto reduce(const coalesced_group &g, T v, Op &&op) -> typename aw::bare<T>::type {
  unsigned int n = g.num_threads(), rank = g.thread_rank();
  for (unsigned int step = 1; step < n; step *= 2) {
    T other = g.shfl_down(v, step);
    if (rank + step < n) v = op(v, other);
  }
  return g.shfl(v, 0);
}
// What an atomic holds is combined with the group's result.
template <class Group, class Atomic, class Value, class Op>
AW_CG void reduce_update_async(const Group &g, Atomic &atomic, Value &&v, Op &&op) {
  auto r = reduce(g, v, op);
  if (g.thread_rank() != 0) return;
  auto now = atomic.load();
  while (!atomic.compare_exchange_weak(now, op(now, r))) {
  }
}
template <class Group, class T, class Value, class Op>
AW_CG void reduce_store_async(const Group &g, T *to, Value &&v, Op &&op) {
  auto r = reduce(g, v, op);
  if (g.thread_rank() == 0) *to = r;
}

}  // namespace __v1
}  // namespace cooperative_groups

#endif

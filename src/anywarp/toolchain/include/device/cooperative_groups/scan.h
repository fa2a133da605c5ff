// cooperative_groups::inclusive_scan and exclusive_scan.
#ifndef _COOPERATIVE_GROUPS_SCAN_H_
#define _COOPERATIVE_GROUPS_SCAN_H_

#include "../cooperative_groups.h"
#include "../anywarp/cooperative/operators.h"

namespace cooperative_groups {
namespace __v1 {

template <class Group, class T, class Op>
AW_CG auto inclusive_scan(const Group &g, T v, Op &&op) -> typename aw::bare<T>::type {
  unsigned int n = g.num_threads(), rank = g.thread_rank();
  for (unsigned int step = 1; step < n; step *= 2) {
    T before = g.shfl_up(v, step);
    if (rank >= step) v = op(before, v);
  }
  return v;
}
template <class Group, class T>
AW_CG auto inclusive_scan(const Group &g, T v) -> typename aw::bare<T>::type {
  return inclusive_scan(g, v, plus<typename aw::bare<T>::type>());
}
// The first thread gets the operator's neutral value; with an operator of the program's own, T().
template <class Group, class T, class Op>
AW_CG auto exclusive_scan(const Group &g, T v, Op &&op) -> typename aw::bare<T>::type {
  typedef typename aw::bare<T>::type V;
  V before = g.shfl_up((V)inclusive_scan(g, v, op), 1);
  return g.thread_rank() == 0 ? aw::neutral<V>(op) : before;
}
template <class Group, class T>
AW_CG auto exclusive_scan(const Group &g, T v) -> typename aw::bare<T>::type {
  return exclusive_scan(g, v, plus<typename aw::bare<T>::type>());
}
// The scan goes on from what is in an atomic, which the last thread moves along.
template <class Group, class Atomic, class T, class Op>
AW_CG auto inclusive_scan_update(const Group &g, Atomic &&atomic, T v, Op &&op) -> typename aw::bare<T>::type {
  typedef typename aw::bare<T>::type V;
  V own = inclusive_scan(g, v, op), before{};
  unsigned int last = g.num_threads() - 1;
  if (g.thread_rank() == last) {
    V now = atomic.load();
    while (!atomic.compare_exchange_weak(now, op(now, own))) {
    }
    before = now;
  }
  return op(g.shfl(before, last), own);
}
template <class Group, class Atomic, class T, class Op>
AW_CG auto exclusive_scan_update(const Group &g, Atomic &&atomic, T v, Op &&op) -> typename aw::bare<T>::type {
  typedef typename aw::bare<T>::type V;
  V own = inclusive_scan(g, v, op), before{};
  unsigned int last = g.num_threads() - 1;
  if (g.thread_rank() == last) {
    V now = atomic.load();
    while (!atomic.compare_exchange_weak(now, op(now, own))) {
    }
    before = now;
  }
  before = g.shfl(before, last);
  V left = g.shfl_up(own, 1);
  return g.thread_rank() == 0 ? before : op(before, left);
}

}  // namespace __v1
}  // namespace cooperative_groups

#endif

// The groups that a launch makes: thread_block, grid_group, cluster_group.
#ifndef ANYWARP_COOPERATIVE_GROUPS_H
#define ANYWARP_COOPERATIVE_GROUPS_H

#include <vector_types.h>

#include "../device.h"

#define _CG_HAS_CLUSTER_GROUP
#define _CG_ABI_VERSION 1

#define AW_CG __device__ __forceinline__

namespace cooperative_groups {

// Core libraries declare our groups, in the namespace that theirs are in.
namespace __v1 {}
using namespace __v1;

namespace __v1 {

namespace aw {
template <bool C, class A, class B>
struct choose {
  typedef A type;
};
template <class A, class B>
struct choose<false, A, B> {
  typedef B type;
};
AW_CG unsigned long long volume(dim3 d) { return (unsigned long long)d.x * d.y * d.z; }
AW_CG unsigned int thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
AW_CG unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
AW_CG unsigned long long block_rank() {
  return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
AW_CG unsigned int lanes_before() { return __nvvm_read_ptx_sreg_lanemask_lt(); }

// What a handle of any group holds: which lanes (groups within a warp), and what it is.
enum kind : unsigned int { kind_block, kind_grid, kind_cluster, kind_lanes, kind_multi_warp };
}  // namespace aw

struct thread_group {
  aw::kind what;
  unsigned int mask;
  unsigned int number;  // of the tile, where there are several
  unsigned int tiles;

  AW_CG unsigned long long num_threads() const {
    return what == aw::kind_lanes ? (unsigned)__popc(mask)
           : what == aw::kind_grid ? aw::volume(gridDim) * aw::block_size()
                                   : aw::block_size();
  }
  AW_CG unsigned long long size() const { return num_threads(); }
  AW_CG unsigned long long thread_rank() const {
    return what == aw::kind_lanes ? (unsigned)__popc(mask & aw::lanes_before())
           : what == aw::kind_grid ? aw::block_rank() * aw::block_size() + aw::thread_rank()
                                   : aw::thread_rank();
  }
  AW_CG bool is_valid() const { return what != aw::kind_grid || cudaCGGetIntrinsicHandle(1) != 0; }
  AW_CG void sync() const {
    if (what == aw::kind_lanes) __syncwarp(mask);
    else if (what == aw::kind_grid) cudaCGSynchronize(cudaCGGetIntrinsicHandle(1), 0);
    else __syncthreads();
  }
};

struct thread_block : thread_group {
  typedef void aw_is_block;
  AW_CG static thread_block aw_make() {
    thread_block b;
    b.what = aw::kind_block, b.mask = 0, b.number = 0, b.tiles = 1;
    return b;
  }
  struct arrival_token {};
  AW_CG static void sync() { __syncthreads(); }
  // Everybody waits in the second half, so the first only orders memory.
  AW_CG arrival_token barrier_arrive() const {
    __threadfence_block();
    return {};
  }
  AW_CG void barrier_wait(arrival_token &&) const { __syncthreads(); }
  AW_CG static unsigned int size() { return aw::block_size(); }
  AW_CG static unsigned int num_threads() { return aw::block_size(); }
  AW_CG static unsigned int thread_rank() { return aw::thread_rank(); }
  AW_CG static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  AW_CG static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  AW_CG static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  AW_CG static dim3 dim_threads() { return group_dim(); }
};
AW_CG thread_block this_thread_block() { return thread_block::aw_make(); }

struct grid_group : thread_group {
  AW_CG static grid_group aw_make() {
    grid_group g;
    g.what = aw::kind_grid, g.mask = 0, g.number = 0, g.tiles = 1;
    return g;
  }
  struct arrival_token {};
  AW_CG bool is_valid() const { return cudaCGGetIntrinsicHandle(1) != 0; }
  // Traps where the launch was not cooperative.
  AW_CG void sync() const { cudaCGSynchronize(cudaCGGetIntrinsicHandle(1), 0); }
  AW_CG static unsigned long long size() { return aw::volume(gridDim) * aw::block_size(); }
  AW_CG static unsigned long long num_threads() { return size(); }
  AW_CG static unsigned long long thread_rank() { return aw::block_rank() * aw::block_size() + aw::thread_rank(); }
  AW_CG static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  AW_CG static dim3 dim_blocks() { return group_dim(); }
  AW_CG static unsigned long long num_blocks() { return aw::volume(gridDim); }
  AW_CG static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  AW_CG static unsigned long long block_rank() { return aw::block_rank(); }
  AW_CG static unsigned int num_clusters() { return (unsigned int)num_blocks(); }
  AW_CG static dim3 dim_clusters() { return dim_blocks(); }
  AW_CG static dim3 cluster_index() { return block_index(); }
  AW_CG static unsigned int cluster_rank() { return (unsigned int)block_rank(); }
};
AW_CG grid_group this_grid() { return grid_group::aw_make(); }

// A device without clusters runs each block as a cluster of its own.
struct cluster_group : thread_group {
  AW_CG static cluster_group aw_make() {
    cluster_group g;
    g.what = aw::kind_cluster, g.mask = 0, g.number = 0, g.tiles = 1;
    return g;
  }
  struct arrival_token {};
  AW_CG static void sync() { __syncthreads(); }
  AW_CG static unsigned int size() { return aw::block_size(); }
  AW_CG static unsigned int num_threads() { return aw::block_size(); }
  AW_CG static unsigned int thread_rank() { return aw::thread_rank(); }
  AW_CG static dim3 dim_blocks() { return dim3(1, 1, 1); }
  AW_CG static unsigned int num_blocks() { return 1; }
  AW_CG static dim3 dim_threads() { return thread_block::dim_threads(); }
  AW_CG static dim3 thread_index() { return thread_block::thread_index(); }
  AW_CG static dim3 block_index() { return dim3(0, 0, 0); }
  AW_CG static unsigned int block_rank() { return 0; }
  AW_CG static unsigned int query_shared_rank(const void *) { return 0; }
  template <class T>
  AW_CG static T *map_shared_rank(T *p, int) {
    return p;
  }
};
AW_CG cluster_group this_cluster() { return cluster_group::aw_make(); }

template <class Group>
AW_CG void sync(const Group &g) {
  g.sync();
}
template <class Group>
AW_CG auto thread_rank(const Group &g) -> decltype(g.thread_rank()) {
  return g.thread_rank();
}
template <class Group>
AW_CG auto group_size(const Group &g) -> decltype(g.size()) {
  return g.size();
}

}  // namespace __v1
}  // namespace cooperative_groups

#endif

// The little of HIP that the support headers use, by the compiler's builtins alone, so that they can be run where there is no ROCm.
#pragma once
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
typedef unsigned long size_t;
struct Index {
  __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_x(); }
};
struct Indices {
  Index x;
  unsigned y, z;
};
struct Sizes {
  unsigned x, y, z;
};
static __device__ constexpr Indices threadIdx{{}, 0, 0};
static __device__ constexpr Sizes blockDim{96, 1, 1};
__device__ inline unsigned long long __ballot(int predicate) { return __builtin_amdgcn_ballot_w64(predicate); }
__device__ inline int __any(int predicate) { return __ballot(predicate) != 0; }
__device__ inline int __ffs(int a) { return __builtin_ffs(a); }
__device__ inline int lane_of_wave() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
__device__ inline int __shfl(int value, int lane, int width) {
  const int self = lane_of_wave();
  return __builtin_amdgcn_ds_bpermute(((lane & (width - 1)) + (self & ~(width - 1))) << 2, value);
}
__device__ inline unsigned __shfl(unsigned value, int lane, int width) { return __shfl(static_cast<int>(value), lane, width); }
__device__ inline unsigned long long __shfl(unsigned long long value, int lane, int width) {
  const unsigned low = __shfl(static_cast<unsigned>(value), lane, width);
  return static_cast<unsigned long long>(__shfl(static_cast<unsigned>(value >> 32), lane, width)) << 32 | low;
}
template <class T>
__device__ inline T __shfl_up(T value, unsigned delta, int width) {
  const int self = lane_of_wave(), from = self - static_cast<int>(delta);
  return __shfl(value, from < (self & ~(width - 1)) ? self : from, width);
}
template <class T>
__device__ inline T __shfl_down(T value, unsigned delta, int width) {
  const int self = lane_of_wave();
  return __shfl(value, (self & (width - 1)) + static_cast<int>(delta) >= width ? self : self + static_cast<int>(delta), width);
}
template <class T>
__device__ inline T __shfl_xor(T value, int lanes, int width) {
  return __shfl(value, lane_of_wave() ^ lanes, width);
}

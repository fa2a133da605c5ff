// What device code may say beside mathematics: groups, warp functions, atomics, halves, packed integers, matrices, pipelines.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

namespace cg = cooperative_groups;

extern "C" __global__ void groups(const int *in, int *out) {
  auto block = cg::this_thread_block();
  int t = block.thread_rank();
  auto tile = cg::tiled_partition<8>(block);
  auto warp = cg::tiled_partition<32>(block);
  int v = in[t];
  out[t] = cg::reduce(tile, v, cg::plus<int>());
  out[64 + t] = cg::reduce(warp, v, cg::greater<int>());
  out[128 + t] = cg::inclusive_scan(warp, v);
  out[192 + t] = cg::exclusive_scan(tile, v, cg::plus<int>());
  out[256 + t] = tile.shfl_up(v, 1);
  out[320 + t] = tile.ballot(v & 1);
  out[384 + t] = cg::reduce(cg::tiled_partition<64>(block), v, cg::plus<int>());
  out[448 + t] = 0;
  if (v & 1) {
    auto odd = cg::coalesced_threads();
    out[448 + t] = odd.size() * 10000 + odd.thread_rank() * 100 + cg::reduce(odd, 1, cg::plus<int>());
    out[512 + t] = odd.shfl(v, 0);
  } else {
    out[512 + t] = -1;
  }
  auto part = cg::binary_partition(warp, v > 0);
  out[576 + t] = part.size() * 100 + part.thread_rank();
  auto labelled = cg::labeled_partition(warp, v & 3);
  out[640 + t] = labelled.size() * 100 + labelled.meta_group_size();
  out[704 + t] = cg::invoke_one_broadcast(warp, [&] { return v; });
  __shared__ int room[64];
  cg::memcpy_async(block, room, in, sizeof(int) * 64);
  cg::wait(block);
  out[768 + t] = room[63 - t];
  out[832 + t] = cg::exclusive_scan(tile, v, cg::less<int>());
  out[896 + t] = cg::exclusive_scan(tile, v, cg::greater<int>());
}

extern "C" __global__ void grid_barrier(int *counts, int *seen) {
  auto grid = cg::this_grid();
  counts[grid.thread_rank()] = grid.thread_rank() + 1;
  grid.sync();
  seen[grid.thread_rank()] = counts[grid.size() - 1 - grid.thread_rank()];
}

struct Wide {
  int a[3];
};
extern "C" __global__ void lanes(const long long *in, long long *out, const double *x, double *y) {
  int t = threadIdx.x;
  out[t] = __shfl_xor_sync(~0u, in[t], 5);
  out[32 + t] = __shfl_down_sync(~0u, in[t], 3, 8);
  y[t] = __shfl_sync(~0u, x[t], t + 1, 16);
  out[64 + t] = __match_any_sync(~0u, in[t] % 3);
  int all;
  out[96 + t] = __match_all_sync(~0u, in[t], &all) + all;
  out[128 + t] = __ballot_sync(~0u, in[t] & 1);
  out[160 + t] = __reduce_add_sync(0xffffffffu, (int)in[t]);
  out[192 + t] = __reduce_min_sync(0xffffffffu, (unsigned)in[t]);
  out[224 + t] = __any_sync(~0u, in[t] == 7) + 2 * __all_sync(~0u, in[t] > 0);
}

extern "C" __global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d, __half2 *h,
                                   __nv_bfloat162 *b, unsigned short *s) {
  int t = threadIdx.x;
  atomicAdd(i, t), atomicSub(i + 1, t), atomicMin(i + 2, -t), atomicMax(i + 3, t), atomicAnd(i + 4, ~(1 << t));
  atomicOr(i + 5, 1 << t), atomicXor(i + 6, t), atomicAdd_block(i + 7, 2), atomicAdd_system(i + 8, 3);
  atomicInc(u, 10), atomicDec(u + 1, 10), atomicMax(u + 2, 0x80000000u + t);
  atomicAdd(l, 1ull << 40), atomicMax(l + 1, (unsigned long long)t << 33);
  atomicAdd(f, 0.5f), atomicAdd(d, 0.25);
  atomicAdd(h, __floats2half2_rn(1.0f, 2.0f)), atomicAdd(b, __floats2bfloat162_rn(1.0f, 2.0f));
  unsigned short seen = *s, was;
  do was = seen, seen = atomicCAS(s, was, (unsigned short)(was + 1));
  while (seen != was);
}

extern "C" __global__ void halves(const float *a, const float *b, float *out, int n) {
  int t = threadIdx.x;
  __half x = a[t], y = __float2half_rn(b[t]);
  __half values[] = {x + y,           x - y,           x * y,           x / y,           __hfma(x, y, x), -x,
                     __float2half_rz(a[t]), __float2half_ru(a[t]), __float2half_rd(a[t]), hexp(x), hsqrt(__habs(x)),
                     __hmax(x, y), __hmin(x, y), (__half)(int)a[t], __hadd_sat(x, y)};
  for (int k = 0; k < 15; ++k) out[k * n + t] = __half2float(values[k]);
  __half2 p = __halves2half2(x, y), q = __half2half2(y), r = p * q + p;
  out[15 * n + t] = __low2float(r), out[16 * n + t] = __high2float(r);
  out[17 * n + t] = __half2int_rn(x), out[18 * n + t] = x < y;
}
extern "C" __global__ void brains(const float *a, const float *b, float *out, int n) {
  int t = threadIdx.x;
  __nv_bfloat16 x = a[t], y = __float2bfloat16_rn(b[t]);
  __nv_bfloat16 values[] = {x + y,           x - y,           x * y,           x / y,           __hfma(x, y, x), -x,
                            __float2bfloat16_rz(a[t]), __float2bfloat16_ru(a[t]), __float2bfloat16_rd(a[t]), hexp(x),
                            hsqrt(__habs(x)), __hmax(x, y), __hmin(x, y), (__nv_bfloat16)(int)a[t], __hadd_sat(x, y)};
  for (int k = 0; k < 15; ++k) out[k * n + t] = __bfloat162float(values[k]);
  __nv_bfloat162 p = __halves2bfloat162(x, y), q = __bfloat162bfloat162(y), r = p * q + p;
  out[15 * n + t] = __low2float(r), out[16 * n + t] = __high2float(r);
  out[17 * n + t] = __bfloat162int_rn(x), out[18 * n + t] = x < y;
}

// Two halves against two: bits of 16 comparisons with and without order.
extern "C" __global__ void comparisons(const __half2 *a, const __half2 *b, unsigned *out) {
  int t = threadIdx.x;
  __half2 x = a[t], y = b[t];
  bool found[] = {__heq(x.x, y.x),  __hne(x.x, y.x),  __hlt(x.x, y.x),  __hge(x.x, y.x),  __hequ(x.x, y.x), __hneu(x.x, y.x),
                  __hltu(x.x, y.x), __hgeu(x.x, y.x), __hbeq2(x, y),    __hbne2(x, y),    __hbneu2(x, y),   __hbltu2(x, y),
                  x.x == y.x,       x.x != y.x,       x == y,           __heq2_mask(x, y) == 0xffffffffu};
  for (int k = 0; k < 16; ++k) out[t] |= found[k] << k;
}

extern "C" __global__ void packed(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int t = threadIdx.x;
  unsigned x = a[t], y = b[t];
  unsigned values[] = {__vadd4(x, y),    __vaddss4(x, y), __vaddus4(x, y), __vsub2(x, y),  __vsubss2(x, y), __vabsdiffu4(x, y),
                       __vsadu4(x, y),   __vcmpgts4(x, y), __vsetleu2(x, y), __vavgs2(x, y), __vmaxu4(x, y), __vmins2(x, y),
                       __vabsss4(x),     __vneg2(x),      __vhaddu4(x, y), (unsigned)__dp4a((int)x, (int)y, 7),
                       __byte_perm(x, y, 0x3715), __funnelshift_l(x, y, 13), __funnelshift_rc(x, y, 40), __brev(x),
                       (unsigned)__mulhi((int)x, (int)y), __umulhi(x, y), (unsigned)__clz((int)x), __usad(x, y, 5)};
  for (int k = 0; k < 24; ++k) out[k * n + t] = values[k];
}

extern "C" __global__ void matrices(const __half *a, const __half *b, float *c, const signed char *p, const signed char *q, int *r) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.5f);
  load_matrix_sync(fa, a, 16), load_matrix_sync(fb, b, 16);
  mma_sync(fc, fa, fb, fc);
  for (int k = 0; k < fc.num_elements; ++k) fc.x[k] *= 2.0f;
  store_matrix_sync(c, fc, 16, mem_row_major);
  fragment<matrix_a, 32, 8, 16, signed char, row_major> ga;
  fragment<matrix_b, 32, 8, 16, signed char, row_major> gb;
  fragment<accumulator, 32, 8, 16, int> gc;
  fill_fragment(gc, 1);
  load_matrix_sync(ga, p, 16), load_matrix_sync(gb, q, 8);
  mma_sync(gc, ga, gb, gc);
  store_matrix_sync(r, gc, 8, mem_row_major);
}

extern "C" __global__ void pipelines(const float4 *in, float4 *out) {
  __shared__ float4 room[2][32];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&room[0][t], &in[t], 16);
  __pipeline_commit();
  __pipeline_memcpy_async(&room[1][t], &in[32 + t], 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = room[0][31 - t];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[32 + t] = room[1][31 - t];
}

struct Node {
  int value;
  Node *next;
};
extern "C" __global__ void heap(int *out) {
  Node *list = nullptr;
  for (int k = 0; k <= (int)threadIdx.x; ++k) list = new Node{k, list};
  int sum = 0;
  while (list) {
    sum += list->value;
    Node *next = list->next;
    delete list;
    list = next;
  }
  out[threadIdx.x] = sum;
}

// Elements of four bits and of one, several to a register: 8 x 8 products over 32 and 128 of them.
template <class T>
__device__ void nibbles(const void *a, const void *b, const int *c, int *d) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 8, 8, 32, T, row_major> fa;
  fragment<matrix_b, 8, 8, 32, T, col_major> fb;
  fragment<accumulator, 8, 8, 32, int> fc;
  load_matrix_sync(fa, a, 32), load_matrix_sync(fb, b, 32), load_matrix_sync(fc, c, 8, mem_row_major);
  fragment<accumulator, 8, 8, 32, int> sum;
  mma_sync(sum, fa, fb, fc);
  store_matrix_sync(d, sum, 8, mem_row_major);
  mma_sync(sum, fa, fb, fc, true);
  store_matrix_sync(d + 64, sum, 8, mem_col_major);
  static_assert(fa.num_elements == 8 && fa.num_storage_elements == 1 && fc.num_elements == 2, "as the guide says");
}
extern "C" __global__ void narrow_matrices(const void *a, const void *b, const int *c, int *d) {
  using namespace nvcuda::wmma;
  nibbles<experimental::precision::u4>(a, b, c, d);
  nibbles<experimental::precision::s4>(a, b, c, d + 128);
  fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> fa;
  fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> fb;
  fragment<accumulator, 8, 8, 128, int> fc, sum;
  load_matrix_sync(fa, a, 128), load_matrix_sync(fb, b, 128), load_matrix_sync(fc, c, 8, mem_row_major);
  bmma_sync(sum, fa, fb, fc);
  store_matrix_sync(d + 256, sum, 8, mem_row_major);
  bmma_sync(sum, fa, fb, fc, experimental::bmmaBitOpAND, experimental::bmmaAccumulateOpPOPC);
  store_matrix_sync(d + 320, sum, 8, mem_row_major);
}

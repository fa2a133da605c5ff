// Every conversion to and from the formats of 8, 6 and 4 bits; the host compares with exact arithmetic.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

template <class T, class To8, class ToScale, class ToUnsigned, class To6, class To4>
__device__ void all_roundings(T x, unsigned char *out, To8 to8, ToScale scale, ToUnsigned unsigned_, To6 to6, To4 to4) {
#pragma unroll 1
  for (int s = 0; s < 2; ++s)
#pragma unroll 1
    for (int k = 0; k < 2; ++k) *out++ = to8(x, (__nv_saturation_t)s, (__nv_fp8_interpretation_t)k);
#pragma unroll 1
  for (int s = 0; s < 2; ++s)
#pragma unroll 1
    for (int r = 0; r < 4; ++r) *out++ = scale(x, (__nv_saturation_t)s, (cudaRoundMode)r);
#pragma unroll 1
  for (int s = 0; s < 2; ++s)
#pragma unroll 1
    for (int r = 0; r < 4; ++r) *out++ = unsigned_(x, (__nv_saturation_t)s, (cudaRoundMode)r);
#pragma unroll 1
  for (int k = 0; k < 2; ++k)
#pragma unroll 1
    for (int r = 0; r < 4; ++r) *out++ = to6(x, (__nv_fp6_interpretation_t)k, (cudaRoundMode)r);
#pragma unroll 1
  for (int r = 0; r < 4; ++r) *out++ = to4(x, __NV_E2M1, (cudaRoundMode)r);
}

extern "C" __global__ void narrow(const double *x, unsigned char *doubles, unsigned char *floats, unsigned char *halves,
                                  unsigned char *bfloats, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  all_roundings(x[t], doubles + 32 * t, __nv_cvt_double_to_fp8, __nv_cvt_double_to_e8m0, __nv_cvt_double_to_ue5m3,
                __nv_cvt_double_to_fp6, __nv_cvt_double_to_fp4);
  all_roundings((float)x[t], floats + 32 * t, __nv_cvt_float_to_fp8, __nv_cvt_float_to_e8m0, __nv_cvt_float_to_ue5m3,
                __nv_cvt_float_to_fp6, __nv_cvt_float_to_fp4);
  all_roundings((__half_raw)__double2half(x[t]), halves + 32 * t, __nv_cvt_halfraw_to_fp8,
                [](__half_raw h, __nv_saturation_t s, cudaRoundMode r) { return __nv_cvt_float_to_e8m0(__half2float(h), s, r); },
                __nv_cvt_halfraw_to_ue5m3, __nv_cvt_halfraw_to_fp6, __nv_cvt_halfraw_to_fp4);
  all_roundings((__nv_bfloat16_raw)__double2bfloat16(x[t]), bfloats + 32 * t, __nv_cvt_bfloat16raw_to_fp8,
                __nv_cvt_bfloat16raw_to_e8m0, __nv_cvt_bfloat16raw_to_ue5m3, __nv_cvt_bfloat16raw_to_fp6,
                __nv_cvt_bfloat16raw_to_fp4);
}

template <class T>
__device__ void read_back(int code, double *out) {
  T v;
  v.__x = (unsigned char)code;
  double all[16] = {(double)v, (float)v, (double)__half2float((__half)v), (double)__bfloat162float((__nv_bfloat16)v),
                    (double)(signed char)v, (double)(unsigned char)v, (double)(short)v, (double)(unsigned short)v,
                    (double)(int)v, (double)(unsigned int)v, (double)(long)v, (double)(unsigned long)v,
                    (double)(long long)v, (double)(unsigned long long)v, (double)(char)v, (double)(bool)v};
  for (int k = 0; k < 16; ++k) out[k] = all[k];
}
extern "C" __global__ void wide(double *out) {
  int t = threadIdx.x;
  read_back<__nv_fp8_e4m3>(t, out + 16 * t), read_back<__nv_fp8_e5m2>(t, out + 16 * (256 + t));
  read_back<__nv_fp8_e8m0>(t, out + 16 * (512 + t)), read_back<__nv_fp8_ue5m3>(t, out + 16 * (768 + t));
  read_back<__nv_fp6_e2m3>(t, out + 16 * (1024 + t)), read_back<__nv_fp6_e3m2>(t, out + 16 * (1280 + t));
  read_back<__nv_fp4_e2m1>(t, out + 16 * (1536 + t));
}

// Pairs and fours are ones side by side: every lane has other numbers.
template <class One, class Two, class Four>
__device__ void groups(const float *x, unsigned int width, unsigned int *bad) {
  const float *v = x + 4 * threadIdx.x;
  unsigned int codes[4], expected = 0;
  for (int k = 0; k < 4; ++k) codes[k] = One(v[k]).__x, expected |= codes[k] << k * width;
  unsigned int low = expected & ((1u << 2 * width) - 1);
  float4 f{v[0], v[1], v[2], v[3]};
  bool right = Two(float2{v[0], v[1]}).__x == low && Two(double2{v[0], v[1]}).__x == low && Four(f).__x == expected;
  right = right && Four(double4_16a{v[0], v[1], v[2], v[3]}).__x == expected && Four(double4_32a{v[0], v[1], v[2], v[3]}).__x == expected;
  right = right && Two(__half2(__float2half(v[0]), __float2half(v[1]))).__x == low;
  right = right && Four(__half2(__float2half(v[0]), __float2half(v[1])), __half2(__float2half(v[2]), __float2half(v[3]))).__x == expected;
  __nv_bfloat162 b(__float2bfloat16(v[0]), __float2bfloat16(v[1])), c(__float2bfloat16(v[2]), __float2bfloat16(v[3]));
  right = right && Two(b).__x == low && Four(b, c).__x == expected;
  float4 back = (float4)Four(f);
  float2 pair = (float2)Two(float2{v[0], v[1]});
  __half2 h = (__half2)Two(float2{v[0], v[1]});
  __nv_bfloat162 d = (__nv_bfloat162)Two(float2{v[0], v[1]});
  right = right && back.x == (float)One(v[0]) && back.y == (float)One(v[1]) && back.z == (float)One(v[2]) && back.w == (float)One(v[3]);
  right = right && pair.x == back.x && pair.y == back.y && __half2float(h.x) == back.x && __half2float(h.y) == back.y;
  right = right && __bfloat162float(d.x) == back.x && __bfloat162float(d.y) == back.y;
  bad[threadIdx.x] += !right;
}
extern "C" __global__ void eights(const float *x, unsigned int *bad) {
  groups<__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3>(x, 8, bad);
}
extern "C" __global__ void fours(const float *x, unsigned int *bad) {
  groups<__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1>(x, 4, bad);
}

extern "C" __global__ void not_a_number(long long *out) {
  __half nan = __ushort_as_half(0x7fff);
  out[0] = __half2ll_rz(nan), out[1] = (long long)__half2ull_rn(nan), out[2] = __half2int_rz(nan), out[3] = (long long)nan;
}

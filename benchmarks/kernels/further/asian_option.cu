// payoffs of an option on the mean of a path: a xorshift generator per thread, normal numbers by Box and Muller
__device__ unsigned next(unsigned& s) {
  s ^= s << 13;
  s ^= s >> 17;
  s ^= s << 5;
  return s;
}
__device__ float unit(unsigned r) { return ((r >> 8) + 1) * (1.0f / 16777216.0f); }
extern "C" __global__ void asian_option(float* out, int n, int steps, float drift, float volatility, float strike) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = (i + 1) * 2654435761u;
  float price = 1, sum = 0;
  for (int k = 0; k < steps; k += 2) {
    float radius = sqrtf(-2.0f * logf(unit(next(state)))), angle = 6.2831853f * unit(next(state));
    price *= expf(drift + volatility * radius * cosf(angle));
    sum += price;
    price *= expf(drift + volatility * radius * sinf(angle));
    sum += price;
  }
  out[i] = fmaxf(sum / steps - strike, 0.0f);
}

#include <cstdio>
#include <cassert>
extern "C" __global__ void prints(const char* names, double x) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t % 3 == 1) printf("%d: %s %5.2f %lld %c %p 100%%\n", t, names + 4 * (t % 5), x * t, (long long)t << 33, 'a' + t % 26, (void*)(size_t)(0x1000 + t));
  if (t == 40) printf("plain\n");
  if (t == 41) printf("[%*d|%-8s|%.3s]\n", 6, -t, names, names + 1);
}
extern "C" __global__ void asserts(int limit, int* out) {
  assert((int)threadIdx.x < limit);
  out[threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void traps(int which) { if (threadIdx.x == which) asm("trap;"); }
extern "C" __global__ void allocates(unsigned long long* out, int bytes, int rounds) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long sum = 0;
  for (int r = 0; r < rounds; ++r) {
    unsigned* p = (unsigned*)malloc(bytes + 16 * (t % 4));
    if (!p) { out[t] = ~0ull; return; }
    for (int i = 0; i < bytes / 4; ++i) p[i] = t * 1000 + i;
    __syncwarp();
    for (int i = 0; i < bytes / 4; ++i) sum += p[i];
    if ((size_t)p % 16) sum = 1;
    if (r + 1 < rounds) free(p); else out[t + gridDim.x * blockDim.x] = (unsigned long long)p;
  }
  out[t] = sum;
}
extern "C" __global__ void frees(unsigned long long* list) {
  int t = threadIdx.x;
  free((void*)list[t]);
  free((void*)list[t]);
  free(nullptr);
}

// What the machine can do at most on one thread: move memory, multiply and add.
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

// Bytes per second of c = a + s * b over arrays that take `bytes` in all; the best of several rounds.
double bytes_per_second(long bytes) {
  long n = bytes / 12 / 16 * 16;
  if (n < 1024) n = 1024;
  float *a = aligned_alloc(64, n * 4), *b = aligned_alloc(64, n * 4), *c = aligned_alloc(64, n * 4);
  for (long i = 0; i < n; i++) a[i] = i, b[i] = 1, c[i] = 0;
  double best = 0, end = now() + 0.3;
  long times = 1 + (4L << 20) / (n * 12);
  do {
    double start = now();
    for (long k = 0; k < times; k++) {
      for (long i = 0; i < n; i++) c[i] = a[i] + 3 * b[i];
      __asm__ volatile("" ::"r"(c) : "memory");
    }
    double rate = 12.0 * n * times / (now() - start);
    if (rate > best) best = rate;
  } while (now() < end);
  free(a), free(b), free(c);
  return best;
}

#ifdef __AVX512F__
#define BYTES 64
#define SUMS 16
#elif defined(__AVX__)
#define BYTES 32
#define SUMS 10  // with two operands they fit into 16 registers
#else
#define BYTES 16
#define SUMS 10
#endif
typedef float Vector __attribute__((vector_size(BYTES)));

// Operations per second on f32, a multiplication and an addition counted as two.
double flops_per_second(void) {
  Vector sum[SUMS], x = {0}, y = {0};
  x += 1.0001f, y += 0.9999f;
  for (int k = 0; k < SUMS; k++) sum[k] = x * (float)k;
  double best = 0, end = now() + 0.3;
  do {
    double start = now();
    for (int i = 0; i < 100000; i++) {
      for (int k = 0; k < SUMS; k++) sum[k] = sum[k] * x + y;
      __asm__ volatile("" : "+x"(x), "+x"(y));
    }
    double rate = 2.0 * SUMS * (BYTES / 4) * 100000 / (now() - start);
    if (rate > best) best = rate;
  } while (now() < end);
  volatile float keep = 0;
  for (int k = 0; k < SUMS; k++) keep += sum[k][0];
  return best;
}

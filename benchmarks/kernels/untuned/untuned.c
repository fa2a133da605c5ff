// The same computations in plain C, as somebody who knows compilers writes them for one thread.
// ABI: void name(void** p, const int* n, const float* f): arrays, integers and floats of the workload in its order.
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define API __attribute__((visibility("default")))
#define IN(type, i) ((const type* restrict)p[i])
#define OUT(type, i) ((type* restrict)p[i])

// compilers convert half precision one by one; the instruction does eight at once
static inline void widen(const _Float16* restrict in, float* restrict out, int n) {
  int i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(in + i))));
#endif
  for (; i < n; i++) out[i] = in[i];
}

static inline void narrow(const float* restrict in, _Float16* restrict out, int n) {
  int i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) _mm_storeu_si128((__m128i*)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0));
#endif
  for (; i < n; i++) out[i] = in[i];
}

API void half_axpby(void** p, const int* n, const float* f) {
  const _Float16* restrict x = IN(_Float16, 0);
  _Float16* restrict y = OUT(_Float16, 1);
  const _Float16 a = f[0], b = f[1];
  for (int i = 0; i < n[0]; i++) y[i] = a * x[i] + b * y[i];
}

API void layernorm_half(void** p, const int* n, const float* f) {
  const int cols = n[0], rows = n[1];
  float* restrict wide = malloc(3 * cols * sizeof(float));
  float *restrict g = wide + cols, *restrict b = wide + 2 * cols;
  widen(IN(_Float16, 1), g, cols);
  widen(IN(_Float16, 2), b, cols);
  for (int r = 0; r < rows; r++) {
    float s = 0, q = 0;
    widen(IN(_Float16, 0) + (size_t)r * cols, wide, cols);
#pragma omp simd reduction(+ : s, q)
    for (int i = 0; i < cols; i++) {
      s += wide[i];
      q += wide[i] * wide[i];
    }
    const float mean = s / cols, inv = 1 / sqrtf(q / cols - mean * mean + f[0]);
    for (int i = 0; i < cols; i++) wide[i] = (wide[i] - mean) * inv * g[i] + b[i];
    narrow(wide, OUT(_Float16, 3) + (size_t)r * cols, cols);
  }
  free(wide);
}

API void dot_double(void** p, const int* n, const float* f) {
  const double *restrict x = IN(double, 0), *restrict y = IN(double, 1);
  double s = 0;
#pragma omp simd reduction(+ : s)
  for (int i = 0; i < n[0]; i++) s += x[i] * y[i];
  OUT(double, 2)[0] = s;
}

API void jacobi_double(void** p, const int* n, const float* f) {
  const double *restrict u = IN(double, 0), *restrict g = IN(double, 1);
  double* restrict out = OUT(double, 2);
  const int w = n[0], h = n[1];
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      const size_t i = (size_t)y * w + x;
      const double next = 0.25 * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - g[i]);
      out[i] = u[i] + 0.8 * (next - u[i]);
    }
}

API void gemv_int8(void** p, const int* n, const float* f) {
  const int bytes = 4 * n[0], rows = n[1];
  const int8_t* restrict x = IN(int8_t, 1);
  for (int r = 0; r < rows; r++) {
    const int8_t* restrict a = IN(int8_t, 0) + (size_t)r * bytes;
    int s = 0;
    for (int i = 0; i < bytes; i++) s += a[i] * x[i];
    OUT(int, 2)[r] = s;
  }
}

static inline int clamp(int v, int most) { return v < 0 ? 0 : v > most ? most : v; }

API void conv5x5(void** p, const int* n, const float* f) {
  const int w = n[0], h = n[1];
  const float* restrict k = IN(float, 1);
  float* rows = malloc(5 * sizeof(float) * (w + 4));
  for (int y = 0; y < h; y++) {
    for (int j = 0; j < 5; j++) {
      const float* restrict from = IN(float, 0) + (size_t)clamp(y + j - 2, h - 1) * w;
      float* restrict row = rows + j * (w + 4);
      memcpy(row + 2, from, w * sizeof(float));
      row[0] = row[1] = from[0];
      row[w + 2] = row[w + 3] = from[w - 1];
    }
    float* restrict out = OUT(float, 2) + (size_t)y * w;
    for (int x = 0; x < w; x++) {
      float s = 0;
      for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++) s += k[5 * j + i] * rows[j * (w + 4) + x + i];
      out[x] = s;
    }
  }
  free(rows);
}

API void upconv(void** p, const int* n, const float* f) {
  const int w = n[0], h = n[1], channels = n[2];
  const float *restrict in = IN(float, 0), *restrict k = IN(float, 1);
  float* restrict out = OUT(float, 2);
  float* restrict even = malloc(2 * sizeof(float) * (w + 2));
  float* restrict odd = even + w + 2;
  for (int oy = 0; oy < 2 * h; oy++) {
    memset(even, 0, 2 * sizeof(float) * (w + 2));
    for (int c = 0; c < channels; c++)
      for (int j = (oy + 1) % 2; j < 4; j += 2) {
        const int iy = (oy + 1 - j) / 2;
        if (oy + 1 < j || iy >= h) continue;
        const float* restrict row = in + ((size_t)c * h + iy) * w;
        const float* restrict kj = k + (c * 4 + j) * 4;
        // out[2 x] takes k[1] in[x] + k[3] in[x - 1]; out[2 x + 1] takes k[0] in[x + 1] + k[2] in[x]
        even[0] += kj[1] * row[0];
        for (int x = 1; x < w; x++) even[x] += kj[1] * row[x] + kj[3] * row[x - 1];
        for (int x = 0; x < w - 1; x++) odd[x] += kj[0] * row[x + 1] + kj[2] * row[x];
        odd[w - 1] += kj[2] * row[w - 1];
      }
    float* restrict to = out + (size_t)oy * 2 * w;
    for (int x = 0; x < w; x++) {
      to[2 * x] = even[x];
      to[2 * x + 1] = odd[x];
    }
  }
  free(even);
}

API void mandelbrot(void** p, const int* n, const float* f) {
  enum { L = 32 };
  const int w = n[0], h = n[1], limit = n[2];
  for (int py = 0; py < h; py++)
    for (int first = 0; first < w; first += L) {
      float cx[L], x[L], y[L];
      int count[L], going = 1;
      const float cy = f[1] + py * f[2];
      for (int l = 0; l < L; l++) {
        cx[l] = f[0] + (first + l) * f[2];
        x[l] = y[l] = 0;
        count[l] = 0;
      }
      for (int k = 0; k < limit && going; k++) {
        going = 0;
#pragma omp simd reduction(| : going)
        for (int l = 0; l < L; l++) {
          const int in = x[l] * x[l] + y[l] * y[l] < 4.0f;
          const float t = x[l] * x[l] - y[l] * y[l] + cx[l], u = 2 * x[l] * y[l] + cy;
          x[l] = in ? t : x[l];
          y[l] = in ? u : y[l];
          count[l] += in;
          going |= in;
        }
      }
      for (int l = 0; l < L && first + l < w; l++) OUT(int, 0)[py * w + first + l] = count[l];
    }
}

API void collatz(void** p, const int* n, const float* f) {
  enum { L = 16 };
  int* restrict out = OUT(int, 0);
  for (int first = 0; first < n[0]; first += L) {
    uint64_t v[L];
    int steps[L], going = 1;
    for (int l = 0; l < L; l++) {
      v[l] = first + l + 1;
      steps[l] = 0;
    }
    while (going) {
      going = 0;
#pragma omp simd reduction(| : going)
      for (int l = 0; l < L; l++) {
        const int on = v[l] != 1;
        const uint64_t next = v[l] & 1 ? 3 * v[l] + 1 : v[l] >> 1;
        v[l] = on ? next : v[l];
        steps[l] += on;
        going |= on;
      }
    }
    for (int l = 0; l < L && first + l < n[0]; l++) out[first + l] = steps[l];
  }
}

__attribute__((optimize("no-tree-vectorize"))) API void lower_bound(void** p, const int* n, const float* f) {
  const float *restrict table = IN(float, 0), *restrict keys = IN(float, 1);
  int* restrict out = OUT(int, 2);
  const int size = n[0], count = n[1];
  // sixteen searches side by side, without branches: each step halves what is left of the table
  int first = 0;
  for (; first + 16 <= count; first += 16) {
    int low[16] = {0};
    for (int length = size; length > 1; length -= length / 2)
      for (int l = 0; l < 16; l++)
        low[l] = table[low[l] + length / 2 - 1] < keys[first + l] ? low[l] + length / 2 : low[l];
    for (int l = 0; l < 16; l++) out[first + l] = low[l] + (table[low[l]] < keys[first + l]);
  }
  for (; first < count; first++) {
    int low = 0;
    for (int length = size; length > 1; length -= length / 2)
      low = table[low + length / 2 - 1] < keys[first] ? low + length / 2 : low;
    out[first] = low + (table[low] < keys[first]);
  }
}

API void scan(void** p, const int* n, const float* f) {
  const int* restrict in = IN(int, 0);
  int *restrict out = OUT(int, 1), *restrict totals = OUT(int, 2);
  for (int first = 0; first < n[0]; first += 2048) {
    const int last = first + 2048 < n[0] ? first + 2048 : n[0];
    int s = 0;
    for (int i = first; i < last; i++) out[i] = s += in[i];
    totals[first / 2048] = s;
  }
}

API void bitonic(void** p, const int* n, const float* f) {
  // pieces of 1024 keys: three passes of a radix sort by 11 bits
  for (int piece = 0; piece < n[0]; piece++) {
    const uint32_t* restrict in = IN(uint32_t, 0) + (size_t)piece * 1024;
    uint32_t room[2][1024];
    uint16_t place[3][2048];
    memset(place, 0, sizeof place);
    for (int i = 0; i < 1024; i++)
      for (int d = 0; d < 3; d++) place[d][in[i] >> 11 * d & 2047]++;
    for (int d = 0; d < 3; d++)
      for (int b = 0, sum = 0; b < 2048; b++) {
        const int count = place[d][b];
        place[d][b] = sum;
        sum += count;
      }
    const uint32_t* from = in;
    for (int d = 0; d < 3; d++) {
      uint32_t* to = d == 2 ? OUT(uint32_t, 1) + (size_t)piece * 1024 : room[d];
      for (int i = 0; i < 1024; i++) to[place[d][from[i] >> 11 * d & 2047]++] = from[i];
      from = to;
    }
  }
}

API void spmv(void** p, const int* n, const float* f) {
  const int *restrict start = IN(int, 0), *restrict column = IN(int, 1);
  const float *restrict value = IN(float, 2), *restrict x = IN(float, 3);
  for (int r = 0; r < n[0]; r++) {
    float s = 0;
#pragma omp simd reduction(+ : s)
    for (int i = start[r]; i < start[r + 1]; i++) s += value[i] * x[column[i]];
    OUT(float, 4)[r] = s;
  }
}

API void digit_count(void** p, const int* n, const float* f) {
  const uint32_t* restrict keys = IN(uint32_t, 0);
  uint32_t part[4][64];
  memset(part, 0, sizeof part);
  const int shift = n[1];
  int i = 0;
  for (; i + 4 <= n[0]; i += 4)
    for (int k = 0; k < 4; k++) part[k][keys[i + k] >> shift & 63]++;
  for (; i < n[0]; i++) part[0][keys[i] >> shift & 63]++;
  for (int d = 0; d < 64; d++) OUT(uint32_t, 1)[d] += part[0][d] + part[1][d] + part[2][d] + part[3][d];
}

API void philox(void** p, const int* n, const float* f) {
  enum { L = 32 };
  const float scale = 1.0f / 16777216.0f;
  for (int first = 0; first < n[0]; first += L) {
    float out[L][4];
    uint64_t c0[L], c1[L], c2[L], c3[L];
    for (int l = 0; l < L; l++) {
      c0[l] = first + l;
      c1[l] = c2[l] = c3[l] = 0;
    }
    uint32_t k0 = n[1], k1 = 0x2468ACE1u;
    for (int r = 0; r < 10; r++) {
      for (int l = 0; l < L; l++) {
        const uint64_t a = 0xD2511F53u * c0[l], b = 0xCD9E8D57u * c2[l];
        c0[l] = (b >> 32) ^ c1[l] ^ k0;
        c1[l] = (uint32_t)b;
        c2[l] = (a >> 32) ^ c3[l] ^ k1;
        c3[l] = (uint32_t)a;
      }
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    for (int l = 0; l < L; l++) {
      out[l][0] = (int)(c0[l] >> 8) * scale;
      out[l][1] = (int)(c1[l] >> 8) * scale;
      out[l][2] = (int)(c2[l] >> 8) * scale;
      out[l][3] = (int)(c3[l] >> 8) * scale;
    }
    memcpy(OUT(float, 0) + 4 * first, out, sizeof(float[4]) * (n[0] - first < L ? n[0] - first : L));
  }
}

API void upper(void** p, const int* n, const float* f) {
  const uint8_t* restrict in = IN(uint8_t, 0);
  uint8_t* restrict out = OUT(uint8_t, 1);
  uint32_t words = 0;
  for (int i = 0; i < n[0]; i++) {
    const uint8_t c = in[i];
    out[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
  }
  words += in[0] != ' ' && in[0] != '\n';
  for (int first = 1; first < n[0]; first += 128) {
    const int last = first + 128 < n[0] ? first + 128 : n[0];
    uint8_t few = 0;
    for (int i = first; i < last; i++)
      few += (in[i] != ' ') & (in[i] != '\n') & ((in[i - 1] == ' ') | (in[i - 1] == '\n'));
    words += few;
  }
  *OUT(uint32_t, 2) += words;
}

API void gemv(void** p, const int* n, const float* f) {
  const int cols = n[0], rows = n[1];
  const float* restrict x = IN(float, 1);
  for (int r = 0; r < rows; r++) {
    const float* restrict a = IN(float, 0) + (size_t)r * cols;
    float s = 0;
#pragma omp simd reduction(+ : s)
    for (int i = 0; i < cols; i++) s += a[i] * x[i];
    OUT(float, 2)[r] = s;
  }
}

API void stencil7(void** p, const int* n, const float* f) {
  const float* restrict in = IN(float, 0);
  float* restrict out = OUT(float, 1);
  const int nx = n[0], ny = n[1], nz = n[2], plane = nx * ny;
  for (int z = 1; z < nz - 1; z++)
    for (int y = 1; y < ny - 1; y++)
      for (int x = 1; x < nx - 1; x++) {
        const int i = z * plane + y * nx + x;
        out[i] = 0.4f * in[i] +
                 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane]);
      }
}

API void softmax_odd(void** p, const int* n, const float* f) {
  const int cols = n[0], rows = n[1];
  for (int r = 0; r < rows; r++) {
    const float* restrict x = IN(float, 0) + (size_t)r * cols;
    float* restrict y = OUT(float, 1) + (size_t)r * cols;
    float m = x[0], s = 0;
#pragma omp simd reduction(max : m)
    for (int i = 0; i < cols; i++) m = x[i] > m ? x[i] : m;
#pragma omp simd reduction(+ : s)
    for (int i = 0; i < cols; i++) {
      y[i] = expf(x[i] - m);
      s += y[i];
    }
    s = 1 / s;
    for (int i = 0; i < cols; i++) y[i] *= s;
  }
}

API void embedding(void** p, const int* n, const float* f) {
  const int dim = n[0], count = n[1];
  for (int t = 0; t < count; t++) {
    const float* restrict row = IN(float, 0) + (size_t)IN(int, 1)[t] * dim;
    float* restrict out = OUT(float, 2) + (size_t)t * dim;
    for (int i = 0; i < dim; i++) out[i] = row[i] * f[0];
  }
}

API void argmax(void** p, const int* n, const float* f) {
  const int cols = n[0], rows = n[1];
  for (int r = 0; r < rows; r++) {
    const float* restrict x = IN(float, 0) + (size_t)r * cols;
    float m = x[0];
#pragma omp simd reduction(max : m)
    for (int i = 0; i < cols; i++) m = x[i] > m ? x[i] : m;
    int at = 0;
    while (x[at] != m) at++;
    OUT(int, 1)[r] = at;
  }
}

API void kmeans(void** p, const int* n, const float* f) {
  enum { L = 32 };
  const int count = n[0], k = n[1];
  const float *restrict points = IN(float, 0), *restrict centres = IN(float, 1);
  for (int first = 0; first < count; first += L) {
    float v[16][L], best[L];
    int which[L];
    for (int l = 0; l < L; l++) {
      const int at = first + l < count ? first + l : count - 1;
      for (int d = 0; d < 16; d++) v[d][l] = points[(size_t)at * 16 + d];
      best[l] = INFINITY;
      which[l] = 0;
    }
    for (int j = 0; j < k; j++) {
#pragma omp simd
      for (int l = 0; l < L; l++) {
        float s = 0;
        for (int d = 0; d < 16; d++) s += (v[d][l] - centres[j * 16 + d]) * (v[d][l] - centres[j * 16 + d]);
        which[l] = s < best[l] ? j : which[l];
        best[l] = s < best[l] ? s : best[l];
      }
    }
    for (int l = 0; l < L && first + l < count; l++) OUT(int, 2)[first + l] = which[l];
  }
}

API void batchnorm(void** p, const int* n, const float* f) {
  const int channels = n[0], batch = n[1], total = batch * 49;
  for (int c = 0; c < channels; c++) {
    float s = 0, q = 0;
    for (int b = 0; b < batch; b++) {
      const float* restrict x = IN(float, 0) + ((size_t)b * channels + c) * 49;
#pragma omp simd reduction(+ : s, q)
      for (int i = 0; i < 49; i++) {
        s += x[i];
        q += x[i] * x[i];
      }
    }
    const float mean = s / total, inv = 1 / sqrtf(q / total - mean * mean + f[0]);
    for (int b = 0; b < batch; b++) {
      const float* restrict x = IN(float, 0) + ((size_t)b * channels + c) * 49;
      float* restrict y = OUT(float, 1) + ((size_t)b * channels + c) * 49;
      for (int i = 0; i < 49; i++) y[i] = (x[i] - mean) * inv;
    }
  }
}

API void monte_carlo(void** p, const int* n, const float* f) {
  enum { L = 64 };
  const int points = n[0], threads = n[1];
  const float scale = 1.0f / 16777216.0f;
  uint32_t hits = 0;
  for (int first = 0; first < threads; first += L) {
    uint32_t state[L], inside[L];
    for (int l = 0; l < L; l++) {
      state[l] = (uint32_t)(first + l) * 2654435761u + 12345u;
      inside[l] = 0;
    }
    for (int k = 0; k < points; k++)
      for (int l = 0; l < L; l++) {
        state[l] = state[l] * 1664525u + 1013904223u;
        const float x = (int)(state[l] >> 8) * scale;
        state[l] = state[l] * 1664525u + 1013904223u;
        const float y = (int)(state[l] >> 8) * scale;
        inside[l] += x * x + y * y < 1.0f;
      }
    for (int l = 0; l < L; l++) hits += inside[l];
  }
  *OUT(uint32_t, 0) += hits;
}

API void cheapest_path(void** p, const int* n, const float* f) {
  const int cols = n[0], steps = n[1];
  const int* restrict cost = IN(int, 0);
  int* row = malloc(2 * sizeof(int) * (cols + 2));
  int *restrict a = row + 1, *restrict b = row + cols + 3;
  memcpy(a, p[1], cols * sizeof(int));
  for (int s = 0; s < steps; s++) {
    a[-1] = a[cols] = 1 << 30;
    for (int x = 0; x < cols; x++) {
      int least = a[x - 1] < a[x] ? a[x - 1] : a[x];
      least = a[x + 1] < least ? a[x + 1] : least;
      b[x] = least + cost[(size_t)s * cols + x];
    }
    int* t = a;
    a = b;
    b = t;
  }
  memcpy(p[2], a, cols * sizeof(int));
  free(row);
}

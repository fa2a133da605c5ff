// The same computations in plain C, as somebody who knows compilers writes them for one thread.
// ABI: void name(void** p, const int* n, const float* f): arrays, integers and floats of the workload in its order.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define API __attribute__((visibility("default")))
#define IN(type, i) ((const type* restrict)p[i])
#define OUT(type, i) ((type* restrict)p[i])

static inline int least(int a, int b) { return a < b ? a : b; }
static inline int most(int a, int b) { return a > b ? a : b; }

typedef struct {
  float x, y, z, vx, vy, vz, charge, mass;
} Particle;

API void particles(void** p, const int* n, const float* f) {
  enum { L = 16 };  // particles side by side, their numbers apart
  Particle* restrict all = OUT(Particle, 0);
  const float dt = f[0], ex = f[1], ey = f[2], ez = f[3], bx = f[4], by = f[5], bz = f[6];
  for (int first = 0; first < n[0]; first += L) {
    const int many = least(L, n[0] - first);
    float x[3][L] = {0}, v[3][L] = {0}, h[L] = {0};
    for (int l = 0; l < many; l++) {
      const Particle* q = all + first + l;
      x[0][l] = q->x;
      x[1][l] = q->y;
      x[2][l] = q->z;
      v[0][l] = q->vx;
      v[1][l] = q->vy;
      v[2][l] = q->vz;
      h[l] = 0.5f * dt * q->charge / q->mass;
    }
    for (int l = 0; l < L; l++) {
      const float ax = v[0][l] + h[l] * ex, ay = v[1][l] + h[l] * ey, az = v[2][l] + h[l] * ez;
      const float tx = h[l] * bx, ty = h[l] * by, tz = h[l] * bz;
      const float s = 2.0f / (1.0f + tx * tx + ty * ty + tz * tz);
      const float cx = ax + ay * tz - az * ty, cy = ay + az * tx - ax * tz, cz = az + ax * ty - ay * tx;
      v[0][l] = ax + s * (cy * tz - cz * ty) + h[l] * ex;
      v[1][l] = ay + s * (cz * tx - cx * tz) + h[l] * ey;
      v[2][l] = az + s * (cx * ty - cy * tx) + h[l] * ez;
    }
    for (int c = 0; c < 3; c++)
      for (int l = 0; l < L; l++) {
        const float to = x[c][l] + v[c][l] * dt;
        x[c][l] = to < 0.0f ? -to : to > 1.0f ? 2.0f - to : to;
        v[c][l] = (to < 0.0f) | (to > 1.0f) ? -v[c][l] : v[c][l];
      }
    for (int l = 0; l < many; l++) {
      Particle* q = all + first + l;
      q->x = x[0][l];
      q->y = x[1][l];
      q->z = x[2][l];
      q->vx = v[0][l];
      q->vy = v[1][l];
      q->vz = v[2][l];
    }
  }
}

// pixels one over the other, bytes alike: (v - 1) / 255 in sixteen bits
static inline void blend(const uint8_t* restrict front, const uint8_t* restrict back, uint8_t* restrict out, int n) {
  for (int i = 0; i < n; i++) {
    const uint16_t alpha = front[4 * i + 3], rest = 255 - alpha;
    uint16_t v[4];
    for (int c = 0; c < 3; c++) v[c] = front[4 * i + c] * alpha + back[4 * i + c] * rest + 128;
    v[3] = 255 * alpha + back[4 * i + 3] * rest + 128;
    for (int c = 0; c < 4; c++) out[4 * i + c] = (uint16_t)(v[c] + (v[c] >> 8)) >> 8;
  }
}

API void rgba_blend(void** p, const int* n, const float* f) {
  blend(IN(uint8_t, 0), IN(uint8_t, 1), OUT(uint8_t, 2), n[0]);
}

API void fft256(void** p, const int* n, const float* f) {
  enum { L = 8 };  // transforms side by side, real and imaginary parts apart
  const float *restrict in = IN(float, 0), *restrict roots = IN(float, 1);
  float* restrict out = OUT(float, 2);
  static float room[2][2][256][L];
  for (int first = 0; first < n[0]; first += L) {
    const int many = least(L, n[0] - first);
    for (int l = 0; l < many; l++)
      for (int i = 0; i < 256; i++) {
        room[0][0][i][l] = in[((size_t)(first + l) * 256 + i) * 2];
        room[0][1][i][l] = in[((size_t)(first + l) * 256 + i) * 2 + 1];
      }
    int side = 0;
    for (int size = 1; size < 256; size *= 4, side = 1 - side)
      for (int t = 0; t < 64; t++) {
        const int k = t % size, to = (t - k) * 4 + k;
        const float(*re)[L] = room[side][0], (*im)[L] = room[side][1];
        float(*restrict tr)[L] = room[1 - side][0], (*restrict ti)[L] = room[1 - side][1];
        float cr[4], ci[4];
        for (int r = 1; r < 4; r++) {
          cr[r] = roots[2 * r * k * (64 / size)];
          ci[r] = roots[2 * r * k * (64 / size) + 1];
        }
#pragma omp simd
        for (int l = 0; l < L; l++) {
          const float x0 = re[t][l], y0 = im[t][l];
          const float x1 = re[t + 64][l] * cr[1] - im[t + 64][l] * ci[1];
          const float y1 = re[t + 64][l] * ci[1] + im[t + 64][l] * cr[1];
          const float x2 = re[t + 128][l] * cr[2] - im[t + 128][l] * ci[2];
          const float y2 = re[t + 128][l] * ci[2] + im[t + 128][l] * cr[2];
          const float x3 = re[t + 192][l] * cr[3] - im[t + 192][l] * ci[3];
          const float y3 = re[t + 192][l] * ci[3] + im[t + 192][l] * cr[3];
          const float ax = x0 + x2, ay = y0 + y2, bx = x0 - x2, by = y0 - y2;
          const float cx = x1 + x3, cy = y1 + y3, dx = y1 - y3, dy = x3 - x1;
          tr[to][l] = ax + cx;
          ti[to][l] = ay + cy;
          tr[to + size][l] = bx + dx;
          ti[to + size][l] = by + dy;
          tr[to + 2 * size][l] = ax - cx;
          ti[to + 2 * size][l] = ay - cy;
          tr[to + 3 * size][l] = bx - dx;
          ti[to + 3 * size][l] = by - dy;
        }
      }
    for (int l = 0; l < many; l++)
      for (int i = 0; i < 256; i++) {
        out[((size_t)(first + l) * 256 + i) * 2] = room[0][0][i][l];
        out[((size_t)(first + l) * 256 + i) * 2 + 1] = room[0][1][i][l];
      }
  }
}

static inline uint32_t rotate(uint32_t v, int by) { return v << by | v >> (32 - by); }

API void murmur(void** p, const int* n, const float* f) {
  enum { L = 16 };  // records side by side
  const uint32_t* restrict records = IN(uint32_t, 0);
  uint32_t* restrict out = OUT(uint32_t, 1);
  for (int first = 0; first < n[0]; first += L) {
    const int many = least(L, n[0] - first);
    uint32_t words[16][L] = {0}, h[L];
    for (int l = 0; l < many; l++)
      for (int w = 0; w < 16; w++) words[w][l] = records[(size_t)(first + l) * 16 + w];
    for (int l = 0; l < L; l++) h[l] = n[1];
    for (int w = 0; w < 16; w++)
      for (int l = 0; l < L; l++)
        h[l] = rotate(h[l] ^ rotate(words[w][l] * 0xcc9e2d51u, 15) * 0x1b873593u, 13) * 5 + 0xe6546b64u;
    for (int l = 0; l < L; l++) {
      h[l] ^= 64;
      h[l] = (h[l] ^ h[l] >> 16) * 0x85ebca6bu;
      h[l] = (h[l] ^ h[l] >> 13) * 0xc2b2ae35u;
      h[l] ^= h[l] >> 16;
    }
    memcpy(out + first, h, many * sizeof *h);
  }
}

API void hash_probe(void** p, const int* n, const float* f) {
  const uint32_t *restrict table = IN(uint32_t, 0), *restrict keys = IN(uint32_t, 1);
  int* restrict out = OUT(int, 2);
  const uint32_t mask = (1u << n[0]) - 1;
  for (int i = 0; i < n[1]; i++) {
    const uint32_t key = keys[i];
    uint32_t at = key * 2654435769u >> (32 - n[0]);
    while (table[2 * at] != key && table[2 * at] != 0xffffffffu) at = (at + 1) & mask;
    out[i] = table[2 * at] == key ? (int)table[2 * at + 1] : -1;
  }
}

API void crc32(void** p, const int* n, const float* f) {
  static uint32_t table[8][256];  // eight bytes at a time
  for (int i = 0; i < 256; i++) {
    uint32_t entry = i;
    for (int k = 0; k < 8; k++) entry = entry & 1 ? entry >> 1 ^ 0xEDB88320u : entry >> 1;
    table[0][i] = entry;
  }
  for (int t = 1; t < 8; t++)
    for (int i = 0; i < 256; i++) table[t][i] = table[0][table[t - 1][i] & 255] ^ table[t - 1][i] >> 8;
  for (int i = 0; i < n[0]; i++) {
    const uint32_t* restrict words = IN(uint32_t, 0) + (size_t)i * 64;
    uint32_t crc = ~0u;
    for (int w = 0; w < 64; w += 2) {
      const uint32_t a = crc ^ words[w], b = words[w + 1];
      crc = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^
            table[3][b & 255] ^ table[2][b >> 8 & 255] ^ table[1][b >> 16 & 255] ^ table[0][b >> 24];
    }
    OUT(uint32_t, 1)[i] = ~crc;
  }
}

API void aes(void** p, const int* n, const float* f) {
  static uint32_t t[4][256];
  const uint32_t *restrict in = IN(uint32_t, 0), *restrict table = IN(uint32_t, 1), *restrict k = IN(uint32_t, 2);
  uint32_t* restrict out = OUT(uint32_t, 3);
  for (int i = 0; i < 256; i++) {
    t[0][i] = table[i];
    for (int r = 1; r < 4; r++) t[r][i] = rotate(table[i], 8 * r);
  }
  for (int i = 0; i < n[0]; i++) {
    uint32_t s[4], next[4];
    for (int c = 0; c < 4; c++) s[c] = in[4 * i + c] ^ k[c];
    for (int r = 1; r < 10; r++) {
      for (int c = 0; c < 4; c++)
        next[c] = t[0][s[c] & 255] ^ t[1][s[(c + 1) % 4] >> 8 & 255] ^ t[2][s[(c + 2) % 4] >> 16 & 255] ^
                  t[3][s[(c + 3) % 4] >> 24] ^ k[4 * r + c];
      memcpy(s, next, sizeof s);
    }
    for (int c = 0; c < 4; c++)
      out[4 * i + c] = ((t[0][s[c] & 255] >> 8 & 255) | (t[0][s[(c + 1) % 4] >> 8 & 255] & 0xff00) |
                        (t[0][s[(c + 2) % 4] >> 16 & 255] << 8 & 0xff0000) |
                        (t[0][s[(c + 3) % 4] >> 24] << 16 & 0xff000000)) ^
                       k[40 + c];
  }
}

// gcc believes `restrict` of parameters: rows are functions of their own
static void wave_row(const float* restrict now, const float* restrict before, const float* restrict speed,
                     float* restrict next, int n, int nx, int plane) {
  for (int i = 0; i < n; i++) {
    const float near = now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] + now[i - plane] + now[i + plane];
    const float far =
        now[i - 2] + now[i + 2] + now[i - 2 * nx] + now[i + 2 * nx] + now[i - 2 * plane] + now[i + 2 * plane];
    next[i] = 2.0f * now[i] - before[i] + speed[i] * (-7.5f * now[i] + 1.3333334f * near - 0.083333336f * far);
  }
}

API void wave3d(void** p, const int* n, const float* f) {
  const int nx = n[0], ny = n[1], nz = n[2], plane = nx * ny;
  for (int z = 2; z < nz - 2; z++)
    for (int y = 2; y < ny - 2; y++) {
      const int i = z * plane + y * nx + 2;
      wave_row(IN(float, 0) + i, IN(float, 1) + i, IN(float, 2) + i, OUT(float, 3) + i, nx - 4, nx, plane);
    }
}

static void heat_row(const float* restrict t, const float* restrict k, float* restrict out, int nx, float step,
                     int north, int south, int below, int above) {
#define FLOW(o) ((k[i + (o)] + k[i]) * (t[i + (o)] - t[i]))
#define CELL(west, east) \
  out[i] = t[i] + step * (FLOW(west) + FLOW(east) + FLOW(north) + FLOW(south) + FLOW(below) + FLOW(above))
  int i = 0;
  CELL(0, 1);
  for (i = 1; i < nx - 1; i++) CELL(-1, 1);
  CELL(-1, 0);
}

API void heat3d(void** p, const int* n, const float* f) {
  const int nx = n[0], ny = n[1], nz = n[2], plane = nx * ny;
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++) {
      // at a face the neighbour is the cell itself: nothing flows
      const int i = z * plane + y * nx;
      heat_row(IN(float, 0) + i, IN(float, 1) + i, OUT(float, 2) + i, nx, f[0], y > 0 ? -nx : 0,
               y < ny - 1 ? nx : 0, z > 0 ? -plane : 0, z < nz - 1 ? plane : 0);
    }
}

static void fdtd_row(float* restrict ex, float* restrict ey, float* restrict ez, const float* restrict hx,
                     const float* restrict hy, const float* restrict hz, const float* restrict ca,
                     const float* restrict cb, int n, int nx, int plane) {
  for (int i = 0; i < n; i++) {
    ex[i] = ca[i] * ex[i] + cb[i] * ((hz[i] - hz[i - nx]) - (hy[i] - hy[i - plane]));
    ey[i] = ca[i] * ey[i] + cb[i] * ((hx[i] - hx[i - plane]) - (hz[i] - hz[i - 1]));
    ez[i] = ca[i] * ez[i] + cb[i] * ((hy[i] - hy[i - 1]) - (hx[i] - hx[i - nx]));
  }
}

API void fdtd(void** p, const int* n, const float* f) {
  const int nx = n[0], ny = n[1], nz = n[2], plane = nx * ny;
  for (int z = 1; z < nz; z++)
    for (int y = 1; y < ny; y++) {
      const int i = z * plane + y * nx + 1;
      fdtd_row(OUT(float, 0) + i, OUT(float, 1) + i, OUT(float, 2) + i, IN(float, 3) + i, IN(float, 4) + i,
               IN(float, 5) + i, IN(float, 6) + i, IN(float, 7) + i, nx - 1, nx, plane);
    }
}

API void ray_spheres(void** p, const int* n, const float* f) {
  enum { L = 32 };  // rays of a row side by side
  const float* restrict spheres = IN(float, 0);
  struct {
    float distance;
    int which;
  }* restrict out = p[1];
  const int count = n[0], w = n[1], h = n[2];
  for (int py = 0; py < h; py++)
    for (int first = 0; first < w; first += L) {
      float x[L], y[L], z[L], nearest[L];
      int which[L];
      for (int l = 0; l < L; l++) {
        x[l] = (first + l + 0.5f - 0.5f * w) * f[0];
        y[l] = (py + 0.5f - 0.5f * h) * f[0];
        const float scale = 1.0f / sqrtf(x[l] * x[l] + y[l] * y[l] + 1.0f);
        x[l] *= scale;
        y[l] *= scale;
        z[l] = scale;
        nearest[l] = 1e30f;
        which[l] = -1;
      }
      for (int i = 0; i < count; i++) {
        const float sx = spheres[4 * i], sy = spheres[4 * i + 1], sz = spheres[4 * i + 2], r = spheres[4 * i + 3];
        const float c = sx * sx + sy * sy + sz * sz - r * r;
        float b[L], disc[L];
        int some = 0;
        for (int l = 0; l < L; l++) {
          b[l] = sx * x[l] + sy * y[l] + sz * z[l];
          disc[l] = b[l] * b[l] - c;
          some |= disc[l] >= 0;
        }
        if (!some) continue;
#pragma omp simd
        for (int l = 0; l < L; l++) {
          const float t = b[l] - sqrtf(disc[l] > 0 ? disc[l] : 0);
          const int hit = (disc[l] >= 0) & (t > 0) & (t < nearest[l]);
          nearest[l] = hit ? t : nearest[l];
          which[l] = hit ? i : which[l];
        }
      }
      for (int l = 0; l < L && first + l < w; l++) {
        out[py * w + first + l].distance = nearest[l];
        out[py * w + first + l].which = which[l];
      }
    }
}

API void ray_triangles(void** p, const int* n, const float* f) {
  enum { L = 32 };
  const float* restrict list = IN(float, 0);
  const int count = n[0], w = n[1], h = n[2];
  for (int first = 0; first < w * h; first += L) {
    float x[L], y[L], nearest[L];
    int which[L];
    for (int l = 0; l < L; l++) {
      x[l] = ((first + l) % w + 0.5f - 0.5f * w) * f[0];
      y[l] = ((first + l) / w + 0.5f - 0.5f * h) * f[0];
      nearest[l] = 1e30f;
      which[l] = -1;
    }
    for (int k = 0; k < count; k++) {
      const float *a = list + 9 * k, *ab = a + 3, *ac = a + 6;
      // what does not depend on the ray: q = ab x a (from = -a), and ac . q
      const float qx = -a[1] * ab[2] + a[2] * ab[1], qy = -a[2] * ab[0] + a[0] * ab[2],
                  qz = -a[0] * ab[1] + a[1] * ab[0];
      const float dot = ac[0] * qx + ac[1] * qy + ac[2] * qz;
#pragma omp simd
      for (int l = 0; l < L; l++) {
        const float px = y[l] * ac[2] - ac[1], py = ac[0] - x[l] * ac[2], pz = x[l] * ac[1] - y[l] * ac[0];
        const float det = ab[0] * px + ab[1] * py + ab[2] * pz, inverse = 1.0f / det;
        const float u = -(a[0] * px + a[1] * py + a[2] * pz) * inverse;
        const float v = (x[l] * qx + y[l] * qy + qz) * inverse, far = dot * inverse;
        const int hit = (fabsf(det) >= 1e-8f) & (u >= 0) & (v >= 0) & (u + v <= 1) & (far > 0) & (far < nearest[l]);
        nearest[l] = hit ? far : nearest[l];
        which[l] = hit ? k : which[l];
      }
    }
    for (int l = 0; l < L && first + l < w * h; l++) OUT(int, 1)[first + l] = which[l];
  }
}

API void voxel_march(void** p, const int* n, const float* f) {
  const uint8_t* restrict grid = IN(uint8_t, 0);
  const int size = n[0], w = n[1], h = n[2];
  for (int py = 0; py < h; py++)
    for (int px = 0; px < w; px++) {
      const float ox = (px + 0.37f) * size / w, oy = (py + 0.41f) * size / h;
      const float dx = (0.5f * w - px) * f[0], dy = (0.5f * h - py) * f[0];
      int x = (int)ox, y = (int)oy, z = 0, found = -1;
      const int sx = dx > 0 ? 1 : -1, sy = dy > 0 ? 1 : -1;
      const float ux = dx != 0 ? fabsf(1.0f / dx) : 1e30f, uy = dy != 0 ? fabsf(1.0f / dy) : 1e30f;
      float nx = (sx > 0 ? x + 1 - ox : ox - x) * ux, ny = (sy > 0 ? y + 1 - oy : oy - y) * uy, nz = 1.0f;
      while ((unsigned)x < (unsigned)size && (unsigned)y < (unsigned)size && z < size) {
        const int at = (z * size + y) * size + x;
        if (grid[at]) {
          found = at;
          break;
        }
        if (nx < ny && nx < nz) {
          x += sx;
          nx += ux;
        } else if (ny < nz) {
          y += sy;
          ny += uy;
        } else {
          z++;
          nz += 1.0f;
        }
      }
      OUT(int, 1)[py * w + px] = found;
    }
}

API void edit_distance(void** p, const int* n, const float* f) {
  enum { L = 32 };  // pairs side by side; each takes its result from its own row and column
  const char *restrict first = IN(char, 0), *restrict second = IN(char, 1);
  const int* restrict lengths = IN(int, 2);
  for (int from = 0; from < n[0]; from += L) {
    const int many = least(L, n[0] - from);
    uint8_t a[40][L] = {0}, b[40][L] = {0}, row[41][L];
    int la = 0, lb = 0;
    for (int l = 0; l < many; l++) {
      for (int k = 0; k < 40; k++) {
        a[k][l] = first[(size_t)(from + l) * 40 + k];
        b[k][l] = second[(size_t)(from + l) * 40 + k];
      }
      la = most(la, lengths[2 * (from + l)]);
      lb = most(lb, lengths[2 * (from + l) + 1]);
    }
    for (int j = 0; j <= lb; j++) memset(row[j], j, L);
    for (int k = 0; k <= la; k++) {
      for (int l = 0; l < many; l++)
        if (lengths[2 * (from + l)] == k) OUT(int, 3)[from + l] = row[lengths[2 * (from + l) + 1]][l];
      if (k == la) break;
      uint8_t corner[L];
      memset(corner, k, L);
      memset(row[0], k + 1, L);
      for (int j = 0; j < lb; j++)
        for (int l = 0; l < L; l++) {
          const uint8_t above = row[j + 1][l], left = row[j][l];
          const uint8_t other = (uint8_t)((above < left ? above : left) + 1);
          const uint8_t same = (uint8_t)(corner[l] + (a[k][l] != b[j][l]));
          corner[l] = above;
          row[j + 1][l] = other < same ? other : same;
        }
    }
  }
}

static int diagonal(const int16_t* restrict older, const int16_t* restrict last, int16_t* restrict now,
                    const uint8_t* restrict query, const uint8_t* restrict letters, int begin, int end) {
  int16_t best = 0;
  for (int i = begin; i < end; i++) {
    const int16_t same = (int16_t)(older[i] + (query[i] == letters[i] ? 3 : -2));
    const int16_t longer = last[i] > last[i + 1] ? last[i] : last[i + 1];
    int16_t s = longer - 2 > same ? (int16_t)(longer - 2) : same;
    s = s > 0 ? s : 0;
    now[i + 1] = s;
    best = s > best ? s : best;
  }
  return best;
}

API void smith_waterman(void** p, const int* n, const float* f) {
  const int length = n[0], pairs = n[1], size = length + 256;
  // along anti-diagonals; the target from its end, so that a diagonal is a plain loop
  uint8_t* target = malloc(size);
  for (int pair = 0; pair < pairs; pair++) {
    const uint8_t* query = IN(uint8_t, 0) + (size_t)pair * 128;
    int16_t room[3][129];
    int best = 0;
    memset(room, 0, sizeof room);
    memset(target, 0, size);
    for (int i = 0; i < length; i++) target[127 + length - i] = IN(uint8_t, 1)[(size_t)pair * length + i];
    for (int d = 0; d < length + 127; d++)
      best = most(best, diagonal(room[(d + 1) % 3], room[(d + 2) % 3], room[d % 3], query, target + 127 + length - d,
                                 most(0, d - length + 1), least(128, d + 1)));
    OUT(int, 2)[pair] = best;
  }
  free(target);
}

static void ell_entry(const int* restrict column, const float* restrict value, const float* restrict x,
                      float* restrict y, int n) {
  for (int r = 0; r < n; r++) y[r] += value[r] * x[column[r] < 0 ? 0 : column[r]];  // the value of a missing entry is 0
}

API void ell_spmv(void** p, const int* n, const float* f) {
  enum { L = 1024 };  // rows at a time, so that their sums stay near
  const int rows = n[0], width = n[1];
  for (int first = 0; first < rows; first += L) {
    float* y = OUT(float, 3) + first;
    const int many = least(L, rows - first);
    memset(y, 0, many * sizeof *y);
    for (int k = 0; k < width; k++) {
      const size_t at = (size_t)k * rows + first;
      ell_entry(IN(int, 0) + at, IN(float, 1) + at, IN(float, 2), y, many);
    }
  }
}

API void coo_spmv(void** p, const int* n, const float* f) {
  const int *restrict row = IN(int, 0), *restrict column = IN(int, 1);
  const float *restrict value = IN(float, 2), *restrict x = IN(float, 3);
  float* restrict y = OUT(float, 4);
  // the entries are in the order of rows: add up while the row stays
  for (int i = 0; i < n[0];) {
    const int r = row[i];
    float s = 0;
    for (; i < n[0] && row[i] == r; i++) s += value[i] * x[column[i]];
    y[r] += s;
  }
}

API void tree_search(void** p, const int* n, const float* f) {
  enum { L = 8 };  // searches side by side, as each waits for memory
  struct Node {
    int key, next[2], value;
  };
  const struct Node* restrict nodes = p[0];
  const int* restrict keys = IN(int, 1);
  int* restrict out = OUT(int, 2);
  for (int first = 0; first < n[1]; first += L) {
    const int many = least(L, n[1] - first);
    int at[L], going = 1;
    for (int l = 0; l < many; l++) {
      at[l] = n[0];
      out[first + l] = -1;
    }
    while (going) {
      going = 0;
      for (int l = 0; l < many; l++) {
        if (at[l] < 0) continue;
        const struct Node* node = nodes + at[l];
        if (node->key == keys[first + l]) {
          out[first + l] = node->value;
          at[l] = -1;
        } else {
          at[l] = node->next[keys[first + l] > node->key];
          going = 1;
        }
      }
    }
  }
}

static float nearest(const float* restrict tree, const float* q, int size, int at, int axis, float best) {
  const float* point = tree + 4 * (size_t)at;
  const float dx = q[0] - point[0], dy = q[1] - point[1], dz = q[2] - point[2];
  const float square = dx * dx + dy * dy + dz * dz, gap = q[axis] - point[axis];
  const int near = 2 * at + (gap < 0 ? 1 : 2), far = 2 * at + (gap < 0 ? 2 : 1), next = axis == 2 ? 0 : axis + 1;
  best = square < best ? square : best;
  if (near < size) best = nearest(tree, q, size, near, next, best);
  if (far < size && gap * gap < best) best = nearest(tree, q, size, far, next, best);
  return best;
}

API void kd_nearest(void** p, const int* n, const float* f) {
  for (int i = 0; i < n[1]; i++) OUT(float, 2)[i] = nearest(IN(float, 0), IN(float, 1) + 4 * i, n[0], 0, 0, 1e30f);
}

static inline uint32_t xorshift(uint32_t s) {
  s ^= s << 13;
  s ^= s >> 17;
  return s ^ s << 5;
}

API void asian_option(void** p, const int* n, const float* f) {
  enum { L = 64 };
  const int count = n[0], steps = n[1];
  const float unit = 1.0f / 16777216.0f;
  for (int first = 0; first < count; first += L) {
    uint32_t state[L];
    float price[L], sum[L];
    for (int l = 0; l < L; l++) {
      state[l] = (uint32_t)(first + l + 1) * 2654435761u;
      price[l] = 1;
      sum[l] = 0;
    }
    for (int k = 0; k < steps; k += 2) {
      float radius[L], angle[L], one[L], two[L];
      for (int l = 0; l < L; l++) {
        state[l] = xorshift(state[l]);
        radius[l] = (int)((state[l] >> 8) + 1) * unit;
        state[l] = xorshift(state[l]);
        angle[l] = 6.2831853f * ((int)((state[l] >> 8) + 1) * unit);
      }
      for (int l = 0; l < L; l++) radius[l] = f[1] * sqrtf(-2.0f * logf(radius[l]));
      for (int l = 0; l < L; l++) one[l] = expf(f[0] + radius[l] * cosf(angle[l]));
      for (int l = 0; l < L; l++) two[l] = expf(f[0] + radius[l] * sinf(angle[l]));
      for (int l = 0; l < L; l++) {
        price[l] *= one[l];
        sum[l] += price[l];
        price[l] *= two[l];
        sum[l] += price[l];
      }
    }
    for (int l = 0; l < L && first + l < count; l++) OUT(float, 0)[first + l] = fmaxf(sum[l] / steps - f[2], 0.0f);
  }
}

API void pi_xorshift(void** p, const int* n, const float* f) {
  enum { L = 32 };
  const int points = n[0], threads = n[1];
  const float scale = 1.0f / 8388608.0f;
  uint32_t* restrict states = OUT(uint32_t, 0);
  uint32_t hits = 0;
  for (int first = 0; first < threads; first += L) {
    uint32_t s[4][L], inside[L] = {0};
    for (int l = 0; l < L; l++)
      for (int w = 0; w < 4; w++) s[w][l] = states[4 * (first + l) + w];
    for (int k = 0; k < points; k++)
#pragma omp simd
      for (int l = 0; l < L; l++) {
        const uint32_t t = s[0][l] ^ s[0][l] << 11, u = s[1][l] ^ s[1][l] << 11;
        const uint32_t a = s[3][l] ^ s[3][l] >> 19 ^ t ^ t >> 8, b = a ^ a >> 19 ^ u ^ u >> 8;
        s[0][l] = s[2][l];
        s[1][l] = s[3][l];
        s[2][l] = a;
        s[3][l] = b;
        const float x = (int)(a >> 9) * scale, y = (int)(b >> 9) * scale;
        inside[l] += x * x + y * y < 1.0f;
      }
    for (int l = 0; l < L; l++) {
      for (int w = 0; w < 4; w++) states[4 * (first + l) + w] = s[w][l];
      hits += inside[l];
    }
  }
  *OUT(uint32_t, 1) += hits;
}

API void life_bits(void** p, const int* n, const float* f) {
  const int w = n[0], h = n[1];
  // rows with the words of the other end on both sides
  uint32_t* rows = malloc(3 * sizeof(uint32_t) * (w + 2));
  for (int y = 0; y < h; y++) {
    for (int d = 0; d < 3; d++) {
      const uint32_t* restrict from = IN(uint32_t, 0) + (size_t)((y + d - 1 + h) % h) * w;
      uint32_t* restrict row = rows + d * (w + 2);
      memcpy(row + 1, from, w * sizeof *row);
      row[0] = from[w - 1];
      row[w + 1] = from[0];
    }
    uint32_t* restrict out = OUT(uint32_t, 1) + (size_t)y * w;
    for (int x = 0; x < w; x++) {
      uint32_t ones = 0, twos = 0, fours = 0;
      for (int d = 0; d < 3; d++) {
        const uint32_t* row = rows + d * (w + 2) + x + 1;
        const uint32_t from[3] = {*row << 1 | row[-1] >> 31, *row, *row >> 1 | row[1] << 31};
        for (int k = 0; k < 3; k++) {
          if (d == 1 && k == 1) continue;
          const uint32_t carry = ones & from[k];
          ones ^= from[k];
          fours |= twos & carry;
          twos ^= carry;
        }
      }
      out[x] = twos & ~fours & (ones | rows[w + 2 + x + 1]);
    }
  }
  free(rows);
}

API void hamming(void** p, const int* n, const float* f) {
  const uint64_t *restrict patterns = IN(uint64_t, 0), *restrict list = IN(uint64_t, 1);
  int* restrict out = OUT(int, 2);
  enum { L = 16 };  // patterns side by side
  const int count = n[1];
  for (int first = 0; first < n[0]; first += L) {
    const int many = least(L, n[0] - first);
    uint64_t a[4][L] = {0}, best[L], which[L];
    for (int l = 0; l < many; l++)
      for (int w = 0; w < 4; w++) a[w][l] = patterns[4 * (first + l) + w];
    for (int l = 0; l < L; l++) best[l] = 1000;
    for (int j = 0; j < count; j++) {
      const uint64_t b0 = list[4 * j], b1 = list[4 * j + 1], b2 = list[4 * j + 2], b3 = list[4 * j + 3];
      for (int l = 0; l < L; l++) {
        const uint64_t different = __builtin_popcountll(a[0][l] ^ b0) + __builtin_popcountll(a[1][l] ^ b1) +
                                   __builtin_popcountll(a[2][l] ^ b2) + __builtin_popcountll(a[3][l] ^ b3);
        which[l] = different < best[l] ? j : which[l];
        best[l] = different < best[l] ? different : best[l];
      }
    }
    for (int l = 0; l < many; l++) {
      out[2 * (first + l)] = best[l];
      out[2 * (first + l) + 1] = which[l];
    }
  }
}

API void nbody_double(void** p, const int* n, const float* f) {
  const int count = n[0];
  const double* restrict bodies = IN(double, 0);
  double* restrict apart = malloc(4 * count * sizeof *apart);
  double *restrict x = apart, *restrict y = apart + count, *restrict z = apart + 2 * count;
  double *restrict mass = apart + 3 * count, *restrict out = OUT(double, 1);
  for (int i = 0; i < count; i++) {
    x[i] = bodies[4 * i];
    y[i] = bodies[4 * i + 1];
    z[i] = bodies[4 * i + 2];
    mass[i] = bodies[4 * i + 3];
  }
  for (int i = 0; i < count; i++) {
    double ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
    for (int j = 0; j < count; j++) {
      const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const double square = dx * dx + dy * dy + dz * dz + 1e-3, r = mass[j] / (square * sqrt(square));
      ax += dx * r;
      ay += dy * r;
      az += dz * r;
    }
    out[3 * i] = ax;
    out[3 * i + 1] = ay;
    out[3 * i + 2] = az;
  }
  free(apart);
}

API void lu_small(void** p, const int* n, const float* f) {
  const double *restrict matrices = IN(double, 0), *restrict sides = IN(double, 1);
  double* restrict out = OUT(double, 2);
  for (int i = 0; i < n[0]; i++) {
    double a[6][7];  // the right side is the seventh column
    for (int r = 0; r < 6; r++) {
      memcpy(a[r], matrices + (size_t)i * 36 + r * 6, 6 * sizeof(double));
      a[r][6] = sides[(size_t)i * 6 + r];
    }
    for (int k = 0; k < 6; k++) {
      int pivot = k;
      for (int r = k + 1; r < 6; r++)
        if (fabs(a[r][k]) > fabs(a[pivot][k])) pivot = r;
      for (int c = 0; c < 7 && pivot != k; c++) {
        const double t = a[k][c];
        a[k][c] = a[pivot][c];
        a[pivot][c] = t;
      }
      const double inverse = 1.0 / a[k][k];
      for (int r = k + 1; r < 6; r++) {
        const double by = a[r][k] * inverse;
        for (int c = 0; c < 7; c++) a[r][c] -= by * a[k][c];
      }
    }
    for (int r = 5; r >= 0; r--) {
      double s = a[r][6];
      for (int c = r + 1; c < 6; c++) s -= a[r][c] * out[(size_t)i * 6 + c];
      out[(size_t)i * 6 + r] = s / a[r][r];
    }
  }
}

// one step of an acoustic wave, fourth order in space: planes in shared memory with a halo, a queue along z in registers
extern "C" __global__ void wave3d(const float* now, const float* before, const float* speed, float* next, int nx, int ny,
                                  int nz) {
  __shared__ float tile[12][36];
  int tx = threadIdx.x + 2, ty = threadIdx.y + 2;
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, plane = nx * ny;
  int cx = min(x, nx - 1), cy = min(y, ny - 1), at = cy * nx + cx;
  bool inside = x >= 2 && y >= 2 && x < nx - 2 && y < ny - 2;
  float a = now[at], b = now[at + plane], c = now[at + 2 * plane], d = now[at + 3 * plane];
  for (int z = 2; z < nz - 2; z++) {
    const float* here = now + (size_t)z * plane;
    float e = now[(size_t)(z + 2) * plane + at];
    __syncthreads();
    tile[ty][tx] = c;
    if (threadIdx.x < 2) {
      tile[ty][tx - 2] = here[cy * nx + max(x - 2, 0)];
      tile[ty][tx + 32] = here[cy * nx + min(x + 32, nx - 1)];
    }
    if (threadIdx.y < 2) {
      tile[ty - 2][tx] = here[max(y - 2, 0) * nx + cx];
      tile[ty + 8][tx] = here[min(y + 8, ny - 1) * nx + cx];
    }
    __syncthreads();
    if (inside) {
      float near = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] + b + d;
      float far = tile[ty][tx - 2] + tile[ty][tx + 2] + tile[ty - 2][tx] + tile[ty + 2][tx] + a + e;
      size_t i = (size_t)z * plane + at;
      next[i] = 2.0f * c - before[i] + speed[i] * (-7.5f * c + 1.3333334f * near - 0.083333336f * far);
    }
    a = b; b = c; c = d; d = e;
  }
}

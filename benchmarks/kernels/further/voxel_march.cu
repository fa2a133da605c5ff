// rays through a grid of bytes, from cell to cell (Amanatides and Woo), until a full one is hit or the grid is left
extern "C" __global__ void voxel_march(const unsigned char* grid, int* out, int size, int w, int h, float slope) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= w || py >= h) return;
  float ox = (px + 0.37f) * size / w, oy = (py + 0.41f) * size / h;
  float dx = (0.5f * w - px) * slope, dy = (0.5f * h - py) * slope;
  int x = (int)ox, y = (int)oy, z = 0;
  int sx = dx > 0 ? 1 : -1, sy = dy > 0 ? 1 : -1;
  float ux = dx != 0 ? fabsf(1.0f / dx) : 1e30f, uy = dy != 0 ? fabsf(1.0f / dy) : 1e30f;
  float nx = (sx > 0 ? x + 1 - ox : ox - x) * ux, ny = (sy > 0 ? y + 1 - oy : oy - y) * uy, nz = 1.0f;
  int found = -1;
  while (true) {
    int at = (z * size + y) * size + x;
    if (grid[at]) {
      found = at;
      break;
    }
    if (nx < ny && nx < nz) {
      x += sx;
      nx += ux;
      if (x < 0 || x >= size) break;
    } else if (ny < nz) {
      y += sy;
      ny += uy;
      if (y < 0 || y >= size) break;
    } else {
      z++;
      nz += 1.0f;
      if (z >= size) break;
    }
  }
  out[py * w + px] = found;
}

// Yee's scheme: the three components of the electric field from the curl of the magnetic field, with two coefficients per cell
extern "C" __global__ void fdtd(float* ex, float* ey, float* ez, const float* __restrict__ hx, const float* __restrict__ hy,
                                const float* __restrict__ hz, const float* __restrict__ ca, const float* __restrict__ cb,
                                int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  int y = row % ny, z = row / ny;
  if (x < 1 || y < 1 || z < 1 || x >= nx || z >= nz) return;
  int i = row * nx + x, plane = nx * ny;
  float a = ca[i], b = cb[i], px = hx[i], py = hy[i], pz = hz[i];
  ex[i] = a * ex[i] + b * ((pz - hz[i - nx]) - (py - hy[i - plane]));
  ey[i] = a * ey[i] + b * ((px - hx[i - plane]) - (pz - hz[i - 1]));
  ez[i] = a * ez[i] + b * ((py - hy[i - 1]) - (px - hx[i - nx]));
}

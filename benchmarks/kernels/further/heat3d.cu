// one step of heat in a body of varying conductivity: cells by one number that is divided into x, y and z
extern "C" __global__ void heat3d(const float* t, const float* k, float* out, int nx, int ny, int nz, float step) {
  int plane = nx * ny, cells = plane * nz;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += gridDim.x * blockDim.x) {
    int x = i % nx, y = i / nx % ny, z = i / plane;
    float here = t[i], kh = k[i], flow = 0;
    if (x > 0) flow += (k[i - 1] + kh) * (t[i - 1] - here);
    if (x < nx - 1) flow += (k[i + 1] + kh) * (t[i + 1] - here);
    if (y > 0) flow += (k[i - nx] + kh) * (t[i - nx] - here);
    if (y < ny - 1) flow += (k[i + nx] + kh) * (t[i + nx] - here);
    if (z > 0) flow += (k[i - plane] + kh) * (t[i - plane] - here);
    if (z < nz - 1) flow += (k[i + plane] + kh) * (t[i + plane] - here);
    out[i] = here + step * flow;
  }
}

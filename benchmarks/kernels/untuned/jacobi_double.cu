// one step of a weighted Jacobi iteration in double precision on a grid of odd size
extern "C" __global__ void jacobi_double(const double* u, const double* f, double* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  size_t i = (size_t)y * w + x;
  double next = 0.25 * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - f[i]);
  out[i] = u[i] + 0.8 * (next - u[i]);
}

// accelerations of bodies in double precision, by tiles in shared memory; the last tile is not full
struct __align__(16) Body {
  double x, y, z, w;
};
extern "C" __global__ void nbody_double(const Body* bodies, double3* out, int n) {
  __shared__ Body tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Body me = bodies[min(i, n - 1)];
  double ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += 128) {
    int here = min(128, n - first);
    if (threadIdx.x < here) tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < here; j++) {
      Body b = tile[j];
      double dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
      double r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3), f = b.w * r * r * r;
      ax += dx * f;
      ay += dy * f;
      az += dz * f;
    }
    __syncthreads();
  }
  if (i < n) out[i] = make_double3(ax, ay, az);
}

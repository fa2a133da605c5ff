// charged particles in an electric and a magnetic field (Boris' scheme), mirrored at the walls of a box: eight floats each
struct Particle {
  float x, y, z, vx, vy, vz, charge, mass;
};
__device__ void mirror(float& x, float& v) {
  if (x < 0.0f) {
    x = -x;
    v = -v;
  } else if (x > 1.0f) {
    x = 2.0f - x;
    v = -v;
  }
}
extern "C" __global__ void particles(Particle* all, int n, float dt, float ex, float ey, float ez, float bx, float by,
                                     float bz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle p = all[i];
  float h = 0.5f * dt * p.charge / p.mass;
  float ax = p.vx + h * ex, ay = p.vy + h * ey, az = p.vz + h * ez;
  float tx = h * bx, ty = h * by, tz = h * bz;
  float s = 2.0f / (1.0f + tx * tx + ty * ty + tz * tz);
  float cx = ax + ay * tz - az * ty, cy = ay + az * tx - ax * tz, cz = az + ax * ty - ay * tx;
  p.vx = ax + s * (cy * tz - cz * ty) + h * ex;
  p.vy = ay + s * (cz * tx - cx * tz) + h * ey;
  p.vz = az + s * (cx * ty - cy * tx) + h * ez;
  p.x += p.vx * dt;
  p.y += p.vy * dt;
  p.z += p.vz * dt;
  mirror(p.x, p.vx);
  mirror(p.y, p.vy);
  mirror(p.z, p.vz);
  all[i] = p;
}

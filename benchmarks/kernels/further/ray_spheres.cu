// the nearest of a list of spheres along each ray of a camera; the list goes through shared memory
struct Hit {
  float distance;
  int which;
};
extern "C" __global__ void ray_spheres(const float4* spheres, Hit* out, int count, int w, int h, float zoom) {
  __shared__ float4 list[128];
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < count; i += blockDim.x * blockDim.y) list[i] = spheres[i];
  __syncthreads();
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= w || py >= h) return;
  float dx = (px + 0.5f - 0.5f * w) * zoom, dy = (py + 0.5f - 0.5f * h) * zoom, dz = 1.0f;
  float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
  dx *= scale; dy *= scale; dz *= scale;
  Hit best = {1e30f, -1};
  for (int i = 0; i < count; i++) {
    float4 s = list[i];
    float b = s.x * dx + s.y * dy + s.z * dz;
    float c = s.x * s.x + s.y * s.y + s.z * s.z - s.w * s.w;
    float disc = b * b - c;
    if (disc < 0) continue;
    float t = b - sqrtf(disc);
    if (t > 0 && t < best.distance) {
      best.distance = t;
      best.which = i;
    }
  }
  out[py * w + px] = best;
}

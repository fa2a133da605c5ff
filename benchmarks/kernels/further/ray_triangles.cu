// the nearest of a list of triangles along each ray (Moeller and Trumbore), with an exit from every test that fails
struct Triangle {
  float3 a, ab, ac;
};
__device__ float3 cross(float3 a, float3 b) { return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
extern "C" __global__ void ray_triangles(const Triangle* list, int* out, int count, int w, int h, float zoom) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * h) return;
  float3 d = make_float3((i % w + 0.5f - 0.5f * w) * zoom, (i / w + 0.5f - 0.5f * h) * zoom, 1.0f);
  float nearest = 1e30f;
  int which = -1;
  for (int k = 0; k < count; k++) {
    Triangle t = list[k];
    float3 p = cross(d, t.ac);
    float det = dot(t.ab, p);
    if (fabsf(det) < 1e-8f) continue;
    float inverse = 1.0f / det;
    float3 from = make_float3(-t.a.x, -t.a.y, -t.a.z);
    float u = dot(from, p) * inverse;
    if (u < 0 || u > 1) continue;
    float3 q = cross(from, t.ab);
    float v = dot(d, q) * inverse;
    if (v < 0 || u + v > 1) continue;
    float far = dot(t.ac, q) * inverse;
    if (far > 0 && far < nearest) {
      nearest = far;
      which = k;
    }
  }
  out[i] = which;
}

// the square of the distance to the nearest point of a tree that is cut by x, y and z in turn, with a stack per thread
extern "C" __global__ void kd_nearest(const float4* tree, const float4* queries, float* out, int size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 q = queries[i];
  int stack[32], top = 0, at = 0, axis = 0;
  float gaps[32], best = 1e30f;
  while (true) {
    if (at < size) {
      float4 p = tree[at];
      float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
      best = fminf(best, dx * dx + dy * dy + dz * dz);
      float gap = axis == 0 ? dx : axis == 1 ? dy : dz;
      int near = 2 * at + (gap < 0 ? 1 : 2), far = 2 * at + (gap < 0 ? 2 : 1);
      axis = axis == 2 ? 0 : axis + 1;
      if (far < size && gap * gap < best) {
        stack[top] = far * 4 + axis;
        gaps[top++] = gap * gap;
      }
      at = near;
      continue;
    }
    do {
      if (top == 0) {
        out[i] = best;
        return;
      }
      top--;
    } while (gaps[top] >= best);
    at = stack[top] >> 2;
    axis = stack[top] & 3;
  }
}

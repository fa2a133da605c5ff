// best local alignment of pairs of sequences of 128 and `length` letters: one block per pair, along anti-diagonals
extern "C" __global__ void smith_waterman(const char* queries, const char* targets, int* out, int length) {
  __shared__ int scores[3][129];
  __shared__ int best[4];
  __shared__ char target[512];
  int t = threadIdx.x, most = 0;
  for (int i = t; i < length; i += blockDim.x) target[i] = targets[(size_t)blockIdx.x * length + i];
  char letter = queries[(size_t)blockIdx.x * 128 + t];
  for (int k = 0; k < 3; k++) scores[k][t + 1] = 0;
  if (t == 0) scores[0][0] = scores[1][0] = scores[2][0] = 0;
  __syncthreads();
  for (int d = 0; d < length + 127; d++) {
    int* now = scores[d % 3];
    const int *last = scores[(d + 2) % 3], *older = scores[(d + 1) % 3];
    int j = d - t;
    if (j >= 0 && j < length) {
      int same = older[t] + (letter == target[j] ? 3 : -2);
      int gap = max(last[t], last[t + 1]) - 2;
      int s = max(max(same, gap), 0);
      now[t + 1] = s;
      most = max(most, s);
    }
    __syncthreads();
  }
  for (int o = 16; o; o >>= 1) most = max(most, __shfl_down_sync(~0u, most, o));
  if (t % 32 == 0) best[t / 32] = most;
  __syncthreads();
  if (t == 0) out[blockIdx.x] = max(max(best[0], best[1]), max(best[2], best[3]));
}

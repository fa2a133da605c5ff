// binary search in a sorted table, for blocks of 100 threads
extern "C" __global__ void lower_bound(const float* table, const float* keys, int* out, int size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float key = keys[i];
  int low = 0, high = size;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (table[middle] < key) low = middle + 1;
    else high = middle;
  }
  out[i] = low;
}

// look-ups in a hash table with open addresses: pairs of key and value, a step to the right on each collision
extern "C" __global__ void hash_probe(const uint2* table, const unsigned* keys, int* out, int bits, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i], mask = (1u << bits) - 1, at = key * 2654435769u >> (32 - bits);
  int found = -1;
  while (true) {
    uint2 entry = table[at];
    if (entry.x == key) {
      found = entry.y;
      break;
    }
    if (entry.x == 0xffffffffu) break;
    at = (at + 1) & mask;
  }
  out[i] = found;
}

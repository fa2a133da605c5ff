// Levenshtein's distance of pairs of words of up to 40 letters, one pair per thread, the row in an array of its own
extern "C" __global__ void edit_distance(const char* first, const char* second, const int* lengths, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const char *a = first + (size_t)i * 40, *b = second + (size_t)i * 40;
  int la = lengths[2 * i], lb = lengths[2 * i + 1];
  unsigned char row[41];
  for (int j = 0; j <= lb; j++) row[j] = j;
  for (int k = 0; k < la; k++) {
    char letter = a[k];
    int corner = row[0];
    row[0] = k + 1;
    for (int j = 0; j < lb; j++) {
      int above = row[j + 1];
      int best = min(min(above, (int)row[j]) + 1, corner + (letter != b[j]));
      corner = above;
      row[j + 1] = best;
    }
  }
  out[i] = row[lb];
}

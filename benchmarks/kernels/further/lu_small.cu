// systems of six equations in double precision, one per thread: LU with pivots in an array of its own, then both substitutions
extern "C" __global__ void lu_small(const double* matrices, const double* sides, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a[6][6], b[6];
  for (int r = 0; r < 6; r++) {
    for (int c = 0; c < 6; c++) a[r][c] = matrices[(size_t)i * 36 + r * 6 + c];
    b[r] = sides[(size_t)i * 6 + r];
  }
  for (int k = 0; k < 6; k++) {
    int pivot = k;
    for (int r = k + 1; r < 6; r++)
      if (fabs(a[r][k]) > fabs(a[pivot][k])) pivot = r;
    if (pivot != k) {
      for (int c = 0; c < 6; c++) {
        double t = a[k][c];
        a[k][c] = a[pivot][c];
        a[pivot][c] = t;
      }
      double t = b[k];
      b[k] = b[pivot];
      b[pivot] = t;
    }
    double inverse = 1.0 / a[k][k];
    for (int r = k + 1; r < 6; r++) {
      double f = a[r][k] * inverse;
      for (int c = k + 1; c < 6; c++) a[r][c] -= f * a[k][c];
      b[r] -= f * b[k];
    }
  }
  for (int r = 5; r >= 0; r--) {
    for (int c = r + 1; c < 6; c++) b[r] -= a[r][c] * b[c];
    b[r] /= a[r][r];
    out[(size_t)i * 6 + r] = b[r];
  }
}

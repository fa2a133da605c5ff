// A little of ROCm's libraries that computes, on host memory: enough for the program in user_program.cpp. Numbers of enums
// and layouts of structures are those of ROCm 7's headers. One library is compiled at a time (-DFAKE_cublas and so on).
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { float x, y; } c32;

// C = alpha op(A) op(B) + beta C, column-major; operations are hipblasOperation_t: 111 N, 112 T.
static void product(int ta, int tb, long m, long n, long k, float alpha, const float* a, long lda, const float* b, long ldb,
                    float beta, const float* c, long ldc, float* d, long ldd) {
  for (long j = 0; j < n; j++)
    for (long i = 0; i < m; i++) {
      float sum = 0;
      for (long p = 0; p < k; p++)
        sum += (ta == 111 ? a[i + p * lda] : a[p + i * lda]) * (tb == 111 ? b[p + j * ldb] : b[j + p * ldb]);
      d[i + j * ldd] = alpha * sum + (beta ? beta * c[i + j * ldc] : 0);
    }
}

#ifdef FAKE_cublas
struct handle { void* stream; int mode; };
int hipblasCreate(void** out) { *out = calloc(1, sizeof(struct handle)); return 0; }
int hipblasDestroy(void* h) { free(h); return 0; }
int hipblasSetStream(void* h, void* s) { ((struct handle*)h)->stream = s; return 0; }
int hipblasGetStream(void* h, void** s) { *s = ((struct handle*)h)->stream; return 0; }
int hipblasSetPointerMode(void* h, int m) { ((struct handle*)h)->mode = m; return 0; }
int hipblasGetPointerMode(void* h, int* m) { *m = ((struct handle*)h)->mode; return 0; }
int hipblasSgemm(void* h, int ta, int tb, int m, int n, int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                 const float* beta, float* c, int ldc) {
  if (!h) return 9;  // HIPBLAS_STATUS_HANDLE_IS_NULLPTR
  if (ta < 111 || tb < 111) return 10;  // HIPBLAS_STATUS_INVALID_ENUM
  product(ta, tb, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc, c, ldc);
  return 0;
}
int hipblasSgemmStridedBatched(void* h, int ta, int tb, int m, int n, int k, const float* alpha, const float* a, int lda, long sa,
                               const float* b, int ldb, long sb, const float* beta, float* c, int ldc, long sc, int count) {
  for (int i = 0; i < count; i++) {
    int r = hipblasSgemm(h, ta, tb, m, n, k, alpha, a + i * sa, lda, b + i * sb, ldb, beta, c + i * sc, ldc);
    if (r) return r;
  }
  return 0;
}
int hipblasGemmEx(void* h, int ta, int tb, int m, int n, int k, const void* alpha, const void* a, int at, int lda, const void* b,
                  int bt, int ldb, const void* beta, void* c, int ct, int ldc, int compute, int algo) {
  if (at || bt || ct || compute != 2 || algo != 160) return 7;  // HIP_R_32F, HIPBLAS_COMPUTE_32F, HIPBLAS_GEMM_DEFAULT
  return hipblasSgemm(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
#endif

#ifdef FAKE_cublaslt
struct layout { int type; uint64_t rows, cols; int64_t ld; };
struct desc { int compute, scale, ta, tb, epilogue; const float* bias; };
int hipblasLtCreate(void** out) { *out = calloc(1, 8); return 0; }
int hipblasLtDestroy(void* h) { free(h); return 0; }
int hipblasLtMatrixLayoutCreate(void** out, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  struct layout* l = calloc(1, sizeof *l);
  l->type = type, l->rows = rows, l->cols = cols, l->ld = ld;
  *out = l;
  return 0;
}
int hipblasLtMatrixLayoutDestroy(void* l) { free(l); return 0; }
int hipblasLtMatmulDescCreate(void** out, int compute, int scale) {
  struct desc* d = calloc(1, sizeof *d);
  d->compute = compute, d->scale = scale, d->ta = d->tb = 111, d->epilogue = 1;
  *out = d;
  return 0;
}
int hipblasLtMatmulDescDestroy(void* d) { free(d); return 0; }
int hipblasLtMatmulDescSetAttribute(void* descriptor, int attribute, const void* value, size_t size) {
  struct desc* d = descriptor;
  if (attribute == 0 && size == 4) return memcpy(&d->ta, value, 4), 0;
  if (attribute == 1 && size == 4) return memcpy(&d->tb, value, 4), 0;
  if (attribute == 2 && size == 4) return memcpy(&d->epilogue, value, 4), 0;
  if (attribute == 3 && size == 8) return memcpy(&d->bias, value, 8), 0;
  return 3;
}
int hipblasLtMatmulPreferenceCreate(void** out) { *out = calloc(1, 40); return 0; }
int hipblasLtMatmulPreferenceDestroy(void* p) { free(p); return 0; }
int hipblasLtMatmulPreferenceSetAttribute(void* p, int attribute, const void* value, size_t size) {
  if (attribute != 1 || size != 8) return 3;
  memcpy(p, value, 8);
  return 0;
}
struct algorithm { unsigned char data[16]; size_t workspace; };
struct result { struct algorithm algorithm; size_t workspace; int state; float waves; int reserved[4]; };
int hipblasLtMatmulAlgoGetHeuristic(void* h, void* d, void* a, void* b, void* c, void* e, void* p, int wanted, struct result* out,
                                    int* found) {
  memset(out, 0, wanted * sizeof *out);
  memcpy(out[0].algorithm.data, "algorithm of hip", 16);
  memcpy(&out[0].workspace, p, 8);
  *found = 1;
  return 0;
}
int hipblasLtMatmul(void* h, struct desc* d, const float* alpha, const float* a, struct layout* la, const float* b, struct layout* lb,
                    const float* beta, const float* c, struct layout* lc, float* e, struct layout* le,
                    const struct algorithm* algorithm, void* w, size_t ws, void* stream) {
  if (d->compute != 2 || d->scale || la->type || lb->type || lc->type || le->type) return 7;
  if (algorithm && memcmp(algorithm->data, "algorithm of hip", 16)) return 3;
  long k = d->ta == 111 ? la->cols : la->rows;
  product(d->ta, d->tb, le->rows, le->cols, k, *alpha, a, la->ld, b, lb->ld, *beta, c, lc->ld, e, le->ld);
  for (uint64_t j = 0; j < le->cols; j++)
    for (uint64_t i = 0; i < le->rows; i++) {
      float* x = e + i + j * le->ld;
      if (d->epilogue & 4) *x += d->bias[i];  // HIPBLASLT_EPILOGUE_BIAS
      if (d->epilogue & 2 && *x < 0) *x = 0;  // HIPBLASLT_EPILOGUE_RELU
    }
  return 0;
}
#endif

#ifdef FAKE_cufft
struct plan { int n, batch; };
int hipfftPlan1d(void** out, int n, int type, int batch) {
  if (type != 41) return 3;  // HIPFFT_C2C
  struct plan* p = calloc(1, sizeof *p);
  p->n = n, p->batch = batch;
  *out = p;
  return 0;
}
int hipfftCreate(void** out) { *out = calloc(1, sizeof(struct plan)); return 0; }
int hipfftSetAutoAllocation(struct plan* p, int automatic) { return 0; }
int hipfftMakePlan1d(struct plan* p, int n, int type, int batch, size_t* size) {
  p->n = n, p->batch = batch, *size = 0;
  return type == 41 ? 0 : 3;
}
int hipfftSetWorkArea(struct plan* p, void* area) { return 0; }
int hipfftSetStream(struct plan* p, void* s) { return p ? 0 : 1; }
int hipfftDestroy(struct plan* p) { free(p); return 0; }
int hipfftExecC2C(struct plan* p, c32* in, c32* out, int direction) {
  for (int b = 0; b < p->batch; b++)
    for (int k = 0; k < p->n; k++) {
      double x = 0, y = 0;
      for (int j = 0; j < p->n; j++) {
        double t = direction * 2 * M_PI * j * k / p->n;
        c32 v = in[b * p->n + j];
        x += v.x * cos(t) - v.y * sin(t), y += v.x * sin(t) + v.y * cos(t);
      }
      out[b * p->n + k] = (c32){x, y};
    }
  return 0;
}
#endif

#ifdef FAKE_curand
struct generator { int type; uint64_t seed, at; };
int hiprandCreateGenerator(void** out, int type) {
  struct generator* g = calloc(1, sizeof *g);
  g->type = type;
  *out = g;
  return 0;
}
int hiprandSetStream(void* g, void* s) { return 0; }
int hiprandSetPseudoRandomGeneratorSeed(struct generator* g, unsigned long long s) { g->seed = s; return 0; }
int hiprandSetGeneratorOffset(struct generator* g, unsigned long long o) { g->at = o; return 0; }
int hiprandGenerateUniform(struct generator* g, float* out, size_t n) {
  for (size_t i = 0; i < n; i++, g->at++) out[i] = (g->type * 1000 + g->seed + g->at % 7 + 1) / 65536.0f;
  return 0;
}
int hiprandDestroyGenerator(void* g) { free(g); return 0; }
#endif

#ifdef FAKE_cusparse
struct csr { int64_t rows, cols, nnz; const int *offsets, *columns; const float* values; int base; };
struct dense { int64_t rows, cols, ld; float* values; int order; };
int hipsparseCreate(void** out) { *out = calloc(1, 8); return 0; }
int hipsparseSetStream(void* h, void* s) { return 0; }
int hipsparseDestroy(void* h) { free(h); return 0; }
int hipsparseCreateCsr(void** out, int64_t rows, int64_t cols, int64_t nnz, void* offsets, void* columns, void* values, int ot, int ct,
                       int base, int type) {
  if (ot != 2 || ct != 2 || type) return 3;  // HIPSPARSE_INDEX_32I, HIP_R_32F
  struct csr* m = calloc(1, sizeof *m);
  *m = (struct csr){rows, cols, nnz, offsets, columns, values, base};
  *out = m;
  return 0;
}
int hipsparseDestroySpMat(void* m) { free(m); return 0; }
int hipsparseCreateDnMat(void** out, int64_t rows, int64_t cols, int64_t ld, void* values, int type, int order) {
  if (type) return 3;
  struct dense* m = calloc(1, sizeof *m);
  *m = (struct dense){rows, cols, ld, values, order};
  *out = m;
  return 0;
}
int hipsparseDestroyDnMat(void* m) { free(m); return 0; }
int hipsparseSpMM_bufferSize(void* h, int oa, int ob, const float* alpha, struct csr* a, struct dense* b, const float* beta,
                             struct dense* c, int type, int algorithm, size_t* size) {
  *size = 64;
  return oa || ob || type ? 10 : 0;
}
static float* cell(struct dense* m, int64_t i, int64_t j) {
  return m->values + (m->order == 2 ? i * m->ld + j : i + j * m->ld);  // HIPSPARSE_ORDER_COL 1, ROW 2
}
int hipsparseSpMM(void* h, int oa, int ob, const float* alpha, struct csr* a, struct dense* b, const float* beta, struct dense* c,
                  int type, int algorithm, void* buffer) {
  if (oa || ob || type || !buffer) return 10;
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t j = 0; j < c->cols; j++) {
      float sum = 0;
      for (int p = a->offsets[i] - a->base; p < a->offsets[i + 1] - a->base; p++)
        sum += a->values[p] * *cell(b, a->columns[p] - a->base, j);
      *cell(c, i, j) = *alpha * sum + *beta * *cell(c, i, j);
    }
  return 0;
}
#endif

#ifdef FAKE_cusolver
int hipsolverDnCreate(void** out) { *out = calloc(1, 8); return 0; }
int hipsolverDnSetStream(void* h, void* s) { return 0; }
int hipsolverDnDestroy(void* h) { free(h); return 0; }
int hipsolverDnSpotrf_bufferSize(void* h, int uplo, int n, float* a, int lda, int* size) { *size = n; return 0; }
int hipsolverDnSpotrf(void* h, int uplo, int n, float* a, int lda, float* work, int lwork, int* info) {
  if (uplo != 122 || lwork < n) return 3;  // HIPBLAS_FILL_MODE_LOWER
  *info = 0;
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      float sum = a[i + j * lda];
      for (int k = 0; k < j; k++) sum -= a[i + k * lda] * a[j + k * lda];
      if (i == j && sum <= 0) return *info = j + 1, 0;
      a[i + j * lda] = i == j ? sqrtf(sum) : sum / a[j + j * lda];
    }
  return 0;
}
int hipsolverDnSsyevd_bufferSize(void* h, int jobz, int uplo, int n, const float* a, int lda, const float* w, int* size) {
  if (jobz != 202 || uplo != 121) return 3;  // HIPSOLVER_EIG_MODE_VECTOR, HIPBLAS_FILL_MODE_UPPER
  *size = n;
  return 0;
}
// Of 2 by 2 matrices.
int hipsolverDnSsyevd(void* h, int jobz, int uplo, int n, float* a, int lda, float* w, float* work, int lwork, int* info) {
  if (jobz != 202 || uplo != 121 || n != 2) return 3;
  float p = a[0], q = a[lda], r = a[lda + 1], m = (p + r) / 2, s = sqrtf((p - r) * (p - r) / 4 + q * q);
  w[0] = m - s, w[1] = m + s, *info = 0;
  for (int i = 0; i < 2; i++) {
    float x = q, y = w[i] - p, l = sqrtf(x * x + y * y);
    a[i * lda] = x / l, a[i * lda + 1] = y / l;
  }
  return 0;
}
#endif

#ifdef FAKE_nccl
struct comm { int rank, ranks; };
static struct { const float* from; float* to; size_t count; } pending[8];
static int depth, ranks_known;
int ncclGetVersion(int* v) { *v = 22703; return 0; }
int ncclCommInitAll(void** out, int n, const int* devices) {
  for (int i = 0; i < n; i++) {
    struct comm* c = calloc(1, sizeof *c);
    c->rank = i, c->ranks = n, out[i] = c;
  }
  return 0;
}
int ncclCommUserRank(struct comm* c, int* r) { *r = c->rank; return 0; }
int ncclCommCount(struct comm* c, int* n) { *n = c->ranks; return 0; }
int ncclCommDestroy(void* c) { free(c); return 0; }
int ncclGroupStart(void) { depth++; return 0; }
int ncclAllReduce(const void* from, void* to, size_t count, int type, int op, struct comm* c, void* stream) {
  if (type != 7 || op != 0 || !depth) return 5;  // ncclFloat32, ncclSum
  pending[c->rank].from = from, pending[c->rank].to = to, pending[c->rank].count = count, ranks_known = c->ranks;
  return 0;
}
int ncclGroupEnd(void) {
  depth--;
  for (size_t i = 0; i < pending[0].count; i++) {
    float sum = 0;
    for (int r = 0; r < ranks_known; r++) sum += pending[r].from[i];
    for (int r = 0; r < ranks_known; r++) pending[r].to[i] = sum;
  }
  return 0;
}
#endif

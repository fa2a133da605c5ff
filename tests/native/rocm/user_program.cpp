// A program as users write it for CUDA's libraries (declarations as in NVIDIA's headers, values of
// CUDA's enums); it checks its results against its own arithmetic.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasSetStream_v2(void*, void*);
int cublasGetStream_v2(void*, void**);
int cublasSetPointerMode_v2(void*, int);
int cublasGetPointerMode_v2(void*, int*);
int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*,
                   int, const float*, float*, int);
int cublasSgemmStridedBatched(void*, int, int, int, int, int, const float*, const float*, int,
                              long long, const float*, int, long long, const float*, float*, int,
                              long long, int);
int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                 int, int, const void*, void*, int, int, int, int);
int cublasLtCreate(void**);
int cublasLtDestroy(void*);
int cublasLtMatmulDescCreate(void**, int, int);
int cublasLtMatmulDescDestroy(void*);
int cublasLtMatmulDescSetAttribute(void*, int, const void*, size_t);
int cublasLtMatrixLayoutCreate(void**, int, uint64_t, uint64_t, int64_t);
int cublasLtMatrixLayoutDestroy(void*);
int cublasLtMatmulPreferenceCreate(void**);
int cublasLtMatmulPreferenceDestroy(void*);
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t);
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void*,
                                   int*);
int cublasLtMatmul(void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                   const void*, void*, void*, void*, const void*, void*, size_t, void*);
int cufftPlan1d(int*, int, int, int);
int cufftSetStream(int, void*);
int cufftExecC2C(int, void*, void*, int);
int cufftDestroy(int);
int curandCreateGenerator(void**, int);
int curandSetPseudoRandomGeneratorSeed(void*, unsigned long long);
int curandSetGeneratorOffset(void*, unsigned long long);
int curandGenerateUniform(void*, float*, size_t);
int curandDestroyGenerator(void*);
int cusparseCreate(void**);
int cusparseDestroy(void*);
int cusparseCreateCsr(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseDestroySpMat(void*);
int cusparseCreateDnMat(void**, int64_t, int64_t, int64_t, void*, int, int);
int cusparseDestroyDnMat(void*);
int cusparseSpMM_bufferSize(void*, int, int, const void*, void*, void*, const void*, void*, int,
                            int, size_t*);
int cusparseSpMM(void*, int, int, const void*, void*, void*, const void*, void*, int, int, void*);
int cusolverDnCreate(void**);
int cusolverDnDestroy(void*);
int cusolverDnSpotrf_bufferSize(void*, int, int, float*, int, int*);
int cusolverDnSpotrf(void*, int, int, float*, int, float*, int, int*);
int cusolverDnSsyevd_bufferSize(void*, int, int, int, const float*, int, const float*, int*);
int cusolverDnSsyevd(void*, int, int, int, float*, int, float*, float*, int, int*);
int ncclGetVersion(int*);
int ncclCommInitAll(void**, int, const int*);
int ncclCommUserRank(void*, int*);
int ncclCommCount(void*, int*);
int ncclCommDestroy(void*);
int ncclGroupStart();
int ncclGroupEnd();
int ncclAllReduce(const void*, void*, size_t, int, int, void*, void*);
}

#define CHECK(condition)                                             \
  if (!(condition)) {                                                \
    fprintf(stderr, "line %d: %s\n", __LINE__, #condition), exit(1); \
  }

static bool near(double a, double b) { return std::fabs(a - b) <= 1e-4 * (1 + std::fabs(b)); }

static float number(int i) { return static_cast<float>((i * 37 + 11) % 23 - 11) / 4; }

static std::vector<float> numbers(int count, int from = 0) {
  std::vector<float> made(count);
  for (int i = 0; i < count; i++) made[i] = number(i + from);
  return made;
}

static void products() {
  void *handle, *stream;
  CHECK(cublasCreate_v2(&handle) == 0);
  CHECK(cublasSetStream_v2(handle, reinterpret_cast<void*>(0x40)) == 0);
  CHECK(cublasGetStream_v2(handle, &stream) == 0 && stream == reinterpret_cast<void*>(0x40));
  int mode = -1;
  CHECK(cublasSetPointerMode_v2(handle, 1) == 0 && cublasGetPointerMode_v2(handle, &mode) == 0 &&
        mode == 1);
  CHECK(cublasSetPointerMode_v2(handle, 0) == 0);
  constexpr int m = 3, n = 4, k = 5, batch = 2;
  auto a = numbers(k * m * batch), b = numbers(k * n * batch, 7), c = numbers(m * n * batch, 3);
  const float alpha = 1.5f, beta = -0.5f;
  auto expected = [&](int i, int j, int p) {  // A transposed: k by m
    double sum = 0;
    for (int q = 0; q < k; q++) sum += a[p * k * m + q + i * k] * b[p * k * n + q + j * k];
    return alpha * sum + beta * c[p * m * n + i + j * m];
  };
  auto check = [&](const std::vector<float>& d, int count) {
    for (int p = 0; p < count; p++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) CHECK(near(d[p * m * n + i + j * m], expected(i, j, p)));
  };
  auto d = c;
  CHECK(cublasSgemm_v2(handle, 1, 0, m, n, k, &alpha, a.data(), k, b.data(), k, &beta, d.data(),
                       m) == 0);
  check(d, 1);
  d = c;
  CHECK(cublasSgemmStridedBatched(handle, 1, 0, m, n, k, &alpha, a.data(), k, k * m, b.data(), k,
                                  k * n, &beta, d.data(), m, m * n, batch) == 0);
  check(d, batch);
  d = c;
  // CUDA_R_32F 0, CUBLAS_COMPUTE_32F 68, CUBLAS_GEMM_DEFAULT_TENSOR_OP 99
  CHECK(cublasGemmEx(handle, 1, 0, m, n, k, &alpha, a.data(), 0, k, b.data(), 0, k, &beta, d.data(),
                     0, m, 68, 99) == 0);
  check(d, 1);
  CHECK(cublasSgemm_v2(nullptr, 1, 0, m, n, k, &alpha, a.data(), k, b.data(), k, &beta, d.data(),
                       m) == 1);
  CHECK(cublasSgemm_v2(handle, 9, 0, m, n, k, &alpha, a.data(), k, b.data(), k, &beta, d.data(),
                       m) == 7);
  CHECK(cublasDestroy_v2(handle) == 0);
}

static void fused_product() {
  constexpr int m = 3, n = 4, k = 5;
  auto a = numbers(k * m), b = numbers(k * n, 5), bias = numbers(m, 9);
  std::vector<float> d(m * n);
  void *handle, *product, *la, *lb, *ld, *preference;
  CHECK(cublasLtCreate(&handle) == 0 && cublasLtMatmulDescCreate(&product, 68, 0) == 0);
  const int transposed = 1, epilogue = 6;  // CUBLAS_OP_T, CUBLASLT_EPILOGUE_RELU_BIAS
  const float* bias_at = bias.data();
  const unsigned char fast = 1;
  CHECK(cublasLtMatmulDescSetAttribute(product, 3, &transposed, 4) == 0);
  CHECK(cublasLtMatmulDescSetAttribute(product, 7, &epilogue, 4) == 0);
  CHECK(cublasLtMatmulDescSetAttribute(product, 8, &bias_at, 8) == 0);
  CHECK(cublasLtMatmulDescSetAttribute(product, 25, &fast, 1) == 0);
  CHECK(cublasLtMatrixLayoutCreate(&la, 0, k, m, k) == 0 &&
        cublasLtMatrixLayoutCreate(&lb, 0, k, n, k) == 0);
  CHECK(cublasLtMatrixLayoutCreate(&ld, 0, m, n, m) == 0 &&
        cublasLtMatmulPreferenceCreate(&preference) == 0);
  const size_t workspace = 1 << 20;
  const unsigned alignment = 256;
  CHECK(cublasLtMatmulPreferenceSetAttribute(preference, 1, &workspace, 8) == 0);
  CHECK(cublasLtMatmulPreferenceSetAttribute(preference, 5, &alignment, 4) == 0);
  struct {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
  } results[3];
  int found = 0;
  CHECK(cublasLtMatmulAlgoGetHeuristic(handle, product, la, lb, ld, ld, preference, 3, results,
                                       &found) == 0);
  CHECK(found == 1 && results[0].state == 0 && results[0].workspace == workspace);
  const float one = 1, zero = 0;
  CHECK(cublasLtMatmul(handle, product, &one, a.data(), la, b.data(), lb, &zero, d.data(), ld,
                       d.data(), ld, results[0].algorithm, nullptr, 0, nullptr) == 0);
  int clamped = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = bias[i];
      for (int q = 0; q < k; q++) sum += a[q + i * k] * b[q + j * k];
      clamped += sum < 0;
      CHECK(near(d[i + j * m], sum < 0 ? 0 : sum));
    }
  CHECK(clamped > 0 && clamped < m * n);
  CHECK(cublasLtMatmulPreferenceDestroy(preference) == 0 && cublasLtMatrixLayoutDestroy(la) == 0);
  CHECK(cublasLtMatrixLayoutDestroy(lb) == 0 && cublasLtMatrixLayoutDestroy(ld) == 0);
  CHECK(cublasLtMatmulDescDestroy(product) == 0 && cublasLtDestroy(handle) == 0);
}

static void transform() {
  constexpr int n = 12, batch = 2;
  auto data = numbers(2 * n * batch);
  std::vector<float> there(2 * n * batch), back(2 * n * batch);
  int plan = 0;
  CHECK(cufftPlan1d(&plan, n, 0x29, batch) == 0 && plan > 0);  // CUFFT_C2C
  CHECK(cufftSetStream(plan, nullptr) == 0);
  CHECK(cufftExecC2C(plan, data.data(), there.data(), -1) == 0);
  double x = 0, y = 0;
  for (int j = 0; j < n; j++) x += data[2 * j], y += data[2 * j + 1];
  CHECK(near(there[0], x) && near(there[1], y));  // the first number is the sum
  CHECK(cufftExecC2C(plan, there.data(), back.data(), 1) == 0);
  for (int i = 0; i < 2 * n * batch; i++) CHECK(near(back[i] / n, data[i]));
  CHECK(cufftDestroy(plan) == 0 && cufftExecC2C(plan, data.data(), back.data(), 1) == 1);
}

static void random_numbers() {
  void* generator;
  std::vector<float> first(10), second(10);
  CHECK(curandCreateGenerator(&generator, 161) ==
        0);  // CURAND_RNG_PSEUDO_PHILOX4_32_10, HIPRAND's is 404
  CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1234) == 0);
  CHECK(curandGenerateUniform(generator, first.data(), 10) == 0);
  CHECK(curandSetGeneratorOffset(generator, 0) == 0);
  CHECK(curandGenerateUniform(generator, second.data(), 10) == 0);
  CHECK(first == second && first[0] != first[1] && curandDestroyGenerator(generator) == 0);
}

static void sparse_product() {
  // rows (0: 2 at 1), (1: empty), (2: -1 at 0, 4 at 2), counted from one
  int offsets[] = {1, 2, 2, 4}, columns[] = {2, 1, 3};
  float values[] = {2, -1, 4};
  auto b = numbers(3 * 2);
  std::vector<float> c(3 * 2, 1);
  void *handle, *a, *mb, *mc;
  CHECK(cusparseCreate(&handle) == 0);
  CHECK(cusparseCreateCsr(&a, 3, 3, 3, offsets, columns, values, 2, 2, 1, 0) ==
        0);                                                       // CUSPARSE_INDEX_32I, base one
  CHECK(cusparseCreateDnMat(&mb, 3, 2, 2, b.data(), 0, 2) == 0);  // CUSPARSE_ORDER_ROW 2
  CHECK(cusparseCreateDnMat(&mc, 3, 2, 3, c.data(), 0, 1) == 0);  // CUSPARSE_ORDER_COL 1
  const float alpha = 2, beta = 3;
  size_t bytes = 0;
  CHECK(cusparseSpMM_bufferSize(handle, 0, 0, &alpha, a, mb, &beta, mc, 0, 0, &bytes) == 0 &&
        bytes == 64);
  std::vector<char> buffer(bytes);
  CHECK(cusparseSpMM(handle, 0, 0, &alpha, a, mb, &beta, mc, 0, 0, buffer.data()) == 0);
  for (int j = 0; j < 2; j++) {
    CHECK(near(c[0 + 3 * j], 2 * (2 * b[2 + j]) + 3) && near(c[1 + 3 * j], 3));
    CHECK(near(c[2 + 3 * j], 2 * (-b[j] + 4 * b[4 + j]) + 3));
  }
  CHECK(cusparseDestroyDnMat(mb) == 0 && cusparseDestroyDnMat(mc) == 0 &&
        cusparseDestroySpMat(a) == 0);
  CHECK(cusparseDestroy(handle) == 0);
}

static void factors() {
  void* handle;
  CHECK(cusolverDnCreate(&handle) == 0);
  float a[] = {4, 2, -2, 0, 10, 5, 0, 0, 9};  // lower triangle, by columns
  const float whole[3][3] = {{4, 2, -2}, {2, 10, 5}, {-2, 5, 9}};
  int size = 0, info = -1;
  CHECK(cusolverDnSpotrf_bufferSize(handle, 0, 3, a, 3, &size) == 0 && size == 3);
  std::vector<float> work(size);
  CHECK(cusolverDnSpotrf(handle, 0, 3, a, 3, work.data(), size, &info) == 0 && info == 0);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k <= j; k++) sum += a[i + 3 * k] * a[j + 3 * k];
      CHECK(near(sum, whole[i][j]));
    }
  float s[] = {2, 0, 1, 2}, w[2];  // upper triangle of ((2, 1), (1, 2)); its values are 1 and 3
  CHECK(cusolverDnSsyevd_bufferSize(handle, 1, 1, 2, s, 2, w, &size) == 0);
  CHECK(cusolverDnSsyevd(handle, 1, 1, 2, s, 2, w, work.data(), size, &info) == 0 && info == 0);
  CHECK(near(w[0], 1) && near(w[1], 3) && near(s[0], -s[1]) && near(s[2], s[3]));
  CHECK(cusolverDnDestroy(handle) == 0);
}

static void ranks() {
  void* ranks[3];
  int version = 0, number = -1, count = 0;
  CHECK(ncclGetVersion(&version) == 0 && version == 22703);
  CHECK(ncclCommInitAll(ranks, 3, nullptr) == 0);
  std::vector<float> in[3], out[3];
  CHECK(ncclGroupStart() == 0);
  for (int r = 0; r < 3; r++) {
    CHECK(ncclCommUserRank(ranks[r], &number) == 0 && number == r &&
          ncclCommCount(ranks[r], &count) == 0 && count == 3);
    in[r] = numbers(6, 10 * r), out[r].resize(6);
    CHECK(ncclAllReduce(in[r].data(), out[r].data(), 6, 7, 0, ranks[r], nullptr) ==
          0);  // ncclFloat32, ncclSum
  }
  CHECK(ncclGroupEnd() == 0);
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < 6; i++) CHECK(near(out[r][i], in[0][i] + in[1][i] + in[2][i]));
  CHECK(ncclAllReduce(in[0].data(), out[0].data(), 6, 99, 0, ranks[0], nullptr) == 4);
  for (void* rank : ranks) CHECK(ncclCommDestroy(rank) == 0);
}

int main() {
  products();
  fused_product();
  transform();
  random_numbers();
  sparse_product();
  factors();
  ranks();
  puts("all right");
}

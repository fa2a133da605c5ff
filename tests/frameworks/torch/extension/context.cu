// What of at::cuda an extension may use beside streams: generators, graphs, and handles of
// libraries that it is not linked to.
#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/Exceptions.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAGuard.h>
#include <curand_kernel.h>
#include <torch/library.h>

#include <ATen/cuda/PhiloxUtils.cuh>

__global__ void draw_kernel(at::PhiloxCudaState state, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto [seed, offset] = at::cuda::philox::unpack(state);
  curandStatePhilox4_32_10_t own;
  curand_init(seed, i, offset, &own);
  if (i < n) out[i] = curand_uniform4(&own).x;
}

void fill(at::Tensor& out, const std::optional<at::Generator>& given) {
  auto* generator = at::get_generator_or_default<at::CUDAGeneratorImpl>(
      given, at::cuda::detail::getDefaultCUDAGenerator());
  at::PhiloxCudaState state;
  {
    const std::lock_guard<std::mutex> lock(generator->mutex_);
    state = generator->philox_cuda_state(4);
  }
  const int n = out.numel();
  draw_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      state, out.data_ptr<float>(), n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

at::Tensor draw(int64_t n, std::optional<at::Generator> given) {
  at::Tensor out = at::empty({n}, at::device(at::kCUDA).dtype(at::kFloat));
  fill(out, given);
  return out;
}

// Offsets before and after: as a program that keeps its own account of them.
std::tuple<int64_t, int64_t> skip(int64_t by) {
  auto* generator = at::get_generator_or_default<at::CUDAGeneratorImpl>(
      std::nullopt, at::cuda::detail::getDefaultCUDAGenerator());
  const uint64_t before = generator->philox_offset_per_thread();
  generator->set_philox_offset_per_thread(before + by);
  return {before, generator->philox_engine_inputs(4).second};
}

// The numbers of `times` replays of a graph that is captured here.
at::Tensor replayed(int64_t n, int64_t times) {
  at::Tensor all = at::zeros({times, n}, at::device(at::kCUDA).dtype(at::kFloat));
  at::Tensor one = at::empty({n}, all.options());
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard on(c10::cuda::getStreamFromPool());
    graph.capture_begin();
    fill(one, std::nullopt);
    graph.capture_end();
  }
  for (int64_t i = 0; i < times; ++i) {
    graph.replay();
    all[i].copy_(one);
  }
  return all;
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor c = at::empty_like(a);
  const int n = a.size(0);
  const float one = 1, zero = 0;
  TORCH_CUDABLAS_CHECK(cublasSgemm(at::cuda::getCurrentCUDABlasHandle(), CUBLAS_OP_N, CUBLAS_OP_N,
                                   n, n, n, &one, b.data_ptr<float>(), n, a.data_ptr<float>(), n,
                                   &zero, c.data_ptr<float>(), n));
  return c;
}

at::Tensor product_lt(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor c = at::empty_like(a);
  const int n = a.size(0);
  const float one = 1, zero = 0;
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t layout;
  TORCH_CUDABLAS_CHECK(cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  TORCH_CUDABLAS_CHECK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, n, n, n));
  TORCH_CUDABLAS_CHECK(cublasLtMatmul(at::cuda::getCurrentCUDABlasLtHandle(), how, &one,
                                      b.data_ptr(), layout, a.data_ptr(), layout, &zero,
                                      c.data_ptr(), layout, c.data_ptr(), layout, nullptr, nullptr,
                                      0, at::cuda::getCurrentCUDAStream()));
  cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(how);
  return c;
}

// CSR times a vector.
at::Tensor sparse_product(const at::Tensor& rows, const at::Tensor& columns,
                          const at::Tensor& values, const at::Tensor& x) {
  at::Tensor y = at::empty({rows.size(0) - 1}, x.options());
  const float one = 1, zero = 0;
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t from, to;
  TORCH_CUDASPARSE_CHECK(cusparseCreateCsr(&matrix, y.size(0), x.size(0), values.size(0),
                                           rows.data_ptr(), columns.data_ptr(), values.data_ptr(),
                                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  TORCH_CUDASPARSE_CHECK(cusparseCreateDnVec(&from, x.size(0), x.data_ptr(), CUDA_R_32F));
  TORCH_CUDASPARSE_CHECK(cusparseCreateDnVec(&to, y.size(0), y.data_ptr(), CUDA_R_32F));
  const auto handle = at::cuda::getCurrentCUDASparseHandle();
  size_t bytes = 0;
  TORCH_CUDASPARSE_CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                                 matrix, from, &zero, to, CUDA_R_32F,
                                                 CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  at::Tensor buffer = at::empty({int64_t(bytes)}, x.options().dtype(at::kByte));
  TORCH_CUDASPARSE_CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, from,
                                      &zero, to, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                                      buffer.data_ptr()));
  cusparseDestroySpMat(matrix);
  cusparseDestroyDnVec(from);
  cusparseDestroyDnVec(to);
  return y;
}

// The upper factor in column order is the lower one of torch's rows.
at::Tensor cholesky(const at::Tensor& a) {
  at::Tensor factor = a.clone();
  at::Tensor info = at::zeros({1}, a.options().dtype(at::kInt));
  const int n = a.size(0);
  const auto handle = at::cuda::getCurrentCUDASolverDnHandle();
  int size = 0;
  TORCH_CUSOLVER_CHECK(cusolverDnSpotrf_bufferSize(handle, CUBLAS_FILL_MODE_UPPER, n,
                                                   factor.data_ptr<float>(), n, &size));
  at::Tensor work = at::empty({size}, a.options());
  TORCH_CUSOLVER_CHECK(cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_UPPER, n, factor.data_ptr<float>(),
                                        n, work.data_ptr<float>(), size, info.data_ptr<int>()));
  return factor.tril();
}

// Whether the handles work on the stream that is torch's current one.
bool handles_follow_streams() {
  const c10::cuda::CUDAStreamGuard on(c10::cuda::getStreamFromPool());
  cudaStream_t of_blas, of_sparse, of_solver;
  const cudaStream_t current = at::cuda::getCurrentCUDAStream();
  cublasGetStream(at::cuda::getCurrentCUDABlasHandle(), &of_blas);
  cusparseGetStream(at::cuda::getCurrentCUDASparseHandle(), &of_sparse);
  cusolverDnGetStream(at::cuda::getCurrentCUDASolverDnHandle(), &of_solver);
  return of_blas == current && of_sparse == current && of_solver == current;
}

std::string refused() {
  try {
    TORCH_CUDABLAS_CHECK(cublasSetStream(nullptr, nullptr));
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return {};
}

TORCH_LIBRARY(context_test, m) {
  m.def("draw(int n, Generator? generator=None) -> Tensor", &draw);
  m.def("skip", &skip);
  m.def("replayed", &replayed);
  m.def("product", &product);
  m.def("product_lt", &product_lt);
  m.def("sparse_product", &sparse_product);
  m.def("cholesky", &cholesky);
  m.def("handles_follow_streams", &handles_follow_streams);
  m.def("refused", &refused);
}

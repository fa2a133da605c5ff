// cuDNN: which algorithm for a convolution. There is one, which answers to every name and needs no
// memory of the program's.
#include <atomic>
#include <chrono>

#include "libraries/cudnn/convolution.h"
#include "libraries/cudnn/elementwise.h"

using namespace aw::dnn;

namespace {

template <class Perf, class Algo>
Perf performance(Algo algo, float milliseconds, const cudnnConvolutionDescriptorStruct* desc) {
  Perf found{};
  found.algo = algo, found.status = CUDNN_STATUS_SUCCESS, found.time = milliseconds;
  found.memory = 0, found.determinism = CUDNN_DETERMINISTIC, found.mathType = desc->math;
  return found;
}

// The one answer; `time` is -1 where nothing was measured, as documented.
template <class Perf, class Algo>
void answer(Algo algo, float time, const cudnnConvolutionDescriptorStruct* desc, int requested,
            int* returned, Perf* results) {
  *returned = 1;
  results[0] = performance<Perf>(algo, time, desc);
  (void)requested;
}

void check_request(cudnnHandle_t handle, const cudnnConvolutionDescriptorStruct* desc,
                   int requested, const int* returned, const void* results) {
  object(handle), object(desc);
  require_pointer(returned), require_pointer(results);
  require(requested >= 1, "no algorithm is asked for");
}

Convolution geometry(const cudnnConvolutionDescriptorStruct* desc) {
  Convolution how;
  how.rank = desc->rank, how.flipped = desc->mode == CUDNN_CONVOLUTION;
  std::copy_n(desc->pads, desc->rank, how.pads),
      std::copy_n(desc->strides, desc->rank, how.strides);
  std::copy_n(desc->dilations, desc->rank, how.dilations);
  return how;
}

// Milliseconds of body(T{}) as work of the stream, which is waited for.
template <class Body>
float measure(cudnnContext& handle, bool doubles, Body body) {
  std::atomic<int64_t> taken{-1};
  work(handle, "cudnn_find_convolution", doubles, [&taken, body](auto zero) {
    const auto begin = std::chrono::steady_clock::now();
    body(zero);
    taken = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  });
  require(cuStreamSynchronize(handle.stream) == CUDA_SUCCESS, "the measured work failed",
          CUDNN_STATUS_EXECUTION_FAILED);
  return static_cast<float>(taken.load()) * 1e-6f;
}

// Tensors for those who give none.
struct Blank {
  std::vector<unsigned char> memory;
  View operator()(const Layout& layout) {
    memory.assign(layout.bytes(), 0);
    return {layout, memory.data()};
  }
};

float time_forward(cudnnHandle_t handle, const View& x, const View& w, const View& y,
                   const cudnnConvolutionDescriptorStruct* desc) {
  const Convolution how = geometry(desc);
  check_convolution(how, x, w, y);
  return measure(object(handle), wide(y.type),
                 [=](auto zero) { convolve<decltype(zero)>(how, x, w, y, 1, 0); });
}
float time_data(cudnnHandle_t handle, const View& w, const View& dy, const View& dx,
                const cudnnConvolutionDescriptorStruct* desc) {
  const Convolution how = geometry(desc);
  check_convolution(how, dx, w, dy);
  return measure(object(handle), wide(dx.type),
                 [=](auto zero) { convolve_data<decltype(zero)>(how, w, dy, dx, 1, 0); });
}
float time_filter(cudnnHandle_t handle, const View& x, const View& dy, const View& dw,
                  const cudnnConvolutionDescriptorStruct* desc) {
  const Convolution how = geometry(desc);
  check_convolution(how, x, dw, dy);
  return measure(object(handle), wide(dw.type),
                 [=](auto zero) { convolve_filter<decltype(zero)>(how, x, dy, dw, 1, 0); });
}

constexpr auto kForward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
constexpr auto kData = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
constexpr auto kFilter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;

}  // namespace

#define AW_COUNT(name, most)                                       \
  AW_EXPORT cudnnStatus_t name(cudnnHandle_t handle, int* count) { \
    return api<#name>([&] {                                        \
      object(handle), require_pointer(count);                      \
      *count = most;                                               \
    });                                                            \
  }
AW_COUNT(cudnnGetConvolutionForwardAlgorithmMaxCount, CUDNN_CONVOLUTION_FWD_ALGO_COUNT)
AW_COUNT(cudnnGetConvolutionBackwardDataAlgorithmMaxCount, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT)
AW_COUNT(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount,
         CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT)
#undef AW_COUNT

AW_EXPORT cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t desc, const cudnnTensorDescriptor_t y, const int requested,
    int* returned, cudnnConvolutionFwdAlgoPerf_t* results) {
  return api<"cudnnGetConvolutionForwardAlgorithm_v7">([&] {
    check_request(handle, desc, requested, returned, results);
    check_convolution(geometry(desc), layout(x), layout(w), layout(y));
    answer(kForward, -1, desc, requested, returned, results);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t desc, const cudnnTensorDescriptor_t dx, const int requested,
    int* returned, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return api<"cudnnGetConvolutionBackwardDataAlgorithm_v7">([&] {
    check_request(handle, desc, requested, returned, results);
    check_convolution(geometry(desc), layout(dx), layout(w), layout(dy));
    answer(kData, -1, desc, requested, returned, results);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t desc, const cudnnFilterDescriptor_t dw, const int requested,
    int* returned, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return api<"cudnnGetConvolutionBackwardFilterAlgorithm_v7">([&] {
    check_request(handle, desc, requested, returned, results);
    check_convolution(geometry(desc), layout(x), layout(dw), layout(dy));
    answer(kFilter, -1, desc, requested, returned, results);
  });
}

AW_EXPORT cudnnStatus_t cudnnFindConvolutionForwardAlgorithm(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t desc, const cudnnTensorDescriptor_t y, const int requested,
    int* returned, cudnnConvolutionFwdAlgoPerf_t* results) {
  return api<"cudnnFindConvolutionForwardAlgorithm">([&] {
    check_request(handle, desc, requested, returned, results);
    Blank a, b, c;
    const float time = time_forward(handle, a(layout(x)), b(layout(w)), c(layout(y)), desc);
    answer(kForward, time, desc, requested, returned, results);
  });
}
AW_EXPORT cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnFilterDescriptor_t w_desc, const void* w, const cudnnConvolutionDescriptor_t desc,
    const cudnnTensorDescriptor_t y_desc, void* y, const int requested, int* returned,
    cudnnConvolutionFwdAlgoPerf_t* results, void*, size_t) {
  return api<"cudnnFindConvolutionForwardAlgorithmEx">([&] {
    check_request(handle, desc, requested, returned, results);
    const float time =
        time_forward(handle, view(x_desc, x), view(w_desc, w), view(y_desc, y), desc);
    answer(kForward, time, desc, requested, returned, results);
  });
}
AW_EXPORT cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithm(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t desc, const cudnnTensorDescriptor_t dx, const int requested,
    int* returned, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return api<"cudnnFindConvolutionBackwardDataAlgorithm">([&] {
    check_request(handle, desc, requested, returned, results);
    Blank a, b, c;
    const float time = time_data(handle, a(layout(w)), b(layout(dy)), c(layout(dx)), desc);
    answer(kData, time, desc, requested, returned, results);
  });
}
AW_EXPORT cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w_desc, const void* w,
    const cudnnTensorDescriptor_t dy_desc, const void* dy, const cudnnConvolutionDescriptor_t desc,
    const cudnnTensorDescriptor_t dx_desc, void* dx, const int requested, int* returned,
    cudnnConvolutionBwdDataAlgoPerf_t* results, void*, size_t) {
  return api<"cudnnFindConvolutionBackwardDataAlgorithmEx">([&] {
    check_request(handle, desc, requested, returned, results);
    const float time =
        time_data(handle, view(w_desc, w), view(dy_desc, dy), view(dx_desc, dx), desc);
    answer(kData, time, desc, requested, returned, results);
  });
}
AW_EXPORT cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithm(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t desc, const cudnnFilterDescriptor_t dw, const int requested,
    int* returned, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return api<"cudnnFindConvolutionBackwardFilterAlgorithm">([&] {
    check_request(handle, desc, requested, returned, results);
    Blank a, b, c;
    const float time = time_filter(handle, a(layout(x)), b(layout(dy)), c(layout(dw)), desc);
    answer(kFilter, time, desc, requested, returned, results);
  });
}
AW_EXPORT cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnTensorDescriptor_t dy_desc, const void* dy, const cudnnConvolutionDescriptor_t desc,
    const cudnnFilterDescriptor_t dw_desc, void* dw, const int requested, int* returned,
    cudnnConvolutionBwdFilterAlgoPerf_t* results, void*, size_t) {
  return api<"cudnnFindConvolutionBackwardFilterAlgorithmEx">([&] {
    check_request(handle, desc, requested, returned, results);
    const float time =
        time_filter(handle, view(x_desc, x), view(dy_desc, dy), view(dw_desc, dw), desc);
    answer(kFilter, time, desc, requested, returned, results);
  });
}

AW_EXPORT cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t desc, const cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t, size_t* bytes) {
  return api<"cudnnGetConvolutionForwardWorkspaceSize">([&] {
    object(handle), require_pointer(bytes);
    check_convolution(geometry(&object(desc)), layout(x), layout(w), layout(y));
    *bytes = 0;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t desc, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t, size_t* bytes) {
  return api<"cudnnGetConvolutionBackwardDataWorkspaceSize">([&] {
    object(handle), require_pointer(bytes);
    check_convolution(geometry(&object(desc)), layout(dx), layout(w), layout(dy));
    *bytes = 0;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t desc, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t, size_t* bytes) {
  return api<"cudnnGetConvolutionBackwardFilterWorkspaceSize">([&] {
    object(handle), require_pointer(bytes);
    check_convolution(geometry(&object(desc)), layout(x), layout(dw), layout(dy));
    *bytes = 0;
  });
}

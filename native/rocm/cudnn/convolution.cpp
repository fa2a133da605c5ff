// cuDNN's convolutions: algorithms, workspaces, forward and both ways back.
#include "rocm/cudnn/convolution.h"

#include <algorithm>

using namespace aw::dnn;

namespace {

std::vector<int> key_of(const Problem& p) {
  std::vector<int> key{static_cast<int>(p.direction), p.conv.mode, p.conv.groups};
  for (const auto* list : {&p.conv.pads, &p.conv.strides, &p.conv.dilations})
    key.insert(key.end(), list->begin(), list->end());
  for (const auto* tensor : {&p.first, &p.second, &p.out}) {
    key.push_back(tensor->type);
    key.insert(key.end(), tensor->dims.begin(), tensor->dims.end());
    key.insert(key.end(), tensor->strides.begin(), tensor->strides.end());
  }
  return key;
}

constexpr size_t kMostSolutions = 64;

std::vector<miopenConvSolution_t> ask(cudnnHandle_s& handle, const Problem& p, bool deterministic) {
  auto conv = p.conv.counterpart(deterministic);
  auto first = p.first.counterpart(), second = p.second.counterpart(), out = p.out.counterpart();
  std::vector<miopenConvSolution_t> list(kMostSolutions);
  size_t count = 0;
  switch (p.direction) {
    case Direction::forward:
      MIOPEN(ConvolutionForwardGetSolution, handle.miopen, first, second, conv, out, list.size(),
             &count, list.data());
      break;
    case Direction::data:
      MIOPEN(ConvolutionBackwardDataGetSolution, handle.miopen, first, second, conv, out,
             list.size(), &count, list.data());
      break;
    case Direction::weights:
      MIOPEN(ConvolutionBackwardWeightsGetSolution, handle.miopen, first, second, conv, out,
             list.size(), &count, list.data());
      break;
  }
  list.resize(std::min(count, list.size()));
  return list;
}

// MIOpen names an algorithm by four enums; which constant of one is which of another, by name.
bool directed(miopenConvAlgorithm_t algorithm, miopenConvFwdAlgorithm_t* out) {
  switch (algorithm) {
    case miopenConvolutionAlgoGEMM:
      return *out = miopenConvolutionFwdAlgoGEMM, true;
    case miopenConvolutionAlgoDirect:
      return *out = miopenConvolutionFwdAlgoDirect, true;
    case miopenConvolutionAlgoFFT:
      return *out = miopenConvolutionFwdAlgoFFT, true;
    case miopenConvolutionAlgoWinograd:
      return *out = miopenConvolutionFwdAlgoWinograd, true;
    case miopenConvolutionAlgoImplicitGEMM:
      return *out = miopenConvolutionFwdAlgoImplicitGEMM, true;
  }
  return false;
}
bool directed(miopenConvAlgorithm_t algorithm, miopenConvBwdDataAlgorithm_t* out) {
  switch (algorithm) {
    case miopenConvolutionAlgoGEMM:
      return *out = miopenConvolutionBwdDataAlgoGEMM, true;
    case miopenConvolutionAlgoDirect:
      return *out = miopenConvolutionBwdDataAlgoDirect, true;
    case miopenConvolutionAlgoFFT:
      return *out = miopenConvolutionBwdDataAlgoFFT, true;
    case miopenConvolutionAlgoWinograd:
      return *out = miopenConvolutionBwdDataAlgoWinograd, true;
    case miopenConvolutionAlgoImplicitGEMM:
      return *out = miopenConvolutionBwdDataAlgoImplicitGEMM, true;
  }
  return false;
}
bool directed(miopenConvAlgorithm_t algorithm, miopenConvBwdWeightsAlgorithm_t* out) {
  switch (algorithm) {
    case miopenConvolutionAlgoGEMM:
      return *out = miopenConvolutionBwdWeightsAlgoGEMM, true;
    case miopenConvolutionAlgoDirect:
      return *out = miopenConvolutionBwdWeightsAlgoDirect, true;
    case miopenConvolutionAlgoWinograd:
      return *out = miopenConvolutionBwdWeightsAlgoWinograd, true;
    case miopenConvolutionAlgoImplicitGEMM:
      return *out = miopenConvolutionBwdWeightsAlgoImplicitGEMM, true;
    case miopenConvolutionAlgoFFT:
      return false;
  }
  return false;
}

// Per direction: cuDNN's enum, MIOpen's, and which algorithms cuDNN has for everything, so that
// programs name them unasked.
struct Forward {
  using Algo = cudnnConvolutionFwdAlgo_t;
  using Perf = cudnnConvolutionFwdAlgoPerf_t;
  using Rocm = miopenConvFwdAlgorithm_t;
  static constexpr int kCount = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;
  static bool universal(Algo algo) {
    return algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
           algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  }
  static Rocm of(const miopenConvAlgoPerf_t& perf) { return perf.fwd_algo; }
};
struct Data {
  using Algo = cudnnConvolutionBwdDataAlgo_t;
  using Perf = cudnnConvolutionBwdDataAlgoPerf_t;
  using Rocm = miopenConvBwdDataAlgorithm_t;
  static constexpr int kCount = CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT;
  static bool universal(Algo algo) {
    return algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 || algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
  }
  // The matrix product has two names here, of which cuDNN's answer has one.
  static Rocm of(const miopenConvAlgoPerf_t& perf) {
    return perf.bwd_data_algo == miopenTransposeBwdDataAlgoGEMM ? miopenConvolutionBwdDataAlgoGEMM
                                                                : perf.bwd_data_algo;
  }
};
struct Weights {
  using Algo = cudnnConvolutionBwdFilterAlgo_t;
  using Perf = cudnnConvolutionBwdFilterAlgoPerf_t;
  using Rocm = miopenConvBwdWeightsAlgorithm_t;
  static constexpr int kCount = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT;
  static bool universal(Algo algo) {
    return algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
           algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 ||
           algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
  }
  static Rocm of(const miopenConvAlgoPerf_t& perf) { return perf.bwd_weights_algo; }
};

// The solutions of an algorithm; of all, where cuDNN promises the algorithm for everything and
// MIOpen has none of its kind.
template <class Way>
std::vector<Solution> of_algorithm(const std::vector<Solution>& all, typename Way::Algo algo) {
  const typename Way::Rocm wanted = to_rocm(algo);
  std::vector<Solution> found;
  for (const Solution& solution : all) {
    typename Way::Rocm has{};
    if (directed(solution.algorithm, &has) && has == wanted) found.push_back(solution);
  }
  if (found.empty() && Way::universal(algo)) found = all;
  require(!found.empty(), "MIOpen has no solution by this algorithm", CUDNN_STATUS_NOT_SUPPORTED);
  // A program that saw a deterministic answer for the algorithm relies on it.
  if (found[0].deterministic)
    std::erase_if(found, [](const Solution& solution) { return !solution.deterministic; });
  return found;
}

template <class Way>
void get_algorithms(cudnnHandle_t handle, const Problem& problem, int requested, int* returned,
                    typename Way::Perf* results) {
  require(requested > 0, "a count that is not positive");
  require_pointer(returned);
  require_pointer(results);
  int count = 0;
  for (const Solution& solution : solutions(object(handle), problem)) {
    typename Way::Rocm algorithm{};
    if (count == requested) break;
    if (!directed(solution.algorithm, &algorithm)) continue;
    typename Way::Algo algo{};
    from_rocm(algorithm, &algo);
    auto same = [&](const typename Way::Perf& perf) { return perf.algo == algo; };
    if (std::any_of(results, results + count, same)) continue;
    typename Way::Perf& perf = results[count++] = {};
    perf.algo = algo, perf.status = CUDNN_STATUS_SUCCESS,
    perf.time = solution.time < 0 ? -1 : solution.time;
    perf.memory = solution.workspace, perf.mathType = problem.conv.math;
    perf.determinism = solution.deterministic ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
  }
  *returned = count;
}

template <class Way>
void find_algorithms(cudnnHandle_t handle, const Problem& p, const void* first, const void* second,
                     void* out, int requested, int* returned, typename Way::Perf* results,
                     void* workspace, size_t bytes) {
  require(requested > 0, "a count that is not positive");
  require_pointer(returned);
  require_pointer(results);
  auto miopen_handle = object(handle).miopen;
  auto conv = p.conv.counterpart();
  std::vector<miopenConvAlgoPerf_t> found(static_cast<size_t>(Way::kCount));
  int count = 0;
  const int most = std::min(requested, Way::kCount);
  if constexpr (std::is_same_v<Way, Forward>)
    MIOPEN(FindConvolutionForwardAlgorithm, miopen_handle, p.second.counterpart(), second,
           p.first.counterpart(), first, conv, p.out.counterpart(), out, most, &count, found.data(),
           workspace, bytes, false);
  else if constexpr (std::is_same_v<Way, Data>)
    MIOPEN(FindConvolutionBackwardDataAlgorithm, miopen_handle, p.first.counterpart(), first,
           p.second.counterpart(), second, conv, p.out.counterpart(), out, most, &count,
           found.data(), workspace, bytes, false);
  else
    MIOPEN(FindConvolutionBackwardWeightsAlgorithm, miopen_handle, p.first.counterpart(), first,
           p.second.counterpart(), second, conv, p.out.counterpart(), out, most, &count,
           found.data(), workspace, bytes, false);
  {
    std::lock_guard lock(handle->mutex);
    handle->solutions.erase(key_of(p));  // MIOpen now knows more
    handle->chosen[static_cast<int>(p.direction)] = {};
  }
  const auto known = solutions(*handle, p);
  *returned = std::clamp(count, 0, most);
  for (int i = 0; i < *returned; ++i) {
    const auto& from = found[static_cast<size_t>(i)];
    typename Way::Perf& perf = results[i] = {};
    from_rocm(Way::of(from), &perf.algo);
    perf.status = CUDNN_STATUS_SUCCESS, perf.time = from.time, perf.mathType = p.conv.math;
    // What will run is a solution of this algorithm; it may want more than the one that was
    // measured.
    const auto same = of_algorithm<Way>(known, perf.algo);
    perf.memory = std::max(from.memory, same[0].workspace);
    perf.determinism = same[0].deterministic ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
  }
}

// Without buffers of the program's: cuDNN takes its own, and so do we.
template <class Way>
void find_alone(cudnnHandle_t handle, const Problem& p, int requested, int* returned,
                typename Way::Perf* results) {
  size_t most = 0;
  for (const Solution& solution : solutions(object(handle), p))
    most = std::max(most, solution.workspace);
  Scratch first(handle->stream, p.first.bytes()), second(handle->stream, p.second.bytes()),
      out(handle->stream, p.out.bytes()), workspace(handle->stream, most);
  find_algorithms<Way>(handle, p, first.data(), second.data(), out.data(), requested, returned,
                       results, workspace.data(), most);
}

template <class Way>
void workspace_size(cudnnHandle_t handle, const Problem& problem, typename Way::Algo algo,
                    size_t* bytes) {
  require_pointer(bytes);
  *bytes = of_algorithm<Way>(solutions(object(handle), problem), algo)[0].workspace;
}

// What an algorithm comes to, chosen once as long as nothing changes.
template <class Way>
Solution choose(cudnnHandle_s& handle, const Problem& p, typename Way::Algo algo, size_t bytes) {
  Choice& last = handle.chosen[static_cast<int>(p.direction)];
  if (last.first == p.first.stamp && last.second == p.second.stamp && last.out == p.out.stamp &&
      last.conv == p.conv.stamp && last.algo == algo && last.workspace == bytes)
    return last.solution;
  const Solution found = fitting(of_algorithm<Way>(solutions(handle, p), algo), bytes);
  last = {p.first.stamp, p.second.stamp, p.out.stamp, p.conv.stamp, algo, bytes, found};
  return found;
}

template <class Way>
void run_blended(cudnnHandle_t handle, const Problem& problem, typename Way::Algo algo,
                 const void* alpha, const void* first, const void* second, const void* beta,
                 void* out, void* workspace, size_t bytes) {
  const Solution solution = choose<Way>(object(handle), problem, algo, bytes);
  blend(*handle, scalar(alpha, problem.out.type), scalar(beta, problem.out.type), problem.out, out,
        [&](void* y) { convolve(*handle, problem, solution, first, second, y, workspace, bytes); });
}

Problem forward(cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t x,
                cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t y) {
  return {Direction::forward, object(conv), object(w), object(x), object(y)};
}
Problem backward_data(cudnnConvolutionDescriptor_t conv, cudnnFilterDescriptor_t w,
                      cudnnTensorDescriptor_t dy, cudnnTensorDescriptor_t dx) {
  return {Direction::data, object(conv), object(dy), object(w), object(dx)};
}
Problem backward_weights(cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t x,
                         cudnnTensorDescriptor_t dy, cudnnFilterDescriptor_t dw) {
  return {Direction::weights, object(conv), object(dy), object(x), object(dw)};
}

void say_count(int* count, int value) {
  require_pointer(count);
  *count = value;
}

}  // namespace

const std::vector<Solution>& aw::dnn::solutions(cudnnHandle_s& handle, const Problem& problem) {
  std::lock_guard lock(handle.mutex);
  auto [place, fresh] = handle.solutions.try_emplace(key_of(problem));
  auto& list = place->second;
  if (fresh) try {
      const auto safe = ask(handle, problem, true);
      for (const auto& each : ask(handle, problem, false)) {
        auto same = [&](const miopenConvSolution_t& other) {
          return other.solution_id == each.solution_id;
        };
        list.push_back({each.solution_id, each.algorithm, each.time, each.workspace_size,
                        std::any_of(safe.begin(), safe.end(), same)});
      }
    } catch (...) {
      handle.solutions.erase(place);
      throw;
    }
  require(!list.empty(), "MIOpen has no solution for this convolution", CUDNN_STATUS_NOT_SUPPORTED);
  return list;
}

const Solution& aw::dnn::fitting(const std::vector<Solution>& all, size_t bytes) {
  auto fits = [&](const Solution& solution) { return solution.workspace <= bytes; };
  auto found = std::find_if(all.begin(), all.end(), fits);
  require(found != all.end(), "the workspace is too small",
          CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
  return *found;
}

void aw::dnn::convolve(cudnnHandle_s& handle, const Problem& p, const Solution& solution,
                       const void* first, const void* second, void* out, void* workspace,
                       size_t bytes) {
  auto conv = p.conv.counterpart(solution.deterministic);
  auto a = p.first.counterpart(), b = p.second.counterpart(), c = p.out.counterpart();
  switch (p.direction) {
    case Direction::forward:
      return MIOPEN(ConvolutionForwardImmediate, handle.miopen, a, first, b, second, conv, c, out,
                    workspace, bytes, solution.id);
    case Direction::data:
      return MIOPEN(ConvolutionBackwardDataImmediate, handle.miopen, a, first, b, second, conv, c,
                    out, workspace, bytes, solution.id);
    case Direction::weights:
      return MIOPEN(ConvolutionBackwardWeightsImmediate, handle.miopen, a, first, b, second, conv,
                    c, out, workspace, bytes, solution.id);
  }
}

AW_CUDNN(cudnnGetConvolutionForwardAlgorithmMaxCount, cudnnHandle_t, int* count) {
  say_count(count, Forward::kCount);
}
AW_CUDNN(cudnnGetConvolutionBackwardDataAlgorithmMaxCount, cudnnHandle_t, int* count) {
  say_count(count, Data::kCount);
}
AW_CUDNN(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount, cudnnHandle_t, int* count) {
  say_count(count, Weights::kCount);
}

AW_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7, cudnnHandle_t handle,
         const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
         const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y,
         const int requested, int* returned, cudnnConvolutionFwdAlgoPerf_t* results) {
  get_algorithms<Forward>(handle, forward(conv, x, w, y), requested, returned, results);
}
AW_CUDNN(cudnnGetConvolutionBackwardDataAlgorithm_v7, cudnnHandle_t handle,
         const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
         const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx,
         const int requested, int* returned, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  get_algorithms<Data>(handle, backward_data(conv, w, dy, dx), requested, returned, results);
}
AW_CUDNN(cudnnGetConvolutionBackwardFilterAlgorithm_v7, cudnnHandle_t handle,
         const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
         const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw,
         const int requested, int* returned, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  get_algorithms<Weights>(handle, backward_weights(conv, x, dy, dw), requested, returned, results);
}

AW_CUDNN(cudnnFindConvolutionForwardAlgorithm, cudnnHandle_t handle,
         const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
         const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y,
         const int requested, int* returned, cudnnConvolutionFwdAlgoPerf_t* results) {
  find_alone<Forward>(handle, forward(conv, x, w, y), requested, returned, results);
}
AW_CUDNN(cudnnFindConvolutionBackwardDataAlgorithm, cudnnHandle_t handle,
         const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
         const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx,
         const int requested, int* returned, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  find_alone<Data>(handle, backward_data(conv, w, dy, dx), requested, returned, results);
}
AW_CUDNN(cudnnFindConvolutionBackwardFilterAlgorithm, cudnnHandle_t handle,
         const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
         const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw,
         const int requested, int* returned, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  find_alone<Weights>(handle, backward_weights(conv, x, dy, dw), requested, returned, results);
}
AW_CUDNN(cudnnFindConvolutionForwardAlgorithmEx, cudnnHandle_t handle,
         const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnFilterDescriptor_t w_desc,
         const void* w, const cudnnConvolutionDescriptor_t conv,
         const cudnnTensorDescriptor_t y_desc, void* y, const int requested, int* returned,
         cudnnConvolutionFwdAlgoPerf_t* results, void* workspace, size_t bytes) {
  find_algorithms<Forward>(handle, forward(conv, x_desc, w_desc, y_desc), w, x, y, requested,
                           returned, results, workspace, bytes);
}
AW_CUDNN(cudnnFindConvolutionBackwardDataAlgorithmEx, cudnnHandle_t handle,
         const cudnnFilterDescriptor_t w_desc, const void* w, const cudnnTensorDescriptor_t dy_desc,
         const void* dy, const cudnnConvolutionDescriptor_t conv,
         const cudnnTensorDescriptor_t dx_desc, void* dx, const int requested, int* returned,
         cudnnConvolutionBwdDataAlgoPerf_t* results, void* workspace, size_t bytes) {
  find_algorithms<Data>(handle, backward_data(conv, w_desc, dy_desc, dx_desc), dy, w, dx, requested,
                        returned, results, workspace, bytes);
}
AW_CUDNN(cudnnFindConvolutionBackwardFilterAlgorithmEx, cudnnHandle_t handle,
         const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t dy_desc,
         const void* dy, const cudnnConvolutionDescriptor_t conv,
         const cudnnFilterDescriptor_t dw_desc, void* dw, const int requested, int* returned,
         cudnnConvolutionBwdFilterAlgoPerf_t* results, void* workspace, size_t bytes) {
  find_algorithms<Weights>(handle, backward_weights(conv, x_desc, dy_desc, dw_desc), dy, x, dw,
                           requested, returned, results, workspace, bytes);
}

AW_CUDNN(cudnnGetConvolutionForwardWorkspaceSize, cudnnHandle_t handle,
         const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
         const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y,
         cudnnConvolutionFwdAlgo_t algo, size_t* bytes) {
  workspace_size<Forward>(handle, forward(conv, x, w, y), algo, bytes);
}
AW_CUDNN(cudnnGetConvolutionBackwardDataWorkspaceSize, cudnnHandle_t handle,
         const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
         const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx,
         cudnnConvolutionBwdDataAlgo_t algo, size_t* bytes) {
  workspace_size<Data>(handle, backward_data(conv, w, dy, dx), algo, bytes);
}
AW_CUDNN(cudnnGetConvolutionBackwardFilterWorkspaceSize, cudnnHandle_t handle,
         const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
         const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw,
         cudnnConvolutionBwdFilterAlgo_t algo, size_t* bytes) {
  workspace_size<Weights>(handle, backward_weights(conv, x, dy, dw), algo, bytes);
}

AW_CUDNN(cudnnConvolutionForward, cudnnHandle_t handle, const void* alpha,
         const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnFilterDescriptor_t w_desc,
         const void* w, const cudnnConvolutionDescriptor_t conv, cudnnConvolutionFwdAlgo_t algo,
         void* workspace, size_t bytes, const void* beta, const cudnnTensorDescriptor_t y_desc,
         void* y) {
  run_blended<Forward>(handle, forward(conv, x_desc, w_desc, y_desc), algo, alpha, w, x, beta, y,
                       workspace, bytes);
}
AW_CUDNN(cudnnConvolutionBackwardData, cudnnHandle_t handle, const void* alpha,
         const cudnnFilterDescriptor_t w_desc, const void* w, const cudnnTensorDescriptor_t dy_desc,
         const void* dy, const cudnnConvolutionDescriptor_t conv,
         cudnnConvolutionBwdDataAlgo_t algo, void* workspace, size_t bytes, const void* beta,
         const cudnnTensorDescriptor_t dx_desc, void* dx) {
  run_blended<Data>(handle, backward_data(conv, w_desc, dy_desc, dx_desc), algo, alpha, dy, w, beta,
                    dx, workspace, bytes);
}
AW_CUDNN(cudnnConvolutionBackwardFilter, cudnnHandle_t handle, const void* alpha,
         const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t dy_desc,
         const void* dy, const cudnnConvolutionDescriptor_t conv,
         cudnnConvolutionBwdFilterAlgo_t algo, void* workspace, size_t bytes, const void* beta,
         const cudnnFilterDescriptor_t dw_desc, void* dw) {
  run_blended<Weights>(handle, backward_weights(conv, x_desc, dy_desc, dw_desc), algo, alpha, dy, x,
                       beta, dw, workspace, bytes);
}
AW_CUDNN(cudnnConvolutionBackwardBias, cudnnHandle_t handle, const void* alpha,
         const cudnnTensorDescriptor_t dy_desc, const void* dy, const void* beta,
         const cudnnTensorDescriptor_t db_desc, void* db) {
  auto &from = object(dy_desc), &to = object(db_desc);
  blend(object(handle), scalar(alpha, from.type), scalar(beta, to.type), to, db, [&](void* out) {
    MIOPEN(ConvolutionBackwardBias, handle->miopen, &kOne, from.counterpart(), dy, &kZero,
           to.counterpart(), out);
  });
}

// y = activation(alpha1 * conv(x) + alpha2 * z + bias), step by step; z may be y.
AW_CUDNN(cudnnConvolutionBiasActivationForward, cudnnHandle_t handle, const void* alpha1,
         const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnFilterDescriptor_t w_desc,
         const void* w, const cudnnConvolutionDescriptor_t conv, cudnnConvolutionFwdAlgo_t algo,
         void* workspace, size_t bytes, const void* alpha2, const cudnnTensorDescriptor_t z_desc,
         const void* z, const cudnnTensorDescriptor_t bias_desc, const void* bias,
         const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t y_desc,
         void* y) {
  const Problem problem = forward(conv, x_desc, w_desc, y_desc);
  auto& out = object(y_desc);
  const auto mode = object(activation).mode;
  require(mode == CUDNN_ACTIVATION_RELU || mode == CUDNN_ACTIVATION_IDENTITY,
          "an activation that is neither RELU nor IDENTITY", CUDNN_STATUS_NOT_SUPPORTED);
  const float factor = scalar(alpha1, out.type), share = scalar(alpha2, out.type);
  const Solution solution = choose<Forward>(object(handle), problem, algo, bytes);
  if (share != 0) {
    Scratch beside(handle->stream, out.bytes());
    convolve(*handle, problem, solution, w, x, beside.data(), workspace, bytes);
    add_tensors(*handle, factor, out, beside.data(), share, object(z_desc), z, out, y);
  } else {
    blend(*handle, factor, 0, out, y,
          [&](void* to) { convolve(*handle, problem, solution, w, x, to, workspace, bytes); });
  }
  add_tensors(*handle, 1, out, y, 1, object(bias_desc), bias, out, y);
  if (mode == CUDNN_ACTIVATION_IDENTITY) return;
  MIOPEN(ActivationForward, handle->miopen, activation->counterpart(), &kOne, out.counterpart(), y,
         &kZero, out.counterpart(), y);
}

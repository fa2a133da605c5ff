// cuDNN: the loss of connectionist temporal classification (Graves et al., ICML 2006) and its
// gradient. Label 0 is the blank.
#include <limits>

#include "libraries/cudnn/elementwise.h"
#include "libraries/cudnn/objects.h"

using namespace aw::dnn;

struct cudnnCTCLossDescriptorStruct : Object<13> {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnLossNormalizationMode_t norm = CUDNN_LOSS_NORMALIZATION_NONE;
  int gradient = 0;  // cudnnNanPropagation_t, or cudnnCTCGradMode_t in version 9's interface
  bool newer = false;
  int longest = 0;
};

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
double log_add(double a, double b) {
  const double most = std::max(a, b);
  return most == kNever ? kNever : most + std::log1p(std::exp(std::min(a, b) - most));
}

// One sequence: logarithms of probabilities [step][symbol]. Returns the loss; adds posteriors of
// symbols to `posterior`.
double one_sequence(const double* logs, int64_t steps, int64_t symbols, const int* labels,
                    int64_t count, double* posterior) {
  const int64_t states = 2 * count + 1;
  auto symbol = [&](int64_t s) { return s % 2 ? int64_t{labels[s / 2]} : int64_t{0}; };
  auto skips = [&](int64_t s) { return s % 2 && s >= 2 && symbol(s) != symbol(s - 2); };
  std::vector<double> before(static_cast<size_t>(steps * states), kNever),
      after(static_cast<size_t>(states)), next(after);
  auto at = [&](int64_t t, int64_t s) -> double& {
    return before[static_cast<size_t>(t * states + s)];
  };
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t s = 0; s < states; ++s) {
      double sum = t == 0 ? (s < 2 ? 0.0 : kNever) : at(t - 1, s);
      if (t && s) sum = log_add(sum, at(t - 1, s - 1));
      if (t && skips(s)) sum = log_add(sum, at(t - 1, s - 2));
      at(t, s) = sum + logs[t * symbols + symbol(s)];
    }
  const double total =
      steps ? log_add(at(steps - 1, states - 1), states > 1 ? at(steps - 1, states - 2) : kNever)
            : (count ? kNever : 0.0);
  if (total == kNever || !posterior) return -total;
  for (int64_t t = steps - 1; t >= 0;
       --t) {  // after[s]: of all ways from state s at step t, without that step
    for (int64_t s = 0; s < states; ++s) {
      double sum = kNever;
      if (t == steps - 1) {
        sum = s >= states - 2 ? 0.0 : kNever;
      } else {
        auto way = [&](int64_t to) {
          return after[static_cast<size_t>(to)] + logs[(t + 1) * symbols + symbol(to)];
        };
        sum = way(s);
        if (s + 1 < states) sum = log_add(sum, way(s + 1));
        if (s + 2 < states && skips(s + 2)) sum = log_add(sum, way(s + 2));
      }
      next[static_cast<size_t>(s)] = sum;
      const double all = at(t, s) + sum - total;
      if (all > kNever) posterior[t * symbols + symbol(s)] += std::exp(all);
    }
    after = next;
  }
  return -total;
}

struct Loss {
  cudnnCTCLossDescriptorStruct desc;
  View probabilities;  // [step][sequence][symbol]
  View gradients;      // without memory where none are wanted
  void* costs;
};

template <class T>
void compute(const Loss& loss, const int* labels, const int* label_lengths, const int* lengths) {
  const View& in = loss.probabilities;
  const int64_t steps = in.dims[0], batch = in.dims[1], symbols = in.dims[2];
  const Dense<double> all(in);
  Scratch<T> slopes(loss.gradients.data ? in.elements() : 0), costs(batch);
  if (slopes && loss.desc.newer &&
      loss.desc.gradient == 1) {  // CUDNN_CTC_SKIP_OOB_GRADIENTS: what lies behind stays
    const Dense<T> old(loss.gradients);
    std::copy_n(old.get(), in.elements(), slopes.get());
  } else if (slopes) {
    std::fill_n(slopes.get(), in.elements(), T{0});
  }
  std::vector<int64_t> begin(static_cast<size_t>(batch), 0);
  for (size_t b = 1; b < begin.size(); ++b) begin[b] = begin[b - 1] + label_lengths[b - 1];
  share(batch, steps * symbols * 64, [&](int64_t b) {
    const int64_t count = std::clamp<int64_t>(lengths[b], 0, steps);
    std::vector<double> logs(static_cast<size_t>(count * symbols)), posterior(logs.size());
    for (int64_t t = 0; t < count; ++t) {
      const double* row = all.get() + (t * batch + b) * symbols;
      double* to = logs.data() + t * symbols;
      double total = 0;
      if (loss.desc.norm == CUDNN_LOSS_NORMALIZATION_SOFTMAX) {
        const double most = *std::max_element(row, row + symbols);
        for (int64_t k = 0; k < symbols; ++k) total += std::exp(row[k] - most);
        total = most + std::log(total);
      }
      for (int64_t k = 0; k < symbols; ++k)
        to[k] =
            loss.desc.norm == CUDNN_LOSS_NORMALIZATION_SOFTMAX ? row[k] - total : std::log(row[k]);
    }
    const double cost =
        one_sequence(logs.data(), count, symbols, labels + begin[static_cast<size_t>(b)],
                     label_lengths[b], slopes ? posterior.data() : nullptr);
    costs[b] = static_cast<T>(cost);
    // By the values before softmax, whichever were given.
    const bool bad = !std::isfinite(cost);
    for (int64_t t = 0; t < count && slopes; ++t)
      for (int64_t k = 0; k < symbols; ++k) {
        const auto i = static_cast<size_t>(t * symbols + k);
        const double slope = std::exp(logs[i]) - posterior[i];
        const bool hands_on = !loss.desc.newer && loss.desc.gradient == CUDNN_PROPAGATE_NAN;
        slopes[(t * batch + b) * symbols + k] =
            static_cast<T>(!bad       ? slope
                           : hands_on ? std::numeric_limits<double>::quiet_NaN()
                                      : 0.0);
      }
  });
  put<T>(View(packed(in.type, {batch}), loss.costs), costs.get());
  if (slopes) put<T>(loss.gradients, slopes.get());
}

Loss check(cudnnHandle_t handle, const cudnnCTCLossDescriptorStruct* desc,
           const cudnnTensorDescriptorStruct* p_desc, const void* p, void* costs,
           const cudnnTensorDescriptorStruct* g_desc, void* gradients) {
  object(handle);
  Loss loss{object(desc), view(p_desc, p), {}, costs};
  require_pointer(costs);
  require(loss.probabilities.rank == 3, "probabilities that have not three dimensions");
  if (gradients) {
    loss.gradients = view(g_desc, gradients);
    require(loss.gradients.same_shape(loss.probabilities), "tensors of different shapes",
            kWrongShape);
  }
  return loss;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnCreateCTCLossDescriptor(cudnnCTCLossDescriptor_t* desc) {
  return api<"cudnnCreateCTCLossDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyCTCLossDescriptor(cudnnCTCLossDescriptor_t desc) {
  return api<"cudnnDestroyCTCLossDescriptor">([&] { destroy(desc); });
}

namespace {

void set_loss(cudnnCTCLossDescriptor_t desc, cudnnDataType_t type,
              cudnnLossNormalizationMode_t norm, int gradient, bool newer, int longest) {
  auto& to = object(desc);
  require(type == CUDNN_DATA_FLOAT, "a loss that is not computed as floats");  // as documented
  require(norm == CUDNN_LOSS_NORMALIZATION_NONE || norm == CUDNN_LOSS_NORMALIZATION_SOFTMAX,
          "no such normalisation");
  to.type = type, to.norm = norm, to.gradient = gradient, to.newer = newer, to.longest = longest;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnSetCTCLossDescriptor(cudnnCTCLossDescriptor_t desc,
                                                  cudnnDataType_t type) {
  return api<"cudnnSetCTCLossDescriptor">([&] {
    set_loss(desc, type, CUDNN_LOSS_NORMALIZATION_NONE, CUDNN_NOT_PROPAGATE_NAN, false, 0);
  });
}
AW_EXPORT cudnnStatus_t cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t desc,
                                                    cudnnDataType_t type,
                                                    cudnnLossNormalizationMode_t norm,
                                                    cudnnNanPropagation_t mode) {
  return api<"cudnnSetCTCLossDescriptorEx">([&] { set_loss(desc, type, norm, mode, false, 0); });
}
AW_EXPORT cudnnStatus_t cudnnSetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t desc,
                                                     cudnnDataType_t type,
                                                     cudnnLossNormalizationMode_t norm,
                                                     cudnnNanPropagation_t mode, int longest) {
  return api<"cudnnSetCTCLossDescriptor_v8">(
      [&] { set_loss(desc, type, norm, mode, false, longest); });
}
AW_EXPORT cudnnStatus_t cudnnGetCTCLossDescriptor(cudnnCTCLossDescriptor_t desc,
                                                  cudnnDataType_t* type) {
  return api<"cudnnGetCTCLossDescriptor">([&] { give(type, object(desc).type); });
}
AW_EXPORT cudnnStatus_t cudnnGetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t desc,
                                                    cudnnDataType_t* type,
                                                    cudnnLossNormalizationMode_t* norm,
                                                    cudnnNanPropagation_t* mode) {
  return api<"cudnnGetCTCLossDescriptorEx">([&] {
    auto& from = object(desc);
    give(type, from.type), give(norm, from.norm), give(mode, from.gradient);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetCTCLossDescriptor_v8(cudnnCTCLossDescriptor_t desc,
                                                     cudnnDataType_t* type,
                                                     cudnnLossNormalizationMode_t* norm,
                                                     cudnnNanPropagation_t* mode, int* longest) {
  return api<"cudnnGetCTCLossDescriptor_v8">([&] {
    auto& from = object(desc);
    give(type, from.type), give(norm, from.norm), give(mode, from.gradient),
        give(longest, from.longest);
  });
}
#ifndef AW_CUDA_12
AW_EXPORT cudnnStatus_t cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t desc,
                                                     cudnnDataType_t type,
                                                     cudnnLossNormalizationMode_t norm,
                                                     cudnnCTCGradMode_t mode, int longest) {
  return api<"cudnnSetCTCLossDescriptor_v9">(
      [&] { set_loss(desc, type, norm, mode, true, longest); });
}
AW_EXPORT cudnnStatus_t cudnnGetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t desc,
                                                     cudnnDataType_t* type,
                                                     cudnnLossNormalizationMode_t* norm,
                                                     cudnnCTCGradMode_t* mode, int* longest) {
  return api<"cudnnGetCTCLossDescriptor_v9">([&] {
    auto& from = object(desc);
    give(type, from.type), give(norm, from.norm), give(mode, from.gradient),
        give(longest, from.longest);
  });
}
#endif

AW_EXPORT cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle,
                                                     const cudnnTensorDescriptor_t p,
                                                     const cudnnTensorDescriptor_t, const int*,
                                                     const int*, const int*, cudnnCTCLossAlgo_t,
                                                     cudnnCTCLossDescriptor_t desc, size_t* bytes) {
  return api<"cudnnGetCTCLossWorkspaceSize">([&] {
    object(handle), object(desc), layout(p), require_pointer(bytes);
    *bytes = 0;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t,
                                                        cudnnCTCLossDescriptor_t desc,
                                                        const cudnnTensorDescriptor_t p,
                                                        const cudnnTensorDescriptor_t,
                                                        size_t* bytes) {
  return api<"cudnnGetCTCLossWorkspaceSize_v8">([&] {
    object(handle), object(desc), layout(p), require_pointer(bytes);
    *bytes = 0;
  });
}

// Labels and lengths lie on the host and are read now.
AW_EXPORT cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle, const cudnnTensorDescriptor_t p_desc,
                                     const void* p, const int labels[], const int label_lengths[],
                                     const int lengths[], void* costs,
                                     const cudnnTensorDescriptor_t g_desc, void* gradients,
                                     cudnnCTCLossAlgo_t, cudnnCTCLossDescriptor_t desc, void*,
                                     size_t) {
  return api<"cudnnCTCLoss">([&] {
    const Loss loss = check(handle, desc, p_desc, p, costs, g_desc, gradients);
    require_pointer(labels), require_pointer(label_lengths), require_pointer(lengths);
    const int64_t batch = loss.probabilities.dims[1];
    int64_t count = 0;
    for (int64_t b = 0; b < batch; ++b) {
      require(label_lengths[b] >= 0 && lengths[b] >= 0 && lengths[b] <= loss.probabilities.dims[0],
              "a length out of range");
      count += label_lengths[b];
    }
    for (int64_t i = 0; i < count; ++i)
      require(labels[i] > 0 && labels[i] < loss.probabilities.dims[2], "a label that is no symbol");
    work(object(handle), "cudnn_ctc_loss", wide(loss.probabilities.type),
         [=, all = std::vector<int>(labels, labels + count),
          of = std::vector<int>(label_lengths, label_lengths + batch),
          steps = std::vector<int>(lengths, lengths + batch)](auto zero) {
           compute<decltype(zero)>(loss, all.data(), of.data(), steps.data());
         });
  });
}

// Labels and lengths lie on the device and are read when it runs.
AW_EXPORT cudnnStatus_t cudnnCTCLoss_v8(cudnnHandle_t handle, cudnnCTCLossAlgo_t,
                                        cudnnCTCLossDescriptor_t desc,
                                        const cudnnTensorDescriptor_t p_desc, const void* p,
                                        const int labels[], const int label_lengths[],
                                        const int lengths[], void* costs,
                                        const cudnnTensorDescriptor_t g_desc, void* gradients,
                                        size_t, void*) {
  return api<"cudnnCTCLoss_v8">([&] {
    const Loss loss = check(handle, desc, p_desc, p, costs, g_desc, gradients);
    require_pointer(labels), require_pointer(label_lengths), require_pointer(lengths);
    work(object(handle), "cudnn_ctc_loss", wide(loss.probabilities.type), [=](auto zero) {
      const int64_t batch = loss.probabilities.dims[1];
      int64_t count = 0;
      for (int64_t b = 0; b < batch; ++b) count += std::max(0, label_lengths[b]);
      bool fine = std::all_of(label_lengths, label_lengths + batch, [](int n) { return n >= 0; });
      for (int64_t i = 0; i < count && fine; ++i)
        fine = labels[i] > 0 && labels[i] < loss.probabilities.dims[2];
      if (!fine) {
        anywarp_fail(CUDA_ERROR_LAUNCH_FAILED,
                     "cudnnCTCLoss_v8: a label that is no symbol, or a negative length");
        return;
      }
      compute<decltype(zero)>(loss, labels, label_lengths, lengths);
    });
  });
}

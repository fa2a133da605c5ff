// Convolutions as MIOpen's immediate mode does them: it needs no search before, and takes any
// solution that it names.
#pragma once

#include "rocm/cudnn/objects.h"

namespace aw::dnn {

enum class Direction { forward, data, weights };

// A convolution in MIOpen's order of operands: forward (w, x, y), data (dy, w, dx), weights (dy, x,
// dw).
struct Problem {
  Direction direction;
  cudnnConvolutionDescriptor_s& conv;
  cudnnTensorDescriptor_s& first;
  cudnnTensorDescriptor_s& second;
  cudnnTensorDescriptor_s& out;
};

// What MIOpen offers, the fastest first; NOT_SUPPORTED where it is nothing.
const std::vector<Solution>& solutions(cudnnHandle_s& handle, const Problem& problem);

// out = convolution, by the solution named.
void convolve(cudnnHandle_s& handle, const Problem& problem, const Solution& solution,
              const void* first, const void* second, void* out, void* workspace,
              size_t workspace_bytes);

// The first solution that needs no more workspace; throws where there is none.
const Solution& fitting(const std::vector<Solution>& all, size_t workspace_bytes);

}  // namespace aw::dnn

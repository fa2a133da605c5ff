// Structures of MIOpen's interface, as its headers of ROCm 6.4 and 7.2 lay them out.
#pragma once

#include <cstddef>
#include <cstdint>

struct miopenConvAlgoPerf_t {
  union {
    miopenConvFwdAlgorithm_t fwd_algo;
    miopenConvBwdWeightsAlgorithm_t bwd_weights_algo;
    miopenConvBwdDataAlgorithm_t bwd_data_algo;
  };
  float time;  // milliseconds
  size_t memory;
};
struct miopenConvSolution_t {
  float time;  // milliseconds, measured or estimated; negative where nobody knows
  size_t workspace_size;
  uint64_t solution_id;
  miopenConvAlgorithm_t algorithm;
};
struct miopenTensorArgument_t {
  miopenTensorArgumentId_t id;
  miopenTensorDescriptor_t* descriptor;
  void* buffer;
};

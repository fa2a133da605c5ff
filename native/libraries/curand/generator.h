// A generator of cuRAND's host interface.
#pragma once

#include "libraries/curand/curand_parts.h"

struct curandGenerator_st {
  uint64_t magic = 0;
  curandRngType type{};
  curandOrdering order{};
  bool host = false;  // results go to the host's memory, at the call
  uint64_t seed = 0, offset = 0;
  unsigned dimensions = 1;
  CUstream stream = nullptr;
  std::shared_ptr<aw::curand::Source> source;  // made anew after every option
  // The counts that were asked for last: their tables take a while.
  std::shared_ptr<const aw::curand::Counts> counts;
  double counts_of[2] = {};
};

namespace aw::curand {

constexpr double kMostLambda = 400000;  // NVIDIA's limit

template <Name Function, class Body, class... Args>
curandStatus_t api(Body&& body, const Args&... args) noexcept {
  return lib::call<curandStatus_t, Function>(body, args...);
}

// Throws NOT_INITIALIZED.
curandGenerator_st& use(curandGenerator_t generator);
bool is_quasi(curandRngType type);
Grain grain_of(curandRngType type);
void start(curandGenerator_st& generator);

}  // namespace aw::curand

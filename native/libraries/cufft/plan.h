// What the functions of cuFFT share: plans by their handles.
#pragma once

#include <cufft.h>
#include <cufftXt.h>

#include <map>
#include <memory>

#include "libraries/api.h"
#include "libraries/cufft/transform.h"
#include "libraries/work.h"

namespace aw::cufft {

using lib::require;
using lib::unsupported;

template <Name Function, class Body, class... Args>
cufftResult api(Body&& body, const Args&... args) noexcept {
  return lib::call<cufftResult, Function>(body, args...);
}

// Strides in numbers. Without `given` the rows follow each other, those of reals padded where the
// transform is in place.
struct Layout {
  bool given = false;
  std::array<int64_t, 3> embed{};
  int64_t step = 1, distance = 0;
};

struct Plan {
  CUstream stream = nullptr;
  std::shared_ptr<const Transform> transform;  // once the plan is made
  Problem problem{};
  Layout in, out;
  std::map<int, long long> properties;
  bool one_gpu = false;  // after cufftXtSetGPUs
};

// Throws INVALID_PLAN.
Plan& use(cufftHandle handle);
Plan& use_made(cufftHandle handle);
cufftHandle add(std::unique_ptr<Plan> plan);

// What a program asks for, as numbers of 64 bits.
struct Wanted {
  Problem problem;
  Layout in, out;
};
Wanted wanted(cufftType type, int rank, const long long* n, long long batch);
void make(Plan& plan, const Wanted& wanted);

// Gives the transform to the plan's stream.
void execute(const Plan& plan, void* in, void* out, bool forward);

// The bytes of the input or output in a layout of its own, for cufftXtMalloc.
size_t bytes_in(const Problem& problem);
size_t bytes_out(const Problem& problem);

}  // namespace aw::cufft

// cuFFT: execution, and what the extended interface adds for one device.
#include <cuda.h>

#include "libraries/cufft/plan.h"

using namespace aw::cufft;

namespace {

void run(cufftHandle handle, Kind kind, Number number, void* in, void* out, bool forward) {
  const Plan& plan = use_made(handle);
  require(plan.problem.kind == kind && plan.problem.number == number);
  execute(plan, in, out, forward);
}

bool is_forward(int direction) {
  require(direction == CUFFT_FORWARD || direction == CUFFT_INVERSE);
  return direction == CUFFT_FORWARD;
}

// Of a transform between reals and complex numbers the kind says the direction.
bool forward_of(const Plan& plan, int direction) {
  return plan.problem.kind == Kind::kComplex ? is_forward(direction)
                                             : plan.problem.kind == Kind::kRealToComplex;
}

}  // namespace

AW_EXPORT cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out,
                                   int direction) {
  return api<"cufftExecC2C">(
      [&] { run(plan, Kind::kComplex, Number::kFloat, in, out, is_forward(direction)); });
}

AW_EXPORT cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in,
                                   cufftDoubleComplex* out, int direction) {
  return api<"cufftExecZ2Z">(
      [&] { run(plan, Kind::kComplex, Number::kDouble, in, out, is_forward(direction)); });
}

AW_EXPORT cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return api<"cufftExecR2C">(
      [&] { run(plan, Kind::kRealToComplex, Number::kFloat, in, out, true); });
}

AW_EXPORT cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return api<"cufftExecD2Z">(
      [&] { run(plan, Kind::kRealToComplex, Number::kDouble, in, out, true); });
}

AW_EXPORT cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return api<"cufftExecC2R">(
      [&] { run(plan, Kind::kComplexToReal, Number::kFloat, in, out, false); });
}

AW_EXPORT cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return api<"cufftExecZ2D">(
      [&] { run(plan, Kind::kComplexToReal, Number::kDouble, in, out, false); });
}

AW_EXPORT cufftResult cufftXtExec(cufftHandle handle, void* in, void* out, int direction) {
  return api<"cufftXtExec">([&] {
    const Plan& plan = use_made(handle);
    execute(plan, in, out, forward_of(plan, direction));
  });
}

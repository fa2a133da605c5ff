// cuDNN's dropout on MIOpen's: another generator, so that the numbers drawn are others, of the same
// distribution.
#include "rocm/cudnn/dropout.h"

using namespace aw::dnn;

miopenDropoutDescriptor_t cudnnDropoutDescriptor_s::object() {
  return kept.get(miopen().miopenCreateDropoutDescriptor, miopen().miopenDestroyDropoutDescriptor,
                  "miopenCreateDropoutDescriptor");
}

namespace {

void keep(cudnnDropoutDescriptor_t desc, float rate, void* states, size_t bytes,
          unsigned long long seed) {
  auto& to = object(desc);
  require(rate >= 0 && rate <= 1, "a probability out of range");
  to.rate = rate, to.states = states, to.states_bytes = bytes, to.seed = seed;
}

}  // namespace

AW_CUDNN(cudnnCreateDropoutDescriptor, cudnnDropoutDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyDropoutDescriptor, cudnnDropoutDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnDropoutGetStatesSize, cudnnHandle_t handle, size_t* bytes) {
  require_pointer(bytes);
  MIOPEN(DropoutGetStatesSize, object(handle).miopen, bytes);
}
AW_CUDNN(cudnnDropoutGetReserveSpaceSize, cudnnTensorDescriptor_t x, size_t* bytes) {
  require_pointer(bytes);
  MIOPEN(DropoutGetReserveSpaceSize, object(x).counterpart(), bytes);
}
// Without states there is nothing to draw from: cuDNN allows it for what never drops anything.
AW_CUDNN(cudnnSetDropoutDescriptor, cudnnDropoutDescriptor_t desc, cudnnHandle_t handle, float rate,
         void* states, size_t bytes, unsigned long long seed) {
  keep(desc, rate, states, bytes, seed);
  if (states)
    MIOPEN(SetDropoutDescriptor, desc->object(), object(handle).miopen, rate, states, bytes, seed,
           false, false, MIOPEN_RNG_PSEUDO_XORWOW);
}
AW_CUDNN(cudnnRestoreDropoutDescriptor, cudnnDropoutDescriptor_t desc, cudnnHandle_t handle,
         float rate, void* states, size_t bytes, unsigned long long seed) {
  require_pointer(states);
  keep(desc, rate, states, bytes, seed);
  MIOPEN(RestoreDropoutDescriptor, desc->object(), object(handle).miopen, rate, states, bytes, seed,
         false, false, MIOPEN_RNG_PSEUDO_XORWOW);
}
AW_CUDNN(cudnnGetDropoutDescriptor, cudnnDropoutDescriptor_t desc, cudnnHandle_t, float* rate,
         void** states, unsigned long long* seed) {
  auto& from = object(desc);
  if (rate) *rate = from.rate;
  if (states) *states = from.states;
  if (seed) *seed = from.seed;
}
AW_CUDNN(cudnnDropoutForward, cudnnHandle_t handle, const cudnnDropoutDescriptor_t desc,
         const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t y_desc,
         void* y, void* reserve, size_t bytes) {
  require(object(desc).states, "a dropout descriptor without states");
  MIOPEN(DropoutForward, object(handle).miopen, desc->object(), object(x_desc).counterpart(),
         x_desc->counterpart(), x, object(y_desc).counterpart(), y, reserve, bytes);
}
AW_CUDNN(cudnnDropoutBackward, cudnnHandle_t handle, const cudnnDropoutDescriptor_t desc,
         const cudnnTensorDescriptor_t dy_desc, const void* dy,
         const cudnnTensorDescriptor_t dx_desc, void* dx, void* reserve, size_t bytes) {
  require(object(desc).states, "a dropout descriptor without states");
  MIOPEN(DropoutBackward, object(handle).miopen, desc->object(), object(dy_desc).counterpart(),
         dy_desc->counterpart(), dy, object(dx_desc).counterpart(), dx, reserve, bytes);
}

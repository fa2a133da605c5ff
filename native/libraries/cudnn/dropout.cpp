// cuDNN: dropout. The states hold a seed and a count of uses; the reserve a byte for each element.
#include "libraries/cudnn/dropout.h"

#include "libraries/cudnn/elementwise.h"

using namespace aw::dnn;

namespace {

void set_dropout(cudnnDropoutDescriptor_t desc, cudnnHandle_t handle, float rate, void* states,
                 size_t bytes, unsigned long long seed) {
  object(handle);
  auto& to = object(desc);
  require(rate >= 0 && rate <= 1, "a rate that is no probability");
  if (states)
    require(bytes >= sizeof(DropoutState), "too little room for states",
            CUDNN_STATUS_INVALID_VALUE);
  to.rate = rate, to.states = states, to.seed = seed;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* desc) {
  return api<"cudnnCreateDropoutDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t desc) {
  return api<"cudnnDestroyDropoutDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t* bytes) {
  return api<"cudnnDropoutGetStatesSize">([&] {
    object(handle), require_pointer(bytes);
    *bytes = sizeof(DropoutState);
  });
}
AW_EXPORT cudnnStatus_t cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t x, size_t* bytes) {
  return api<"cudnnDropoutGetReserveSpaceSize">([&] {
    require_pointer(bytes);
    *bytes = static_cast<size_t>(layout(x).elements());
  });
}
AW_EXPORT cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t desc,
                                                  cudnnHandle_t handle, float rate, void* states,
                                                  size_t bytes, unsigned long long seed) {
  return api<"cudnnSetDropoutDescriptor">([&] {
    set_dropout(desc, handle, rate, states, bytes, seed);
    if (!states) return;
    aw::lib::submit(object(handle).stream, "cudnn_set_dropout_states",
                    [=] { *static_cast<DropoutState*>(states) = {seed, 0}; });
  });
}
AW_EXPORT cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t desc,
                                                      cudnnHandle_t handle, float rate,
                                                      void* states, size_t bytes,
                                                      unsigned long long seed) {
  return api<"cudnnRestoreDropoutDescriptor">([&] {
    require_pointer(states);
    set_dropout(desc, handle, rate, states, bytes, seed);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetDropoutDescriptor(cudnnDropoutDescriptor_t desc,
                                                  cudnnHandle_t handle, float* rate, void** states,
                                                  unsigned long long* seed) {
  return api<"cudnnGetDropoutDescriptor">([&] {
    object(handle);
    auto& from = object(desc);
    give(rate, from.rate), give(states, from.states), give(seed, from.seed);
  });
}

AW_EXPORT cudnnStatus_t cudnnDropoutForward(cudnnHandle_t handle,
                                            const cudnnDropoutDescriptor_t desc,
                                            const cudnnTensorDescriptor_t x_desc, const void* x,
                                            const cudnnTensorDescriptor_t y_desc, void* y,
                                            void* reserve, size_t bytes) {
  return api<"cudnnDropoutForward">([&] {
    auto& h = object(handle);
    auto& from = object(desc);
    const View in = view(x_desc, x), to = view(y_desc, y);
    require(in.same_shape(to), "tensors of different shapes");
    require_pointer(reserve);
    require(bytes >= static_cast<size_t>(in.elements()), "too little room for the reserve",
            kTooSmall);
    require(from.states || from.rate == 0, "a dropout descriptor without states");
    const float rate = from.rate;
    auto* state = static_cast<DropoutState*>(from.states);
    work(h, "cudnn_dropout_forward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      Scratch<T> factors(in.elements());
      DropoutState none{};
      dropout_factors<T>(rate, state ? *state : none, in.elements(), factors.get());
      for (int64_t i = 0; i < in.elements(); ++i)
        static_cast<uint8_t*>(reserve)[i] = factors[i] != 0;
      map<T, 2>(to, 1, 0, {in, View(packed(type_of<T>(), in), factors.get())},
                each<2>([](T v, T f) { return f == 0 ? T{0} : v * f; }));
    });
  });
}

AW_EXPORT cudnnStatus_t cudnnDropoutBackward(cudnnHandle_t handle,
                                             const cudnnDropoutDescriptor_t desc,
                                             const cudnnTensorDescriptor_t dy_desc, const void* dy,
                                             const cudnnTensorDescriptor_t dx_desc, void* dx,
                                             void* reserve, size_t bytes) {
  return api<"cudnnDropoutBackward">([&] {
    auto& h = object(handle);
    const float rate = object(desc).rate;
    const View up = view(dy_desc, dy), to = view(dx_desc, dx);
    require(up.same_shape(to), "tensors of different shapes");
    require_pointer(reserve);
    require(bytes >= static_cast<size_t>(up.elements()), "too little room for the reserve",
            kTooSmall);
    work(h, "cudnn_dropout_backward", wide(to.type), [=](auto zero) {
      using T = decltype(zero);
      const T kept = rate < 1 ? T{1} / (T{1} - static_cast<T>(rate)) : T{0};
      map<T, 2>(to, 1, 0, {up, View(packed(CUDNN_DATA_UINT8, up), reserve)},
                each<2>([=](T d, T bit) { return bit == 0 ? T{0} : d * kept; }));
    });
  });
}

// What every function of cuDNN goes through: handles and descriptors, statuses with their words,
// work in the handle's stream.
#pragma once

#include <cstring>
#include <string>

#include "core/own_functions.h"
#include "libraries/api.h"
#include "libraries/cudnn/view.h"
#include "libraries/work.h"

namespace aw::dnn {

#ifdef AW_CUDA_12  // the statuses of version 9 that version 8 has not
constexpr cudnnStatus_t kNullPointer = CUDNN_STATUS_BAD_PARAM, kNotFinal = CUDNN_STATUS_BAD_PARAM,
                        kOutOfBound = CUDNN_STATUS_BAD_PARAM, kWrongShape = CUDNN_STATUS_BAD_PARAM,
                        kWrongType = CUDNN_STATUS_BAD_PARAM,
                        kWrongDescriptor = CUDNN_STATUS_BAD_PARAM,
                        kTooSmall = CUDNN_STATUS_BAD_PARAM;
#else
constexpr cudnnStatus_t kNullPointer = CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                        kNotFinal = CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                        kOutOfBound = CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND,
                        kWrongShape = CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                        kWrongType = CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE,
                        kWrongDescriptor = CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
                        kTooSmall = CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
#endif

template <Name Function, class Body, class... Args>
cudnnStatus_t api(Body&& body, const Args&... args) noexcept {
  return lib::call<cudnnStatus_t, Function>(body, args...);
}

// The words of the last failure of this thread, for cudnnGetLastErrorString.
std::string& last_error();
// Throws the status; its words are for cudnnGetLastErrorString.
[[noreturn]] void fail(cudnnStatus_t status, const std::string& words);
// What is not there: said once on stderr, too.
[[noreturn]] void unsupported(const std::string& words);

inline void require(bool condition, const char* words,
                    cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM) {
  if (!condition) fail(status, words);
}
inline void require_pointer(const void* pointer) {
  require(pointer, "a null pointer", kNullPointer);
}
template <class T, class V>
void give(T* to, const V& value) {
  if (to) *to = static_cast<T>(value);
}

// Begins with a word that says what it is, so that a handle of another kind is refused.
template <int Kind>
struct Object {
  uint64_t kind = kWord;
  static constexpr uint64_t kWord = 0x6e6e64000000u + Kind;
  ~Object() { kind = 0; }
  bool valid() const { return kind == kWord; }
};

template <class T>
T& object(T* handle) {
  require_pointer(handle);
  require(handle->valid(), "not a handle of this kind, or a destroyed one");
  return *handle;
}
template <class T>
void create(T** handle) {
  require_pointer(handle);
  *handle = new T;
}
template <class T>
void destroy(T* handle) {
  if (!handle) return;
  object(handle);
  delete handle;
}

}  // namespace aw::dnn

struct cudnnContext : aw::dnn::Object<1> {
  CUstream stream = nullptr;
};
struct cudnnTensorDescriptorStruct : aw::dnn::Object<2> {
  aw::dnn::Layout layout;  // of rank 0 before it is set
};
struct cudnnFilterDescriptorStruct : aw::dnn::Object<3> {
  aw::dnn::Layout layout;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
};
struct cudnnConvolutionDescriptorStruct : aw::dnn::Object<4> {
  int rank = 0;
  int pads[aw::dnn::kMostDims] = {}, strides[aw::dnn::kMostDims] = {},
      dilations[aw::dnn::kMostDims] = {};
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnReorderType_t reorder = CUDNN_DEFAULT_REORDER;
  int groups = 1;
};
struct cudnnActivationDescriptorStruct : aw::dnn::Object<5> {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_IDENTITY;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  double coefficient = 0, swish_beta = 1;
};
struct cudnnDropoutDescriptorStruct : aw::dnn::Object<6> {
  float rate = 0;
  void* states = nullptr;
  unsigned long long seed = 0;
};

namespace aw::dnn {

// What a descriptor says; it must have been set.
inline const Layout& layout(const cudnnTensorDescriptorStruct* desc) {
  const auto& found = object(desc).layout;
  require(found.rank > 0, "a tensor descriptor that was never set");
  return found;
}
inline const Layout& layout(const cudnnFilterDescriptorStruct* desc) {
  const auto& found = object(desc).layout;
  require(found.rank > 0, "a filter descriptor that was never set");
  return found;
}
inline View view(const cudnnTensorDescriptorStruct* desc, const void* data) {
  require_pointer(data);
  return {layout(desc), data};
}
inline View view(const cudnnFilterDescriptorStruct* desc, const void* data) {
  require_pointer(data);
  return {layout(desc), data};
}

// alpha and beta lie on the host: doubles where data are doubles, else floats.
inline double scalar(const void* value, cudnnDataType_t type) {
  require_pointer(value);
  if (type == CUDNN_DATA_DOUBLE) return *static_cast<const double*>(value);
  return static_cast<double>(*static_cast<const float*>(value));
}

// body(T{}) with float or double.
template <class Body>
void with_number(bool doubles, const Body& body) {
  if (doubles)
    body(double{});
  else
    body(float{});
}

// Puts body(T{}) into the handle's stream.
template <class Body>
void work(cudnnContext& handle, const char* name, bool doubles, Body body) {
  lib::submit(handle.stream, name, [doubles, body = std::move(body)] {
    try {
      with_number(doubles, body);
    } catch (const std::bad_alloc&) {
      anywarp_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "there is no memory of the host left for what cuDNN computes");
    }
  });
}

}  // namespace aw::dnn

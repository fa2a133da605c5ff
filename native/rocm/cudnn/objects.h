// Objects behind cuDNN's handles: what a program set, and MIOpen's counterpart, made when it is
// first needed so that nothing but the handle needs the library.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "rocm/cudnn/runtime.h"

namespace aw::dnn {

// A counterpart at MIOpen, destroyed with its owner.
template <class T>
struct Counterpart {
  T object = nullptr;
  miopenStatus_t (*destroy)(T) = nullptr;
  Counterpart() = default;
  Counterpart(const Counterpart&) = delete;
  Counterpart& operator=(const Counterpart&) = delete;
  ~Counterpart() {
    if (object && destroy) destroy(object);
  }
  T get(miopenStatus_t (*create)(T*), miopenStatus_t (*destroyer)(T), const char* name) {
    if (!object) {
      check(needed(create, name)(&object), name);
      destroy = destroyer;
    }
    return object;
  }
};

constexpr int kMostDims = 8;  // CUDNN_DIM_MAX

// Every object begins with a word that says what it is, so that a handle of another kind is
// refused.
template <int Kind>
struct Object {
  uint64_t kind = 0xA77A0000u + Kind;
  ~Object() { kind = 0; }
  bool valid() const { return kind == 0xA77A0000u + Kind; }
};

size_t element_bytes(cudnnDataType_t type);

// A number that no other state of any descriptor has: what follows from descriptors is kept by
// their numbers.
uint64_t next_stamp();

}  // namespace aw::dnn

struct cudnnTensorDescriptor_s : aw::dnn::Object<1> {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int> dims, strides;
  // A filter's format; tensors have strides only.
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  uint64_t stamp = 0;

  void set(cudnnDataType_t data_type, int count, const int* new_dims, const int* new_strides);
  void set_packed(cudnnDataType_t data_type, cudnnTensorFormat_t order, int count,
                  const int* new_dims);
  miopenTensorDescriptor_t counterpart() {
    return current_ ? counterpart_.object : make_counterpart();
  }
  size_t bytes() const;  // from the first to the last element
  size_t elements() const;
  bool same_shape(const cudnnTensorDescriptor_s& other) const { return dims == other.dims; }

 private:
  miopenTensorDescriptor_t make_counterpart();
  aw::dnn::Counterpart<miopenTensorDescriptor_t> counterpart_;
  bool current_ = false;
};
// A filter is a tensor whose strides follow from its format.
struct cudnnFilterDescriptor_s {
  cudnnTensorDescriptor_s tensor;
};

struct cudnnConvolutionDescriptor_s : aw::dnn::Object<3> {
  std::vector<int> pads, strides, dilations;
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  cudnnReorderType_t reorder = CUDNN_DEFAULT_REORDER;
  int groups = 1;

  miopenConvolutionDescriptor_t counterpart(bool deterministic = false) {
    return current_ && deterministic == deterministic_ ? counterpart_.object
                                                       : make_counterpart(deterministic);
  }
  uint64_t stamp = 0;
  void changed() { current_ = false, stamp = aw::dnn::next_stamp(); }

 private:
  miopenConvolutionDescriptor_t make_counterpart(bool deterministic);
  aw::dnn::Counterpart<miopenConvolutionDescriptor_t> counterpart_;
  bool current_ = false, deterministic_ = false;
};

struct cudnnActivationDescriptor_s : aw::dnn::Object<4> {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_IDENTITY;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  double coefficient = 0, swish_beta = 1;
  bool current = false;
  aw::dnn::Counterpart<miopenActivationDescriptor_t> kept;
  miopenActivationDescriptor_t counterpart() { return current ? kept.object : make_counterpart(); }
  miopenActivationDescriptor_t make_counterpart();
};

namespace aw::dnn {

// One way of MIOpen's to do a convolution.
struct Solution {
  uint64_t id = 0;
  miopenConvAlgorithm_t algorithm = miopenConvolutionAlgoGEMM;
  float time = 0;
  size_t workspace = 0;
  bool deterministic = false;
};

// The last choice of a solution, and what it was chosen for.
struct Choice {
  uint64_t first = 0, second = 0, out = 0, conv = 0;
  int algo = -1;
  size_t workspace = 0;
  Solution solution;
};

}  // namespace aw::dnn

struct cudnnHandle_s : aw::dnn::Object<2> {
  miopenHandle_t miopen = nullptr;
  cudaStream_t stream = nullptr;
  void* blas = nullptr;  // rocBLAS's handle, made when a graph multiplies
  int (*destroy_blas)(void*) = nullptr;
  std::mutex mutex;
  std::map<std::vector<int>, std::vector<aw::dnn::Solution>> solutions;
  aw::dnn::Choice chosen[3];  // by direction
};

namespace aw::dnn {

template <class T>
T& object(T* handle) {
  require_pointer(handle);
  require(handle->valid(), "not a handle of this kind, or a destroyed one");
  return *handle;
}
inline cudnnTensorDescriptor_s& object(cudnnFilterDescriptor_s* handle) {
  require_pointer(handle);
  return object(&handle->tensor);
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

// What a program gives as alpha or beta: double for double tensors, else float. MIOpen takes
// floats, so that a double which is none is refused.
float scalar(const void* value, cudnnDataType_t type);

// y = alpha * compute() + beta * y, where MIOpen computes with alpha 1 and beta 0 only: into y and
// scaled there, or beside it and added.
void blend_slowly(cudnnHandle_s& handle, float alpha, float beta, cudnnTensorDescriptor_s& desc,
                  void* y, const std::function<void(void*)>& compute);
template <class Compute>
void blend(cudnnHandle_s& handle, float alpha, float beta, cudnnTensorDescriptor_s& desc, void* y,
           const Compute& compute) {
  if (__builtin_expect(alpha == 1 && beta == 0, 1)) return compute(y);
  blend_slowly(handle, alpha, beta, desc, y, compute);
}

// c = alpha * a + beta * b, all of c's shape or, b, with ones to be repeated.
void add_tensors(cudnnHandle_s& handle, float alpha, cudnnTensorDescriptor_s& a, const void* a_data,
                 float beta, cudnnTensorDescriptor_s& b, const void* b_data,
                 cudnnTensorDescriptor_s& c, void* c_data);

constexpr float kOne = 1, kZero = 0;

}  // namespace aw::dnn

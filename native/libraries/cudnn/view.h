// Tensors as everything here sees them: memory, a type, dimensions and strides; rows of them as
// numbers to compute with.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace aw::dnn {

constexpr int kMostDims = 8;  // CUDNN_DIM_MAX

constexpr int kByteBoolean = 22;  // CUDNN_DATA_BYTE_BOOLEAN, which cuDNN 8 has not

// Bytes of an element; 0 where we have none such. CUDNN_DATA_BOOLEAN is a bit, and has 1 here.
size_t element_bytes(cudnnDataType_t type);
inline bool known(cudnnDataType_t type) { return element_bytes(type) != 0; }
// Numbers that a float does not hold are computed with as doubles.
inline bool wide(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_INT32 || type == CUDNN_DATA_INT64;
}

template <class T>
constexpr cudnnDataType_t type_of() {
  return sizeof(T) == sizeof(double) ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

struct Layout {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int rank = 0;
  int64_t dims[kMostDims] = {}, strides[kMostDims] = {};

  int64_t elements() const;
  int64_t span() const;  // elements from the first to the last
  size_t bytes() const;
  bool same_shape(const Layout& other) const;
  bool row_major() const;  // without gaps, the last dimension first
  bool distinct() const;   // no two elements share a place
};

Layout make_layout(cudnnDataType_t type, int rank, const int64_t* dims, const int64_t* strides);
// Row-major, of the shape of another.
Layout packed(cudnnDataType_t type, const Layout& shape);
Layout packed(cudnnDataType_t type, std::initializer_list<int64_t> dims);

struct View : Layout {
  unsigned char* data = nullptr;
  View() = default;
  View(const Layout& layout, const void* memory)
      : Layout(layout), data(static_cast<unsigned char*>(const_cast<void*>(memory))) {}
};

// Whether dimensions of `small` equal those of `shape` or are 1.
bool spreads(const Layout& small, const Layout& shape);
// The same memory with the dimensions of `shape`: what is 1 is repeated.
View spread(const View& small, const Layout& shape);

// `count` elements, `stride` apart, from element `at` on, as T: where they lie, or in `room`.
template <class T>
const T* load_row(const View& view, int64_t at, int64_t stride, size_t count, T* room);
// Where a row may be computed in place, else null.
template <class T>
T* row_place(const View& view, int64_t at, int64_t stride) {
  if (view.type != type_of<T>() || stride != 1) return nullptr;
  return reinterpret_cast<T*>(view.data) + at;
}
// element = alpha * row + beta * element, which is not read where beta is 0. Integers are rounded
// to nearest and saturated.
template <class T>
void store_row(const View& view, int64_t at, int64_t stride, size_t count, const T* row, T alpha,
               T beta);

// Memory of the host for the time of one piece of work, which is kept for the next one.
void* take_scratch(size_t bytes);
void give_scratch(void* memory, size_t bytes);
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count = 0) { reset(count); }
  Scratch(Scratch&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (data_) give_scratch(data_, bytes_);
  }
  void reset(int64_t count) {
    if (data_) give_scratch(data_, bytes_);
    bytes_ = static_cast<size_t>(count) * sizeof(T);
    data_ = count ? static_cast<T*>(take_scratch(bytes_)) : nullptr;
  }
  T* get() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  T* data_ = nullptr;
  size_t bytes_ = 0;
};

// A whole tensor as row-major numbers: where it lies, or a copy.
template <class T>
class Dense {
 public:
  explicit Dense(const View& view);
  const T* get() const { return data_; }
  const T& operator[](int64_t i) const { return data_[i]; }

 private:
  Scratch<T> copy_;
  const T* data_;
};
// The way back: row-major numbers into a tensor.
template <class T>
void put(const View& to, const T* dense, T alpha = 1, T beta = 0);

}  // namespace aw::dnn

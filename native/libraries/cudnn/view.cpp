#include "libraries/cudnn/view.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include "libraries/cudnn/elementwise.h"

namespace aw::dnn {

int64_t Layout::elements() const {
  int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= dims[i];
  return product;
}
int64_t Layout::span() const {
  int64_t last = 0;
  for (int i = 0; i < rank; ++i) last += (dims[i] - 1) * strides[i];
  return last + 1;
}
size_t Layout::bytes() const {
  const auto count = static_cast<size_t>(span());
  return type == CUDNN_DATA_BOOLEAN ? (count + 7) / 8 : count * element_bytes(type);
}
bool Layout::same_shape(const Layout& other) const {
  return rank == other.rank && std::equal(dims, dims + rank, other.dims);
}
bool Layout::row_major() const {
  int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (dims[i] != 1 && strides[i] != step) return false;
    step *= dims[i];
  }
  return true;
}
bool Layout::distinct() const {
  std::vector<std::pair<int64_t, int64_t>> by_stride;
  for (int i = 0; i < rank; ++i)
    if (dims[i] > 1) by_stride.emplace_back(strides[i], dims[i]);
  std::sort(by_stride.begin(), by_stride.end());
  int64_t reach = 1;
  for (auto [stride, dim] : by_stride) {
    if (stride < reach) return false;
    reach = stride * (dim - 1) + reach;
  }
  return true;
}

Layout make_layout(cudnnDataType_t type, int rank, const int64_t* dims, const int64_t* strides) {
  Layout made;
  made.type = type, made.rank = rank;
  std::copy_n(dims, rank, made.dims);
  std::copy_n(strides, rank, made.strides);
  return made;
}
Layout packed(cudnnDataType_t type, const Layout& shape) {
  Layout made;
  made.type = type, made.rank = shape.rank;
  int64_t step = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    made.dims[i] = shape.dims[i], made.strides[i] = step;
    step *= shape.dims[i];
  }
  return made;
}
Layout packed(cudnnDataType_t type, std::initializer_list<int64_t> dims) {
  Layout shape;
  shape.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), shape.dims);
  return packed(type, shape);
}

bool spreads(const Layout& small, const Layout& shape) {
  if (small.rank != shape.rank) return false;
  for (int i = 0; i < shape.rank; ++i)
    if (small.dims[i] != 1 && small.dims[i] != shape.dims[i]) return false;
  return true;
}
View spread(const View& small, const Layout& shape) {
  View out = small;
  for (int i = 0; i < shape.rank; ++i) {
    if (small.dims[i] == 1) out.strides[i] = 0;
    out.dims[i] = shape.dims[i];
  }
  return out;
}

namespace {

// Blocks that nobody uses, by size; a fixed sum of them is kept.
struct Shelf {
  std::mutex mutex;
  std::multimap<size_t, void*> blocks;
  size_t held = 0;
};
Shelf& shelf() {
  static auto& only = *new Shelf;
  return only;
}
constexpr size_t kHeldMost = size_t{1} << 28, kAlignment = 64;

size_t rounded(size_t bytes) {  // to an eighth of its size, so that blocks fit again
  size_t step = kAlignment;
  while (step * 8 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

}  // namespace

void* take_scratch(size_t bytes) {
  bytes = rounded(bytes);
  {
    std::lock_guard lock(shelf().mutex);
    auto found = shelf().blocks.find(bytes);
    if (found != shelf().blocks.end()) {
      void* memory = found->second;
      shelf().blocks.erase(found);
      shelf().held -= bytes;
      return memory;
    }
  }
  void* memory = aligned_alloc(kAlignment, bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void give_scratch(void* memory, size_t bytes) {
  bytes = rounded(bytes);
  {
    std::lock_guard lock(shelf().mutex);
    if (shelf().held + bytes <= kHeldMost) {
      shelf().blocks.emplace(bytes, memory);
      shelf().held += bytes;
      return;
    }
  }
  free(memory);
}

template <class T>
Dense<T>::Dense(const View& view) {
  if (view.type == type_of<T>() && view.row_major()) {
    data_ = reinterpret_cast<const T*>(view.data);
    return;
  }
  copy_.reset(view.elements());
  data_ = copy_.get();
  map<T, 1>(View(packed(type_of<T>(), view), copy_.get()), 1, 0, {view}, Copy{});
}

template <class T>
void put(const View& to, const T* dense, T alpha, T beta) {
  map<T, 1>(to, alpha, beta, {View(packed(type_of<T>(), to), dense)}, Copy{});
}

template class Dense<float>;
template class Dense<double>;
template void put(const View&, const float*, float, float);
template void put(const View&, const double*, double, double);

}  // namespace aw::dnn

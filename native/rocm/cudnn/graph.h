// A graph as a list of steps: each operation one or a few calls of MIOpen, what lies between them
// in the workspace.
#pragma once

#include "rocm/cudnn/backend.h"
#include "rocm/cudnn/convolution.h"

namespace aw::dnn {

// A tensor of the graph. A virtual one has the type of what it is made from, so that MIOpen
// computes with one type all through: cuDNN would keep more digits between operations.
struct Slot {
  int64_t id = 0;
  bool is_virtual = false, by_value = false;
  cudnnDataType_t declared = CUDNN_DATA_FLOAT;
  cudnnTensorDescriptor_s desc;
  size_t offset = 0;   // in the workspace, of a virtual one
  bool known = false;  // an earlier step or the program makes it
};

struct Run {
  cudnnHandle_s& handle;
  const std::map<int64_t, void*>& pointers;
  unsigned char* workspace;
  size_t scratch;  // behind the virtual tensors, for a step's own use
  size_t scratch_bytes;

  void* data(const Slot& slot) const;
  double value(const Slot& slot) const;  // of a scalar that the program gives in host memory
  void* own() const { return workspace + scratch; }
};

using Step = std::function<void(const Run&)>;

struct Builder {
  cudnnHandle_s& handle;
  std::map<int64_t, std::unique_ptr<Slot>> slots;
  std::vector<Step> steps;
  std::vector<std::shared_ptr<void>> kept;  // descriptors that steps refer to
  size_t virtual_bytes = 0, scratch_bytes = 0;

  Slot& slot(const Content& operation, cudnnBackendAttributeName_t name);
  // What an operation reads, and where it writes: a virtual result takes the type of `like`.
  Slot& input(const Content& operation, cudnnBackendAttributeName_t name) {
    return slot(operation, name);
  }
  Slot& output(const Content& operation, cudnnBackendAttributeName_t name, const Slot& like);
  template <class T>
  T& keep(T* made) {
    kept.emplace_back(std::shared_ptr<T>(made));
    return *made;
  }
  void need_scratch(size_t bytes) { scratch_bytes = std::max(scratch_bytes, bytes); }
};

// One operation each; NOT_SUPPORTED where MIOpen has no way to do it.
void add_convolution(Builder& builder, const Content& operation);
void add_pointwise(Builder& builder, const Content& operation);
void add_reduction(Builder& builder, const Content& operation);
void add_matmul(Builder& builder, const Content& operation);

}  // namespace aw::dnn

// What the functions of cuTENSOR share: descriptors, and what an operation is made of.
#pragma once

#include <cutensor.h>

#include <memory>
#include <string>
#include <vector>

#include "libraries/api.h"
#include "libraries/work.h"

template <uint64_t Mark>
struct CutensorObject {
  uint64_t mark = Mark;
};
struct cutensorHandleStruct : CutensorObject<0x63740001> {};
struct cutensorComputeDescriptorStruct : CutensorObject<0x63740002> {
  explicit cutensorComputeDescriptorStruct(cudaDataType_t as) : type(as) {}
  cudaDataType_t type;  // sums are in this or more
};
struct cutensorTensorDescriptorStruct : CutensorObject<0x63740003> {
  cudaDataType_t type = CUDA_R_32F;
  std::vector<int64_t> extents, strides;
};

// Blocks that are not zero: where each lies among the sections of its modes, and how it lies in its
// memory.
struct cutensorBlockSparseTensorDescriptorStruct : CutensorObject<0x63740007> {
  cudaDataType_t type = CUDA_R_32F;
  std::vector<std::vector<int64_t>> sections;     // extents, by mode
  std::vector<std::vector<int32_t>> coordinates;  // by block
  std::vector<cutensorTensorDescriptorStruct> blocks;
  bool operator==(const cutensorBlockSparseTensorDescriptorStruct& other) const {
    return type == other.type && sections == other.sections && coordinates == other.coordinates;
  }
};

namespace aw::tensor {

using lib::require;
using lib::unsupported;

enum class Kind {
  kElementwise,
  kPermutation,
  kReduction,
  kContraction,
  kTrinaryContraction,
  kBlockSparse
};

// A tensor with a name for each of its dimensions, and what is done to each element first.
struct Operand {
  cutensorTensorDescriptorStruct tensor;
  std::vector<int32_t> modes;
  cutensorOperator_t op = CUTENSOR_OP_IDENTITY;

  bool has(int32_t mode) const { return place(mode) < modes.size(); }
  int64_t stride(int32_t mode) const { return has(mode) ? tensor.strides[place(mode)] : 0; }
  int64_t extent(int32_t mode) const { return has(mode) ? tensor.extents[place(mode)] : 1; }
  size_t place(int32_t mode) const;
  int64_t elements() const;
};

}  // namespace aw::tensor

struct cutensorOperationDescriptorStruct : CutensorObject<0x63740004> {
  aw::tensor::Kind kind{};
  // Those that the kind has, in their order; the last of them is the one that is written.
  std::vector<aw::tensor::Operand> operands;
  cutensorOperator_t first = CUTENSOR_OP_ADD, second = CUTENSOR_OP_ADD;
  cudaDataType_t scalar = CUDA_R_32F;
  bool wide = false;  // sums in doubles
  // Of kBlockSparse: what the operands are made of.
  std::vector<std::shared_ptr<const cutensorBlockSparseTensorDescriptorStruct>> blocks;
  int32_t tag = 0;
};
struct cutensorPlanPreferenceStruct : CutensorObject<0x63740005> {
  int32_t values[7] = {0, CUTENSOR_CACHE_MODE_PEDANTIC, 4, CUTENSOR_ALGO_DEFAULT, 0, 0, 0};
};
struct cutensorPlanStruct : CutensorObject<0x63740006> {
  cutensorOperationDescriptorStruct operation;
};

namespace aw::tensor {

using Operation = cutensorOperationDescriptorStruct;

template <Name Function, class Body, class... Args>
cutensorStatus_t api(Body&& body, const Args&... args) noexcept {
  return lib::call<cutensorStatus_t, Function>(body, args...);
}

template <uint64_t Mark>
void check(const CutensorObject<Mark>* object) {
  require(object && object->mark == Mark);
}
inline void check_handle(cutensorHandle_t handle) {
  require(handle && handle->mark == cutensorHandleStruct{}.mark, CUTENSOR_STATUS_NOT_INITIALIZED);
}
template <class T>
void destroy(T* object) {
  if (!object) return;
  check(object);
  object->mark = 0;
  delete object;
}

bool is_complex(cudaDataType_t type);
size_t element_bytes(cudaDataType_t type);  // throws NOT_SUPPORTED for others than six types

// The scalars and tensors of one call, by operand; there is no scalar for the one that is written.
struct Call {
  const Operation& operation;
  std::vector<const void*> scalars, data;
  CUstream stream;
};
void elementwise(const Call& call);
void reduction(const Call& call);
void contraction(const Call& call);
void contraction_of_three(const Call& call);  // data: A, B, C, D, E

// The same for blocks: `a` ... `d` point to those of each tensor.
struct BlockCall {
  const Operation& operation;
  const void *alpha, *beta;
  const void *const *a, *const *b, *const *c;
  void* const* d;
  CUstream stream;
};
void contraction_of_blocks(const BlockCall& call);

// What the descriptors of operations share.
Operand operand(const cutensorTensorDescriptorStruct* tensor, const int32_t* modes,
                cutensorOperator_t op);
Operand target(const cutensorTensorDescriptorStruct* tensor, const int32_t* modes);
Operation* finished(Operation operation, const cutensorComputeDescriptorStruct* compute);
// ... of a contraction: the last two operands are what is added to and what is written.
Operation* contracted(Operation operation, const cutensorComputeDescriptorStruct* compute);

}  // namespace aw::tensor

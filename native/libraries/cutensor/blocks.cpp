// cuTENSOR: tensors of blocks, and their contractions, block by block.
#include <algorithm>
#include <map>

#include "libraries/cutensor/walk.h"

using namespace aw::tensor;

namespace aw::tensor {
namespace {

using Blocks = cutensorBlockSparseTensorDescriptorStruct;

// An operand's block as an operand of its own.
Operand block(const Operation& operation, size_t operand, size_t number) {
  Operand made = operation.operands[operand];
  made.tensor = operation.blocks[operand]->blocks[number];
  return made;
}

// Where a block lies along some modes.
std::vector<int32_t> along(const Operand& operand, const Blocks& blocks, size_t number,
                           const std::vector<int32_t>& modes) {
  std::vector<int32_t> found;
  for (int32_t mode : modes) found.push_back(blocks.coordinates[number][operand.place(mode)]);
  return found;
}

}  // namespace

void contraction_of_blocks(const BlockCall& call) {
  const Operation& operation = call.operation;
  const auto &a = operation.operands[0], &b = operation.operands[1], &d = operation.operands[3];
  const Blocks &A = *operation.blocks[0], &B = *operation.blocks[1], &D = *operation.blocks[3];
  require(call.alpha && call.beta && (call.a || A.blocks.empty()) && (call.b || B.blocks.empty()) &&
          (call.d || D.blocks.empty()));
  computed(operation, [&](auto zero) {
    using W = decltype(zero);
    const W beta = scalar<W>(operation, call.beta);
    require(call.c || beta == W(0) || D.blocks.empty());
    std::vector<int32_t> of_a, of_b, common;  // modes that a pair of blocks shares with a result
    for (int32_t mode : d.modes) (a.has(mode) ? of_a : of_b).push_back(mode);
    for (int32_t mode : a.modes)
      if (b.has(mode)) common.push_back(mode);
    std::map<std::vector<int32_t>, std::vector<size_t>> left, right;
    for (size_t i = 0; i < A.blocks.size(); ++i) left[along(a, A, i, of_a)].push_back(i);
    for (size_t i = 0; i < B.blocks.size(); ++i) right[along(b, B, i, common)].push_back(i);
    Operation product = operation;
    product.kind = Kind::kContraction;
    product.blocks.clear();
    // Scalars of the operation's type: what comes after the first product adds to it.
    alignas(16) char one[16] = {};
    with_element<W>(operation.scalar, [&](auto element) {
      put(W(1), element);
      std::memcpy(one, &element, sizeof element);
    });
    for (size_t k = 0; k < D.blocks.size(); ++k) {
      product.operands[2] = block(operation, 2, k), product.operands[3] = block(operation, 3, k);
      const void* beside = call.c ? call.c[k] : nullptr;
      const void* factor = call.beta;
      auto found = left.find(along(d, D, k, of_a));
      for (size_t i : found == left.end() ? std::vector<size_t>{} : found->second) {
        auto partners = right.find(along(a, A, i, common));
        if (partners == right.end()) continue;
        for (size_t j : partners->second) {
          if (along(b, B, j, of_b) != along(d, D, k, of_b)) continue;
          product.operands[0] = block(operation, 0, i),
          product.operands[1] = block(operation, 1, j);
          contraction({product,
                       {call.alpha, factor},
                       {call.a[i], call.b[j], beside, call.d[k]},
                       call.stream});
          product.operands[2] = product.operands[3];
          beside = call.d[k], factor = one;
        }
      }
      if (factor != call.beta) continue;
      Operation move = product;  // no product: what is there, by its factor
      move.kind = Kind::kPermutation;
      move.operands = {product.operands[2], product.operands[3]};
      elementwise({move, {call.beta}, {beside, call.d[k]}, call.stream});
    }
  });
}

}  // namespace aw::tensor

AW_EXPORT cutensorStatus_t cutensorCreateBlockSparseTensorDescriptor(
    cutensorHandle_t handle, cutensorBlockSparseTensorDescriptor_t* desc, const uint32_t rank,
    const uint64_t count, const uint32_t sections[], const int64_t extents[],
    const int32_t coordinates[], const int64_t strides[], cudaDataType_t type) {
  return api<"cutensorCreateBlockSparseTensorDescriptor">([&] {
    check_handle(handle);
    require(desc && (!rank || (sections && extents)) && (!rank || !count || coordinates));
    element_bytes(type);
    cutensorBlockSparseTensorDescriptorStruct made;
    made.type = type;
    for (uint32_t mode = 0; mode < rank; ++mode) {
      require(sections[mode] > 0);
      made.sections.emplace_back(extents, extents + sections[mode]);
      for (int64_t extent : made.sections.back()) require(extent > 0);
      extents += sections[mode];
    }
    for (uint64_t number = 0; number < count; ++number) {
      cutensorTensorDescriptorStruct block;
      block.type = type;
      std::vector<int32_t> place;
      int64_t next = 1;
      for (uint32_t mode = 0; mode < rank; ++mode) {
        const int32_t at = coordinates[number * rank + mode];
        require(at >= 0 && static_cast<uint32_t>(at) < sections[mode]);
        place.push_back(at);
        block.extents.push_back(made.sections[mode][static_cast<size_t>(at)]);
        block.strides.push_back(strides ? strides[number * rank + mode] : next);
        next *= block.extents.back();
      }
      made.coordinates.push_back(place), made.blocks.push_back(block);
    }
    auto sorted = made.coordinates;
    std::sort(sorted.begin(), sorted.end());
    require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());  // each block once
    *desc = new cutensorBlockSparseTensorDescriptorStruct(made);
  });
}

AW_EXPORT cutensorStatus_t
cutensorDestroyBlockSparseTensorDescriptor(cutensorBlockSparseTensorDescriptor_t desc) {
  return api<"cutensorDestroyBlockSparseTensorDescriptor">([&] { destroy(desc); });
}

AW_EXPORT cutensorStatus_t cutensorCreateBlockSparseContraction(
    const cutensorHandle_t handle, cutensorOperationDescriptor_t* desc,
    const cutensorBlockSparseTensorDescriptor_t a, const int32_t modes_a[], cutensorOperator_t op_a,
    const cutensorBlockSparseTensorDescriptor_t b, const int32_t modes_b[], cutensorOperator_t op_b,
    const cutensorBlockSparseTensorDescriptor_t c, const int32_t modes_c[], cutensorOperator_t op_c,
    const cutensorBlockSparseTensorDescriptor_t d, const int32_t modes_d[],
    const cutensorComputeDescriptor_t compute) {
  return api<"cutensorCreateBlockSparseContraction">([&] {
    check_handle(handle);
    require(desc);
    Operation made;
    made.kind = Kind::kBlockSparse;
    struct Given {
      const cutensorBlockSparseTensorDescriptorStruct* tensor;
      const int32_t* modes;
      cutensorOperator_t op;
    };
    const Given given[] = {{a, modes_a, op_a},
                           {b, modes_b, op_b},
                           {c, modes_c, op_c},
                           {d, modes_d, CUTENSOR_OP_IDENTITY}};
    for (const Given& one : given) {
      check(one.tensor);
      cutensorTensorDescriptorStruct whole;
      whole.type = one.tensor->type;
      for (const auto& sections : one.tensor->sections) {
        int64_t sum = 0;
        for (int64_t extent : sections) sum += extent;
        whole.extents.push_back(sum), whole.strides.push_back(0);
      }
      made.operands.push_back(operand(&whole, one.modes, one.op));
      made.blocks.push_back(
          std::make_shared<const cutensorBlockSparseTensorDescriptorStruct>(*one.tensor));
    }
    // Sections of a mode are the same wherever it is; C has the blocks of D, in their order.
    for (size_t i = 0; i < 4; ++i)
      for (size_t j = 0; j < i; ++j)
        for (int32_t mode : made.operands[i].modes)
          if (const Operand& other = made.operands[j]; other.has(mode))
            require(made.blocks[i]->sections[made.operands[i].place(mode)] ==
                    made.blocks[j]->sections[other.place(mode)]);
    require(*c == *d && made.operands[2].modes == made.operands[3].modes);
    *desc = contracted(std::move(made), compute);
  });
}

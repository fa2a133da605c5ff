// cuTENSOR: handles, descriptors, plans and their attributes.
#include <algorithm>
#include <cstring>
#include <fstream>

#include "libraries/cutensor/tensors.h"
#include "libraries/data_types.h"

using namespace aw::tensor;

namespace aw::tensor {

size_t Operand::place(int32_t mode) const {
  return static_cast<size_t>(std::find(modes.begin(), modes.end(), mode) - modes.begin());
}
int64_t Operand::elements() const {
  int64_t product = 1;
  for (int64_t extent : tensor.extents) product *= extent;
  return product;
}

bool is_complex(cudaDataType_t type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

size_t element_bytes(cudaDataType_t type) {
  const int64_t bytes = lib::float_bytes(type);
  if (!bytes)
    unsupported("tensors of type " + std::to_string(type) + " (a number of cudaDataType)");
  return static_cast<size_t>(bytes);
}

Operand operand(const cutensorTensorDescriptorStruct* tensor, const int32_t* modes,
                cutensorOperator_t op) {
  check(tensor);
  const size_t rank = tensor->extents.size();
  require(modes || !rank);
  Operand made{*tensor, {}, op};
  for (size_t i = 0; i < rank; ++i) {
    require(!made.has(modes[i]));  // no diagonals
    made.modes.push_back(modes[i]);
  }
  const bool alone = op == CUTENSOR_OP_IDENTITY || op == CUTENSOR_OP_CONJ;
  const bool unary = op == CUTENSOR_OP_SQRT || (op >= CUTENSOR_OP_RELU && op <= CUTENSOR_OP_TANH) ||
                     (op >= CUTENSOR_OP_EXP && op <= CUTENSOR_OP_SOFT_SIGN);
  require(alone || unary);
  if (!alone && is_complex(tensor->type)) unsupported("operators of complex numbers but CONJ");
  return made;
}
// The tensor that is written.
Operand target(const cutensorTensorDescriptorStruct* tensor, const int32_t* modes) {
  return operand(tensor, modes, CUTENSOR_OP_IDENTITY);
}

static void check_binary(cutensorOperator_t op, bool complex) {
  require(op == CUTENSOR_OP_ADD || op == CUTENSOR_OP_MUL || op == CUTENSOR_OP_MAX ||
          op == CUTENSOR_OP_MIN);
  if (complex && op > CUTENSOR_OP_MUL) unsupported("greatest and least of complex numbers");
}

// Fills in what follows from types and checks what operands must share.
Operation* finished(Operation operation, const cutensorComputeDescriptorStruct* compute) {
  check(compute);
  auto& operands = operation.operands;
  const Operand& out = operands.back();
  bool complex = false, wide = compute->type == CUDA_R_64F;
  for (auto& one : operands) {
    complex |= is_complex(one.tensor.type);
    wide |= one.tensor.type == CUDA_R_64F || one.tensor.type == CUDA_C_64F;
    for (auto& other : operands)
      for (int32_t mode : one.modes)
        require(!other.has(mode) || one.extent(mode) == other.extent(mode));
  }
  if (complex && !is_complex(out.tensor.type)) unsupported("real results of complex tensors");
  check_binary(operation.first, complex), check_binary(operation.second, complex);
  operation.wide = wide;
  operation.scalar =
      complex ? (wide ? CUDA_C_64F : CUDA_C_32F) : (wide ? CUDA_R_64F : compute->type);
  return new Operation(std::move(operation));
}

// What stands beside the one that is written has its layout: cuTENSOR's rule.
static void check_same(const Operand& c, const Operand& d) {
  for (int32_t mode : c.modes) require(d.has(mode));
  require(c.modes.size() == d.modes.size());
}
Operation* contracted(Operation operation, const cutensorComputeDescriptorStruct* compute) {
  const auto& operands = operation.operands;
  const size_t inputs = operands.size() - 2;
  const Operand &C = operands[inputs], &D = operands[inputs + 1];
  check_same(C, D);
  for (size_t i = 0; i <= inputs; ++i)
    if (operands[i].op != CUTENSOR_OP_IDENTITY && operands[i].op != CUTENSOR_OP_CONJ)
      unsupported("operators within contractions but CONJ");
  auto count = [&](int32_t mode) {
    return std::count_if(operands.begin(), operands.end() - 2,
                         [&](const Operand& one) { return one.has(mode); });
  };
  for (int32_t mode : D.modes)
    if (!count(mode)) unsupported("modes of a result that no input has");
  for (size_t i = 0; i < inputs; ++i)
    for (int32_t mode : operands[i].modes)
      if (!D.has(mode) && count(mode) < 2) unsupported("sums over modes of one input");
  Operation* made = finished(std::move(operation), compute);
  if (made->scalar == CUDA_R_16F || made->scalar == CUDA_R_16BF) made->scalar = CUDA_R_32F;
  return made;
}

}  // namespace aw::tensor

namespace {

cutensorComputeDescriptorStruct halves(CUDA_R_16F), brains(CUDA_R_16BF), singles(CUDA_R_32F),
    doubles(CUDA_R_64F);

// Every mode of `in` is one of `out`.
void check_within(const Operand& in, const Operand& out) {
  for (int32_t mode : in.modes) require(out.has(mode));
}

template <class T>
void give(void* to, size_t bytes, T value) {
  require(to && bytes == sizeof value);
  memcpy(to, &value, sizeof value);
}

float flops(const Operation& operation) {
  double product = 2;
  std::vector<int32_t> seen;
  for (auto& one : operation.operands)
    for (int32_t mode : one.modes)
      if (std::find(seen.begin(), seen.end(), mode) == seen.end())
        seen.push_back(mode), product *= static_cast<double>(one.extent(mode));
  return static_cast<float>(product);
}
float moved(const Operation& operation) {
  double bytes = 0;
  for (auto& one : operation.operands)
    bytes +=
        static_cast<double>(one.elements()) * static_cast<double>(element_bytes(one.tensor.type));
  return static_cast<float>(bytes);
}

int32_t& preference(cutensorPlanPreference_t given, cutensorPlanPreferenceAttribute_t attribute,
                    const void* buffer, size_t bytes) {
  check(given);
  require(buffer && attribute <= CUTENSOR_PLAN_PREFERENCE_GPU_ARCH && bytes == sizeof(int32_t));
  return given->values[attribute];
}

Call call(cutensorPlan_t plan, Kind kind, CUstream stream) {
  check(plan);
  require(plan->operation.kind == kind);
  return {plan->operation, {}, {}, stream};
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)
#define AW_COMPUTE(name, of) const cutensorComputeDescriptor_t name = &of
AW_COMPUTE(CUTENSOR_COMPUTE_DESC_16F, halves);
AW_COMPUTE(CUTENSOR_COMPUTE_DESC_16BF, brains);
// What is only permitted to be less exact stays exact.
AW_COMPUTE(CUTENSOR_COMPUTE_DESC_TF32, singles);
AW_COMPUTE(CUTENSOR_COMPUTE_DESC_3XTF32, singles);
AW_COMPUTE(CUTENSOR_COMPUTE_DESC_32F, singles);
AW_COMPUTE(CUTENSOR_COMPUTE_DESC_9X16BF, singles);
AW_COMPUTE(CUTENSOR_COMPUTE_DESC_4X16F, singles);
AW_COMPUTE(CUTENSOR_COMPUTE_DESC_64F, doubles);
AW_COMPUTE(CUTENSOR_COMPUTE_DESC_8XINT8, doubles);
#undef AW_COMPUTE
#pragma GCC visibility pop
}

AW_EXPORT cutensorStatus_t cutensorCreate(cutensorHandle_t* handle) {
  return api<"cutensorCreate">([&] {
    require(handle);
    aw::lib::ensure_context();
    *handle = new cutensorHandleStruct;
  });
}
AW_EXPORT cutensorStatus_t cutensorDestroy(cutensorHandle_t handle) {
  return api<"cutensorDestroy">([&] { check_handle(handle), destroy(handle); });
}

AW_LOGGER(cutensor, cutensorStatus_t)

AW_EXPORT size_t cutensorGetVersion() {
  const auto& own = aw::lib::version;
  return static_cast<size_t>(own.major * 10000 + own.minor * 100 + own.patch);
}
AW_EXPORT size_t cutensorGetCudartVersion() { return aw::lib::cudart_version(); }
AW_EXPORT const char* cutensorGetErrorString(const cutensorStatus_t status) {
  switch (status) {
#define AW_CASE(code) \
  case code:          \
    return #code
    AW_CASE(CUTENSOR_STATUS_SUCCESS);
    AW_CASE(CUTENSOR_STATUS_NOT_INITIALIZED);
    AW_CASE(CUTENSOR_STATUS_ALLOC_FAILED);
    AW_CASE(CUTENSOR_STATUS_INVALID_VALUE);
    AW_CASE(CUTENSOR_STATUS_ARCH_MISMATCH);
    AW_CASE(CUTENSOR_STATUS_MAPPING_ERROR);
    AW_CASE(CUTENSOR_STATUS_EXECUTION_FAILED);
    AW_CASE(CUTENSOR_STATUS_INTERNAL_ERROR);
    AW_CASE(CUTENSOR_STATUS_NOT_SUPPORTED);
    AW_CASE(CUTENSOR_STATUS_LICENSE_ERROR);
    AW_CASE(CUTENSOR_STATUS_CUBLAS_ERROR);
    AW_CASE(CUTENSOR_STATUS_CUDA_ERROR);
    AW_CASE(CUTENSOR_STATUS_INSUFFICIENT_WORKSPACE);
    AW_CASE(CUTENSOR_STATUS_INSUFFICIENT_DRIVER);
    AW_CASE(CUTENSOR_STATUS_IO_ERROR);
#undef AW_CASE
  }
  return "unknown status";
}

// Plans cost nothing to make: their cache is empty, whatever its size, and so is its file.
AW_EXPORT cutensorStatus_t cutensorHandleResizePlanCache(cutensorHandle_t handle, const uint32_t) {
  return api<"cutensorHandleResizePlanCache">([&] { check_handle(handle); });
}
static constexpr char kEmptyCache[] = "anywarp: a cache of 0 plans of cuTENSOR\n";
AW_EXPORT cutensorStatus_t cutensorHandleWritePlanCacheToFile(const cutensorHandle_t handle,
                                                              const char path[]) {
  return api<"cutensorHandleWritePlanCacheToFile">([&] {
    check_handle(handle);
    require(path);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << kEmptyCache << std::flush;
    require(file.good(), CUTENSOR_STATUS_IO_ERROR);
  });
}
AW_EXPORT cutensorStatus_t cutensorHandleReadPlanCacheFromFile(cutensorHandle_t handle,
                                                               const char path[], uint32_t* lines) {
  return api<"cutensorHandleReadPlanCacheFromFile">([&] {
    check_handle(handle);
    require(path && lines);
    std::ifstream file(path, std::ios::binary);
    char text[sizeof kEmptyCache] = {};
    require(file.good(), CUTENSOR_STATUS_IO_ERROR);
    file.read(text, sizeof text);
    // Of another library, or none.
    require(std::string(text, static_cast<size_t>(file.gcount())) == kEmptyCache);
    *lines = 0;
  });
}

AW_EXPORT cutensorStatus_t cutensorCreateTensorDescriptor(
    const cutensorHandle_t handle, cutensorTensorDescriptor_t* desc, const uint32_t rank,
    const int64_t extents[], const int64_t strides[], cudaDataType_t type, uint32_t alignment) {
  return api<"cutensorCreateTensorDescriptor">([&] {
    check_handle(handle);
    require(desc && (extents || !rank));
    require(alignment && alignment % element_bytes(type) == 0);
    cutensorTensorDescriptorStruct made;
    made.type = type;
    int64_t next = 1;
    for (uint32_t i = 0; i < rank; ++i) {
      require(extents[i] > 0);
      made.extents.push_back(extents[i]);
      made.strides.push_back(strides ? strides[i] : next);
      next *= extents[i];
    }
    *desc = new cutensorTensorDescriptorStruct(made);
  });
}
AW_EXPORT cutensorStatus_t cutensorDestroyTensorDescriptor(cutensorTensorDescriptor_t desc) {
  return api<"cutensorDestroyTensorDescriptor">([&] { destroy(desc); });
}

AW_EXPORT cutensorStatus_t
cutensorCreatePermutation(const cutensorHandle_t handle, cutensorOperationDescriptor_t* desc,
                          const cutensorTensorDescriptor_t a, const int32_t modes_a[],
                          cutensorOperator_t op_a, const cutensorTensorDescriptor_t b,
                          const int32_t modes_b[], const cutensorComputeDescriptor_t compute) {
  return api<"cutensorCreatePermutation">([&] {
    check_handle(handle);
    require(desc);
    Operation made;
    made.kind = Kind::kPermutation;
    made.operands = {operand(a, modes_a, op_a), target(b, modes_b)};
    check_within(made.operands[0], made.operands[1]);
    *desc = finished(std::move(made), compute);
  });
}

AW_EXPORT cutensorStatus_t cutensorCreateElementwiseBinary(
    const cutensorHandle_t handle, cutensorOperationDescriptor_t* desc,
    const cutensorTensorDescriptor_t a, const int32_t modes_a[], cutensorOperator_t op_a,
    const cutensorTensorDescriptor_t c, const int32_t modes_c[], cutensorOperator_t op_c,
    const cutensorTensorDescriptor_t d, const int32_t modes_d[], cutensorOperator_t op_ac,
    const cutensorComputeDescriptor_t compute) {
  return api<"cutensorCreateElementwiseBinary">([&] {
    check_handle(handle);
    require(desc);
    Operation made;
    made.kind = Kind::kElementwise, made.first = op_ac;
    made.operands = {operand(a, modes_a, op_a), operand(c, modes_c, op_c), target(d, modes_d)};
    check_within(made.operands[0], made.operands[2]);
    check_same(made.operands[1], made.operands[2]);
    *desc = finished(std::move(made), compute);
  });
}

AW_EXPORT cutensorStatus_t cutensorCreateElementwiseTrinary(
    const cutensorHandle_t handle, cutensorOperationDescriptor_t* desc,
    const cutensorTensorDescriptor_t a, const int32_t modes_a[], cutensorOperator_t op_a,
    const cutensorTensorDescriptor_t b, const int32_t modes_b[], cutensorOperator_t op_b,
    const cutensorTensorDescriptor_t c, const int32_t modes_c[], cutensorOperator_t op_c,
    const cutensorTensorDescriptor_t d, const int32_t modes_d[], cutensorOperator_t op_ab,
    cutensorOperator_t op_abc, const cutensorComputeDescriptor_t compute) {
  return api<"cutensorCreateElementwiseTrinary">([&] {
    check_handle(handle);
    require(desc);
    Operation made;
    made.kind = Kind::kElementwise, made.first = op_ab, made.second = op_abc;
    made.operands = {operand(a, modes_a, op_a), operand(b, modes_b, op_b),
                     operand(c, modes_c, op_c), target(d, modes_d)};
    check_within(made.operands[0], made.operands[3]);
    check_within(made.operands[1], made.operands[3]);
    check_same(made.operands[2], made.operands[3]);
    *desc = finished(std::move(made), compute);
  });
}

AW_EXPORT cutensorStatus_t cutensorCreateReduction(
    const cutensorHandle_t handle, cutensorOperationDescriptor_t* desc,
    const cutensorTensorDescriptor_t a, const int32_t modes_a[], cutensorOperator_t op_a,
    const cutensorTensorDescriptor_t c, const int32_t modes_c[], cutensorOperator_t op_c,
    const cutensorTensorDescriptor_t d, const int32_t modes_d[], cutensorOperator_t op_reduce,
    const cutensorComputeDescriptor_t compute) {
  return api<"cutensorCreateReduction">([&] {
    check_handle(handle);
    require(desc);
    Operation made;
    made.kind = Kind::kReduction, made.first = op_reduce;
    made.operands = {operand(a, modes_a, op_a), operand(c, modes_c, op_c), target(d, modes_d)};
    check_within(made.operands[2], made.operands[0]);
    check_same(made.operands[1], made.operands[2]);
    *desc = finished(std::move(made), compute);
  });
}

AW_EXPORT cutensorStatus_t cutensorCreateContraction(
    const cutensorHandle_t handle, cutensorOperationDescriptor_t* desc,
    const cutensorTensorDescriptor_t a, const int32_t modes_a[], cutensorOperator_t op_a,
    const cutensorTensorDescriptor_t b, const int32_t modes_b[], cutensorOperator_t op_b,
    const cutensorTensorDescriptor_t c, const int32_t modes_c[], cutensorOperator_t op_c,
    const cutensorTensorDescriptor_t d, const int32_t modes_d[],
    const cutensorComputeDescriptor_t compute) {
  return api<"cutensorCreateContraction">([&] {
    check_handle(handle);
    require(desc);
    Operation made;
    made.kind = Kind::kContraction;
    made.operands = {operand(a, modes_a, op_a), operand(b, modes_b, op_b)};
    if (c) made.operands.push_back(operand(c, modes_c, op_c));
    made.operands.push_back(target(d, modes_d));
    if (!c) made.operands.push_back(made.operands.back());
    *desc = contracted(std::move(made), compute);
  });
}

AW_EXPORT cutensorStatus_t cutensorCreateContractionTrinary(
    const cutensorHandle_t handle, cutensorOperationDescriptor_t* desc,
    const cutensorTensorDescriptor_t a, const int32_t modes_a[], cutensorOperator_t op_a,
    const cutensorTensorDescriptor_t b, const int32_t modes_b[], cutensorOperator_t op_b,
    const cutensorTensorDescriptor_t c, const int32_t modes_c[], cutensorOperator_t op_c,
    const cutensorTensorDescriptor_t d, const int32_t modes_d[], cutensorOperator_t op_d,
    const cutensorTensorDescriptor_t e, const int32_t modes_e[],
    const cutensorComputeDescriptor_t compute) {
  return api<"cutensorCreateContractionTrinary">([&] {
    check_handle(handle);
    require(desc);
    Operation made;
    made.kind = Kind::kTrinaryContraction;
    made.operands = {operand(a, modes_a, op_a), operand(b, modes_b, op_b),
                     operand(c, modes_c, op_c)};
    if (d) made.operands.push_back(operand(d, modes_d, op_d));
    made.operands.push_back(target(e, modes_e));
    if (!d) made.operands.push_back(made.operands.back());
    *desc = contracted(std::move(made), compute);
  });
}

AW_EXPORT cutensorStatus_t cutensorDestroyOperationDescriptor(cutensorOperationDescriptor_t desc) {
  return api<"cutensorDestroyOperationDescriptor">([&] { destroy(desc); });
}

AW_EXPORT cutensorStatus_t cutensorOperationDescriptorGetAttribute(
    const cutensorHandle_t handle, cutensorOperationDescriptor_t desc,
    cutensorOperationDescriptorAttribute_t attribute, void* to, size_t bytes) {
  return api<"cutensorOperationDescriptorGetAttribute">([&] {
    check_handle(handle), check(desc);
    switch (attribute) {
      case CUTENSOR_OPERATION_DESCRIPTOR_TAG:
        return give(to, bytes, desc->tag);
      case CUTENSOR_OPERATION_DESCRIPTOR_SCALAR_TYPE:
        return give(to, bytes, desc->scalar);
      case CUTENSOR_OPERATION_DESCRIPTOR_FLOPS:
        return give(to, bytes, flops(*desc));
      case CUTENSOR_OPERATION_DESCRIPTOR_MOVED_BYTES:
        return give(to, bytes, moved(*desc));
      default:
        unsupported("attribute " + std::to_string(attribute) + " of operations");
    }
  });
}
AW_EXPORT cutensorStatus_t cutensorOperationDescriptorSetAttribute(
    const cutensorHandle_t handle, cutensorOperationDescriptor_t desc,
    cutensorOperationDescriptorAttribute_t attribute, const void* from, size_t bytes) {
  return api<"cutensorOperationDescriptorSetAttribute">([&] {
    check_handle(handle), check(desc);
    require(from);
    switch (attribute) {
      case CUTENSOR_OPERATION_DESCRIPTOR_TAG:
        require(bytes == sizeof desc->tag);
        memcpy(&desc->tag, from, bytes);
        return;
      case CUTENSOR_OPERATION_DESCRIPTOR_SCALAR_TYPE: {
        cudaDataType_t type;
        require(bytes == sizeof type);
        memcpy(&type, from, bytes);
        element_bytes(type);
        require(is_complex(type) == is_complex(desc->scalar));
        desc->scalar = type;
        return;
      }
      default:
        unsupported("setting attribute " + std::to_string(attribute) + " of operations");
    }
  });
}

AW_EXPORT cutensorStatus_t cutensorCreatePlanPreference(const cutensorHandle_t handle,
                                                        cutensorPlanPreference_t* made,
                                                        cutensorAlgo_t algorithm,
                                                        cutensorJitMode_t jit) {
  return api<"cutensorCreatePlanPreference">([&] {
    check_handle(handle);
    require(made);
    *made = new cutensorPlanPreferenceStruct;
    (*made)->values[CUTENSOR_PLAN_PREFERENCE_ALGO] = algorithm;
    (*made)->values[CUTENSOR_PLAN_PREFERENCE_JIT] = jit;
  });
}
AW_EXPORT cutensorStatus_t cutensorDestroyPlanPreference(cutensorPlanPreference_t given) {
  return api<"cutensorDestroyPlanPreference">([&] { destroy(given); });
}
// There is one way to compute each operation: preferences are kept and told.
AW_EXPORT cutensorStatus_t cutensorPlanPreferenceSetAttribute(
    const cutensorHandle_t handle, cutensorPlanPreference_t given,
    cutensorPlanPreferenceAttribute_t attribute, const void* from, size_t bytes) {
  return api<"cutensorPlanPreferenceSetAttribute">([&] {
    check_handle(handle);
    memcpy(&preference(given, attribute, from, bytes), from, bytes);
  });
}
AW_EXPORT cutensorStatus_t cutensorPlanPreferenceGetAttribute(
    const cutensorHandle_t handle, cutensorPlanPreference_t given,
    cutensorPlanPreferenceAttribute_t attribute, void* to, size_t bytes) {
  return api<"cutensorPlanPreferenceGetAttribute">([&] {
    check_handle(handle);
    memcpy(to, &preference(given, attribute, to, bytes), bytes);
  });
}

AW_EXPORT cutensorStatus_t cutensorEstimateWorkspaceSize(const cutensorHandle_t handle,
                                                         const cutensorOperationDescriptor_t desc,
                                                         const cutensorPlanPreference_t given,
                                                         const cutensorWorksizePreference_t,
                                                         uint64_t* bytes) {
  return api<"cutensorEstimateWorkspaceSize">([&] {
    check_handle(handle), check(desc);
    if (given) check(given);
    require(bytes);
    *bytes = 0;
  });
}

AW_EXPORT cutensorStatus_t cutensorCreatePlan(const cutensorHandle_t handle, cutensorPlan_t* plan,
                                              const cutensorOperationDescriptor_t desc,
                                              const cutensorPlanPreference_t given, uint64_t) {
  return api<"cutensorCreatePlan">([&] {
    check_handle(handle), check(desc);
    if (given) check(given);
    require(plan);
    *plan = new cutensorPlanStruct{{}, *desc};
  });
}
AW_EXPORT cutensorStatus_t cutensorDestroyPlan(cutensorPlan_t plan) {
  return api<"cutensorDestroyPlan">([&] { destroy(plan); });
}
AW_EXPORT cutensorStatus_t cutensorPlanGetAttribute(const cutensorHandle_t handle,
                                                    const cutensorPlan_t plan,
                                                    cutensorPlanAttribute_t attribute, void* to,
                                                    size_t bytes) {
  return api<"cutensorPlanGetAttribute">([&] {
    check_handle(handle), check(plan);
    require(attribute == CUTENSOR_PLAN_REQUIRED_WORKSPACE);
    give(to, bytes, uint64_t{0});
  });
}

AW_EXPORT cutensorStatus_t cutensorPermute(const cutensorHandle_t handle, const cutensorPlan_t plan,
                                           const void* alpha, const void* a, void* b,
                                           const cudaStream_t stream) {
  return api<"cutensorPermute">([&] {
    check_handle(handle);
    auto made = call(plan, Kind::kPermutation, stream);
    made.scalars = {alpha}, made.data = {a, b};
    elementwise(made);
  });
}
AW_EXPORT cutensorStatus_t cutensorElementwiseBinaryExecute(const cutensorHandle_t handle,
                                                            const cutensorPlan_t plan,
                                                            const void* alpha, const void* a,
                                                            const void* gamma, const void* c,
                                                            void* d, cudaStream_t stream) {
  return api<"cutensorElementwiseBinaryExecute">([&] {
    check_handle(handle);
    auto made = call(plan, Kind::kElementwise, stream);
    require(made.operation.operands.size() == 3);
    made.scalars = {alpha, gamma}, made.data = {a, c, d};
    elementwise(made);
  });
}
AW_EXPORT cutensorStatus_t cutensorElementwiseTrinaryExecute(const cutensorHandle_t handle,
                                                             const cutensorPlan_t plan,
                                                             const void* alpha, const void* a,
                                                             const void* beta, const void* b,
                                                             const void* gamma, const void* c,
                                                             void* d, cudaStream_t stream) {
  return api<"cutensorElementwiseTrinaryExecute">([&] {
    check_handle(handle);
    auto made = call(plan, Kind::kElementwise, stream);
    require(made.operation.operands.size() == 4);
    made.scalars = {alpha, beta, gamma}, made.data = {a, b, c, d};
    elementwise(made);
  });
}
AW_EXPORT cutensorStatus_t cutensorReduce(const cutensorHandle_t handle, const cutensorPlan_t plan,
                                          const void* alpha, const void* a, const void* beta,
                                          const void* c, void* d, void*, uint64_t,
                                          cudaStream_t stream) {
  return api<"cutensorReduce">([&] {
    check_handle(handle);
    auto made = call(plan, Kind::kReduction, stream);
    made.scalars = {alpha, beta}, made.data = {a, c, d};
    reduction(made);
  });
}
AW_EXPORT cutensorStatus_t cutensorContractTrinary(const cutensorHandle_t handle,
                                                   const cutensorPlan_t plan, const void* alpha,
                                                   const void* a, const void* b, const void* c,
                                                   const void* beta, const void* d, void* e, void*,
                                                   uint64_t, cudaStream_t stream) {
  return api<"cutensorContractTrinary">([&] {
    check_handle(handle);
    auto made = call(plan, Kind::kTrinaryContraction, stream);
    made.scalars = {alpha, beta}, made.data = {a, b, c, d, e};
    contraction_of_three(made);
  });
}
AW_EXPORT cutensorStatus_t cutensorBlockSparseContract(const cutensorHandle_t handle,
                                                       const cutensorPlan_t plan, const void* alpha,
                                                       const void* const a[], const void* const b[],
                                                       const void* beta, const void* const c[],
                                                       void* const d[], void*, uint64_t,
                                                       cudaStream_t stream) {
  return api<"cutensorBlockSparseContract">([&] {
    check_handle(handle), check(plan);
    require(plan->operation.kind == Kind::kBlockSparse);
    contraction_of_blocks({plan->operation, alpha, beta, a, b, c, d, stream});
  });
}
AW_EXPORT cutensorStatus_t cutensorContract(const cutensorHandle_t handle,
                                            const cutensorPlan_t plan, const void* alpha,
                                            const void* a, const void* b, const void* beta,
                                            const void* c, void* d, void*, uint64_t,
                                            cudaStream_t stream) {
  return api<"cutensorContract">([&] {
    check_handle(handle);
    auto made = call(plan, Kind::kContraction, stream);
    made.scalars = {alpha, beta}, made.data = {a, b, c, d};
    contraction(made);
  });
}

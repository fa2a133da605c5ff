// Attributes of descriptors: what lies behind the pointer depends on the attribute, so each has a
// line in a table that says what its counterpart is called and how its value is converted. What
// hipBLASLt has no counterpart for is kept with the descriptor where it is a hint, accepted where
// the value asks for nothing, and refused by name otherwise.
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include AW_TABLES

using namespace aw::rocm;

namespace {

using Converter = int (*)(int, int*);

struct Attribute {
  int cuda;
  int counterpart;     // -1: none
  size_t size;         // bytes of the value
  Converter to, from;  // of enums; null for values that are the same
  bool hint;           // without a counterpart: any value is kept
  int64_t only;        // without a counterpart, and no hint: the one value that asks for nothing
};

// cublasOperation_t lies in cuBLAS's header; hipBLASLt takes hipBLAS's numbers.
int to_operation(int value, int* out) {
  switch (value) {
    case 0:
      *out = 111;
      return 0;
    case 1:
      *out = 112;
      return 0;
    case 2:
      *out = 113;
      return 0;
    case 3:
      return 2;  // conjugation without transposition
    default:
      return 1;
  }
}
int from_operation(int value, int* out) {
  *out = value - 111;
  return *out < 0 || *out > 2;
}

constexpr Attribute plain(int ours, int counterpart, size_t size) {
  return {ours, counterpart, size, nullptr, nullptr, false, 0};
}
constexpr Attribute named(int ours, int counterpart, Converter to, Converter from) {
  return {ours, counterpart, 4, to, from, false, 0};
}
constexpr Attribute hint(int ours, size_t size) {
  return {ours, -1, size, nullptr, nullptr, true, 0};
}
constexpr Attribute only(int ours, size_t size, int64_t value) {
  return {ours, -1, size, nullptr, nullptr, false, value};
}

const Attribute kMatmul[] = {
    hint(cuda::CUBLASLT_MATMUL_DESC_FAST_ACCUM, 1),
    named(cuda::CUBLASLT_MATMUL_DESC_POINTER_MODE, hip::HIPBLASLT_MATMUL_DESC_POINTER_MODE,
          to_cublasLtPointerMode_t, from_cublasLtPointerMode_t),
    named(cuda::CUBLASLT_MATMUL_DESC_TRANSA, hip::HIPBLASLT_MATMUL_DESC_TRANSA, to_operation,
          from_operation),
    named(cuda::CUBLASLT_MATMUL_DESC_TRANSB, hip::HIPBLASLT_MATMUL_DESC_TRANSB, to_operation,
          from_operation),
    only(cuda::CUBLASLT_MATMUL_DESC_TRANSC, 4, 0),
    only(cuda::CUBLASLT_MATMUL_DESC_FILL_MODE, 4, 2),  // CUBLAS_FILL_MODE_FULL
    named(cuda::CUBLASLT_MATMUL_DESC_EPILOGUE, hip::HIPBLASLT_MATMUL_DESC_EPILOGUE,
          to_cublasLtEpilogue_t, from_cublasLtEpilogue_t),
    plain(cuda::CUBLASLT_MATMUL_DESC_BIAS_POINTER, hip::HIPBLASLT_MATMUL_DESC_BIAS_POINTER, 8),
    plain(cuda::CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE,
          hip::HIPBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 8),
    plain(cuda::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
          hip::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 8),
    plain(cuda::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, hip::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
          8),
    plain(cuda::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
          hip::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, 8),
    only(cuda::CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, 8, 0),
    hint(cuda::CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 4),
    plain(cuda::CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, hip::HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER,
          8),
    plain(cuda::CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, hip::HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER,
          8),
    plain(cuda::CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, hip::HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER,
          8),
    plain(cuda::CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, hip::HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER,
          8),
    plain(cuda::CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, hip::HIPBLASLT_MATMUL_DESC_AMAX_D_POINTER, 8),
    named(cuda::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE,
          hip::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, to_cudaDataType_t,
          from_cudaDataType_t),
    plain(cuda::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER,
          hip::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, 8),
    only(cuda::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, 8, 0),
    named(cuda::CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, hip::HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
          to_cudaDataType_t, from_cudaDataType_t),
    named(cuda::CUBLASLT_MATMUL_DESC_A_SCALE_MODE, hip::HIPBLASLT_MATMUL_DESC_A_SCALE_MODE,
          to_cublasLtMatmulMatrixScale_t, from_cublasLtMatmulMatrixScale_t),
    named(cuda::CUBLASLT_MATMUL_DESC_B_SCALE_MODE, hip::HIPBLASLT_MATMUL_DESC_B_SCALE_MODE,
          to_cublasLtMatmulMatrixScale_t, from_cublasLtMatmulMatrixScale_t),
    only(cuda::CUBLASLT_MATMUL_DESC_C_SCALE_MODE, 4, 0),
    only(cuda::CUBLASLT_MATMUL_DESC_D_SCALE_MODE, 4, 0),
    only(cuda::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, 4, 0),
    only(cuda::CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, 8, 0),
    only(cuda::CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, 4, 0),
};

const Attribute kLayout[] = {
    named(cuda::CUBLASLT_MATRIX_LAYOUT_TYPE, hip::HIPBLASLT_MATRIX_LAYOUT_TYPE, to_cudaDataType_t,
          from_cudaDataType_t),
    named(cuda::CUBLASLT_MATRIX_LAYOUT_ORDER, hip::HIPBLASLT_MATRIX_LAYOUT_ORDER,
          to_cublasLtOrder_t, from_cublasLtOrder_t),
    plain(cuda::CUBLASLT_MATRIX_LAYOUT_ROWS, hip::HIPBLASLT_MATRIX_LAYOUT_ROWS, 8),
    plain(cuda::CUBLASLT_MATRIX_LAYOUT_COLS, hip::HIPBLASLT_MATRIX_LAYOUT_COLS, 8),
    plain(cuda::CUBLASLT_MATRIX_LAYOUT_LD, hip::HIPBLASLT_MATRIX_LAYOUT_LD, 8),
    plain(cuda::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, hip::HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 4),
    plain(cuda::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
          hip::HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 8),
    only(cuda::CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 8, 0),
    named(cuda::CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, hip::HIPBLASLT_MATRIX_LAYOUT_BATCH_MODE,
          to_cublasLtBatchMode_t, from_cublasLtBatchMode_t),
};

const Attribute kPreference[] = {
    only(cuda::CUBLASLT_MATMUL_PREF_SEARCH_MODE, 4, cuda::CUBLASLT_SEARCH_BEST_FIT),
    plain(cuda::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
          hip::HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 8),
    // Which kernels of NVIDIA's may be chosen, and what they may rely on: hipBLASLt chooses among
    // its own by the pointers.
    hint(cuda::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 4),
    hint(cuda::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 4),
    hint(cuda::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 4),
    hint(cuda::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 4),
    hint(cuda::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 4),
    hint(cuda::CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, 4),
    hint(cuda::CUBLASLT_MATMUL_PREF_IMPL_MASK, 8),
};

const Attribute kTransform[] = {
    named(cuda::CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE,
          hip::HIPBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, to_cudaDataType_t, from_cudaDataType_t),
    named(cuda::CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE,
          hip::HIPBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, to_cublasLtPointerMode_t,
          from_cublasLtPointerMode_t),
    named(cuda::CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, hip::HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSA,
          to_operation, from_operation),
    named(cuda::CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, hip::HIPBLASLT_MATRIX_TRANSFORM_DESC_TRANSB,
          to_operation, from_operation),
};

// Values without a counterpart, by descriptor and attribute.
std::mutex& mutex() {
  static std::mutex& made = *new std::mutex;
  return made;
}
std::map<void*, std::map<int, int64_t>>& kept() {
  static auto& made = *new std::map<void*, std::map<int, int64_t>>;
  return made;
}

void forget(void* descriptor) {
  std::lock_guard lock(mutex());
  kept().erase(descriptor);
}

template <size_t Count>
const Attribute* find(const Attribute (&table)[Count], int attribute) {
  for (const Attribute& each : table)
    if (each.cuda == attribute) return &each;
  return nullptr;
}

int no_counterpart(unsigned at, int attribute) {
  const std::string reason = "attribute " + std::to_string(attribute) +
                             " has a value that hipBLASLt has no counterpart for";
  return unsupported(functions[at].name, reason.c_str(), "N023");
}

int set(unsigned at, const Attribute* entry, void* descriptor, int attribute, const void* value,
        size_t size) {
  using Target = int (*)(void*, int, const void*, size_t);
  const auto target = reinterpret_cast<Target>(enter(at));
  if (!target) return missing(at);
  if (!descriptor || !value || attribute < 0) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  if (!entry) return no_counterpart(at, attribute);
  if (size < entry->size) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  if (entry->counterpart < 0) {
    int64_t number = 0;
    memcpy(&number, value, entry->size);
    if (!entry->hint && number != entry->only) return no_counterpart(at, attribute);
    std::lock_guard lock(mutex());
    kept()[descriptor][attribute] = number;
    return cuda::CUBLAS_STATUS_SUCCESS;
  }
  if (!entry->to) return status(target(descriptor, entry->counterpart, value, entry->size));
  int ours = 0, counterpart = 0;
  memcpy(&ours, value, sizeof ours);
  const int problem = entry->to(ours, &counterpart);
  if (problem == 2) return no_counterpart(at, attribute);
  if (problem) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  return status(target(descriptor, entry->counterpart, &counterpart, sizeof counterpart));
}

int get(unsigned at, const Attribute* entry, void* descriptor, int attribute, void* value,
        size_t size, size_t* written) {
  using Target = int (*)(void*, int, void*, size_t, size_t*);
  const auto target = reinterpret_cast<Target>(enter(at));
  if (!target) return missing(at);
  if (!descriptor || attribute < 0 || (!value && size) || (!size && !written))
    return cuda::CUBLAS_STATUS_INVALID_VALUE;
  if (!entry) return no_counterpart(at, attribute);
  if (written) *written = entry->size;
  if (!size) return cuda::CUBLAS_STATUS_SUCCESS;  // only the size was asked for
  if (size < entry->size) return cuda::CUBLAS_STATUS_INVALID_VALUE;
  if (entry->counterpart < 0) {
    std::lock_guard lock(mutex());
    int64_t number = entry->only;
    if (const auto values = kept().find(descriptor); values != kept().end())
      if (const auto found = values->second.find(attribute); found != values->second.end())
        number = found->second;
    memcpy(value, &number, entry->size);
    return cuda::CUBLAS_STATUS_SUCCESS;
  }
  size_t done = 0;
  if (!entry->from)
    return status(target(descriptor, entry->counterpart, value, entry->size, &done));
  int counterpart = 0, ours = 0;
  if (const int result =
          status(target(descriptor, entry->counterpart, &counterpart, sizeof counterpart, &done)))
    return result;
  if (entry->from(counterpart, &ours)) return unknown_value();
  memcpy(value, &ours, sizeof ours);
  return cuda::CUBLAS_STATUS_SUCCESS;
}

}  // namespace

// The types that a product was made with are its own business in hipBLASLt: asked for, they are
// what it was made with.
AW_EXPORT int cublasLtMatmulDescCreate(void** descriptor, int compute, int scale) {
  int theirs = 0, type = 0;
  if (const int problem =
          to_cublasComputeType_t(compute, &theirs) | to_cudaDataType_t(scale, &type))
    return enter(at_cublasLtMatmulDescCreate) ? refuse(problem, at_cublasLtMatmulDescCreate)
                                              : missing(at_cublasLtMatmulDescCreate);
  const int result =
      AW_CALL(cublasLtMatmulDescCreate, (void**, int, int), descriptor, theirs, type);
  if (result || !descriptor) return result;
  std::lock_guard lock(mutex());
  kept()[*descriptor] = {{cuda::CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute},
                         {cuda::CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale},
                         {cuda::CUBLASLT_MATMUL_DESC_FILL_MODE, 2}};
  return result;
}

namespace {

// The two attributes that are fixed when the descriptor is made.
bool fixed(int attribute) {
  return attribute == cuda::CUBLASLT_MATMUL_DESC_COMPUTE_TYPE ||
         attribute == cuda::CUBLASLT_MATMUL_DESC_SCALE_TYPE;
}

Attribute fixed_entry(void* descriptor, int attribute) {
  std::lock_guard lock(mutex());
  const auto values = kept().find(descriptor);
  return only(attribute, 4, values == kept().end() ? -1 : values->second[attribute]);
}

}  // namespace

AW_EXPORT int cublasLtMatmulDescSetAttribute(void* descriptor, int attribute, const void* value,
                                             size_t size) {
  const Attribute made = fixed(attribute) ? fixed_entry(descriptor, attribute) : Attribute();
  return set(at_cublasLtMatmulDescSetAttribute, fixed(attribute) ? &made : find(kMatmul, attribute),
             descriptor, attribute, value, size);
}

AW_EXPORT int cublasLtMatmulDescGetAttribute(void* descriptor, int attribute, void* value,
                                             size_t size, size_t* written) {
  const Attribute made = fixed(attribute) ? fixed_entry(descriptor, attribute) : Attribute();
  return get(at_cublasLtMatmulDescGetAttribute, fixed(attribute) ? &made : find(kMatmul, attribute),
             descriptor, attribute, value, size, written);
}

AW_EXPORT int cublasLtMatrixLayoutSetAttribute(void* descriptor, int attribute, const void* value,
                                               size_t size) {
  return set(at_cublasLtMatrixLayoutSetAttribute, find(kLayout, attribute), descriptor, attribute,
             value, size);
}

AW_EXPORT int cublasLtMatrixLayoutGetAttribute(void* descriptor, int attribute, void* value,
                                               size_t size, size_t* written) {
  return get(at_cublasLtMatrixLayoutGetAttribute, find(kLayout, attribute), descriptor, attribute,
             value, size, written);
}

AW_EXPORT int cublasLtMatmulPreferenceSetAttribute(void* descriptor, int attribute,
                                                   const void* value, size_t size) {
  return set(at_cublasLtMatmulPreferenceSetAttribute, find(kPreference, attribute), descriptor,
             attribute, value, size);
}

AW_EXPORT int cublasLtMatmulPreferenceGetAttribute(void* descriptor, int attribute, void* value,
                                                   size_t size, size_t* written) {
  return get(at_cublasLtMatmulPreferenceGetAttribute, find(kPreference, attribute), descriptor,
             attribute, value, size, written);
}

AW_EXPORT int cublasLtMatrixTransformDescSetAttribute(void* descriptor, int attribute,
                                                      const void* value, size_t size) {
  return set(at_cublasLtMatrixTransformDescSetAttribute, find(kTransform, attribute), descriptor,
             attribute, value, size);
}

AW_EXPORT int cublasLtMatrixTransformDescGetAttribute(void* descriptor, int attribute, void* value,
                                                      size_t size, size_t* written) {
  return get(at_cublasLtMatrixTransformDescGetAttribute, find(kTransform, attribute), descriptor,
             attribute, value, size, written);
}

AW_EXPORT int cublasLtMatmulDescDestroy(void* descriptor) {
  forget(descriptor);
  return AW_CALL(cublasLtMatmulDescDestroy, (void*), descriptor);
}

AW_EXPORT int cublasLtMatrixLayoutDestroy(void* descriptor) {
  forget(descriptor);
  return AW_CALL(cublasLtMatrixLayoutDestroy, (void*), descriptor);
}

AW_EXPORT int cublasLtMatmulPreferenceDestroy(void* descriptor) {
  forget(descriptor);
  return AW_CALL(cublasLtMatmulPreferenceDestroy, (void*), descriptor);
}

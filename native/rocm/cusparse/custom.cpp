// Where hipSPARSE wants more than cuSPARSE tells, and cuSPARSE's own names and version.
#include <map>
#include <mutex>

#include AW_TABLES

using namespace aw::rocm;

namespace {

// The buffer that the analysis of a triangular solve was given: hipSPARSE asks for it again when it
// solves.
std::mutex& mutex() {
  static std::mutex& made = *new std::mutex;
  return made;
}
std::map<void*, void*>& buffers() {
  static auto& made = *new std::map<void*, void*>;
  return made;
}

using Types = int (*)(void*, int, int, const void*, void*, void*, void*, int, int, void*, void*);

// The parts that both calls share, converted.
struct Solve {
  int of_a = 0, of_b = 0, type = 0, algorithm = 0, problem = 0;
  Solve(int op_a, int op_b, int compute, int chosen) {
    problem = to_cusparseOperation_t(op_a, &of_a) | to_cusparseOperation_t(op_b, &of_b) |
              to_cudaDataType_t(compute, &type) | to_cusparseSpSMAlg_t(chosen, &algorithm);
  }
};

}  // namespace

AW_EXPORT int cusparseSpSM_analysis(void* handle, int op_a, int op_b, const void* alpha, void* a,
                                    void* b, void* c, int compute, int algorithm, void* descriptor,
                                    void* buffer) {
  const Solve solve(op_a, op_b, compute, algorithm);
  if (solve.problem) return refuse(solve.problem, at_cusparseSpSM_analysis);
  const int result = AW_CALL(
      cusparseSpSM_analysis,
      (void*, int, int, const void*, void*, void*, void*, int, int, void*, void*), handle,
      solve.of_a, solve.of_b, alpha, a, b, c, solve.type, solve.algorithm, descriptor, buffer);
  if (result == cuda::CUSPARSE_STATUS_SUCCESS) {
    std::lock_guard lock(mutex());
    buffers()[descriptor] = buffer;
  }
  return result;
}

AW_EXPORT int cusparseSpSM_solve(void* handle, int op_a, int op_b, const void* alpha, void* a,
                                 void* b, void* c, int compute, int algorithm, void* descriptor) {
  const Solve solve(op_a, op_b, compute, algorithm);
  if (solve.problem) return refuse(solve.problem, at_cusparseSpSM_solve);
  void* buffer = nullptr;
  {
    std::lock_guard lock(mutex());
    const auto found = buffers().find(descriptor);
    if (found == buffers().end()) {
      count(at_cusparseSpSM_solve);
      return cuda::CUSPARSE_STATUS_INVALID_VALUE;  // never analysed
    }
    buffer = found->second;
  }
  return AW_CALL(cusparseSpSM_solve,
                 (void*, int, int, const void*, void*, void*, void*, int, int, void*, void*),
                 handle, solve.of_a, solve.of_b, alpha, a, b, c, solve.type, solve.algorithm,
                 descriptor, buffer);
}

AW_EXPORT int cusparseSpSM_destroyDescr(void* descriptor) {
  {
    std::lock_guard lock(mutex());
    buffers().erase(descriptor);
  }
  return AW_CALL(cusparseSpSM_destroyDescr, (void*), descriptor);
}

AW_EXPORT int cusparseGetVersion(void* handle, int* version) {
  count(at_cusparseGetVersion);
  if (!handle) return cuda::CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!version) return cuda::CUSPARSE_STATUS_INVALID_VALUE;
  *version =
      cuda::CUSPARSE_VER_MAJOR * 1000 + cuda::CUSPARSE_VER_MINOR * 100 + cuda::CUSPARSE_VER_PATCH;
  return cuda::CUSPARSE_STATUS_SUCCESS;
}

AW_EXPORT int cusparseGetProperty(int property, int* value) {
  count(at_cusparseGetProperty);
  if (!value || property < 0 || property > 2) return cuda::CUSPARSE_STATUS_INVALID_VALUE;
  const int parts[] = {cuda::CUSPARSE_VER_MAJOR, cuda::CUSPARSE_VER_MINOR,
                       cuda::CUSPARSE_VER_PATCH};
  *value = parts[property];
  return cuda::CUSPARSE_STATUS_SUCCESS;
}

AW_EXPORT const char* cusparseGetErrorName(int code) {
  count(at_cusparseGetErrorName);
  const char* name = status_name(code);
  return name ? name : "unknown status of cuSPARSE";
}

AW_EXPORT const char* cusparseGetErrorString(int code) {
  count(at_cusparseGetErrorString);
  switch (code) {
    case cuda::CUSPARSE_STATUS_SUCCESS:
      return "success";
    case cuda::CUSPARSE_STATUS_NOT_INITIALIZED:
      return "cuSPARSE is not initialized";
    case cuda::CUSPARSE_STATUS_ALLOC_FAILED:
      return "memory could not be allocated";
    case cuda::CUSPARSE_STATUS_INVALID_VALUE:
      return "an argument has a value that is not allowed";
    case cuda::CUSPARSE_STATUS_ARCH_MISMATCH:
      return "the device lacks a feature that is needed";
    case cuda::CUSPARSE_STATUS_MAPPING_ERROR:
      return "device memory could not be reached";
    case cuda::CUSPARSE_STATUS_EXECUTION_FAILED:
      return "a kernel failed";
    case cuda::CUSPARSE_STATUS_INTERNAL_ERROR:
      return "an internal operation failed";
    case cuda::CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED:
      return "the type of the matrix is not supported";
    case cuda::CUSPARSE_STATUS_ZERO_PIVOT:
      return "a pivot is zero";
    case cuda::CUSPARSE_STATUS_NOT_SUPPORTED:
      return "the operation is not supported";
    case cuda::CUSPARSE_STATUS_INSUFFICIENT_RESOURCES:
      return "there are not enough resources";
    default:
      return "unknown status of cuSPARSE";
  }
}

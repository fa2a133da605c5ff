// Runtime API reference: driver entry point access, profiler control, logs of errors.
#include "13/cudaProfiler.h"
#include "cudart/state.h"

namespace aw {
namespace {

// The driver's answer for the version that the program was built for, or another one.
cudaError_t find_entry(const char* symbol, void** function, int version, unsigned long long flags,
                       cudaDriverEntryPointQueryResult* status) {
  require(symbol && function);
  *function = nullptr;
  require(flags <= 2);
  if (flags == 0 && thread_state().per_thread) flags = 2;  // the per-thread variants by default
  auto found = CU_GET_PROC_ADDRESS_SUCCESS;
  CUresult result = cuGetProcAddress_v2(symbol, function, version, flags, &found);
  if (status) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
  // With a status to say it, what is not found is no error.
  if (!*function && result == CUDA_SUCCESS && !status) return cudaErrorSymbolNotFound;
  return error_of(result);
}

}  // namespace

cudaError_t rt::cudaGetDriverEntryPoint(const char* symbol, void** function,
                                        unsigned long long flags,
                                        cudaDriverEntryPointQueryResult* status) {
  return find_entry(symbol, function, interface_version(), flags, status);
}

cudaError_t rt::cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                 unsigned version, unsigned long long flags,
                                                 cudaDriverEntryPointQueryResult* status) {
  require(version <= INT32_MAX);
  return find_entry(symbol, function, static_cast<int>(version), flags, status);
}

// NVIDIA's libraries look for interfaces here that have no documentation. We have none.
cudaError_t rt::cudaGetExportTable(const void** table, const cudaUUID_t* id) {
  require(table && id);
  *table = nullptr;
  return cudaErrorSymbolNotFound;
}

cudaError_t rt::cudaProfilerStart() {
  ensure_context();
  return error_of(cuProfilerStart());
}

cudaError_t rt::cudaProfilerStop() {
  ensure_context();
  return error_of(cuProfilerStop());
}

#if CUDART_VERSION >= 13000
cudaError_t rt::cudaLogsRegisterCallback(cudaLogsCallback_t function, void* data,
                                         cudaLogsCallbackHandle* out) {
  static_assert(sizeof(cudaLogLevel) == sizeof(CUlogLevel));
  require(function && out);
  ensure_driver();
  return error_of(cuLogsRegisterCallback(reinterpret_cast<CUlogsCallback>(function), data,
                                         reinterpret_cast<CUlogsCallbackHandle*>(out)));
}

cudaError_t rt::cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback) {
  return error_of(cuLogsUnregisterCallback(reinterpret_cast<CUlogsCallbackHandle>(callback)));
}

cudaError_t rt::cudaLogsCurrent(cudaLogIterator* out, unsigned flags) {
  return error_of(cuLogsCurrent(out, flags));
}

cudaError_t rt::cudaLogsDumpToFile(cudaLogIterator* from, const char* path, unsigned flags) {
  return error_of(cuLogsDumpToFile(from, path, flags));
}

cudaError_t rt::cudaLogsDumpToMemory(cudaLogIterator* from, char* buffer, size_t* size,
                                     unsigned flags) {
  return error_of(cuLogsDumpToMemory(from, buffer, size, flags));
}
#endif

}  // namespace aw

// What cuSOLVER has under one name and hipSOLVER under several, and cuSOLVER's version.
#include <climits>
#include <map>
#include <mutex>

#include AW_TABLES

using namespace aw::rocm;

AW_EXPORT int cusolverGetVersion(int* version) {
  count(at_cusolverGetVersion);
  if (!version) return cuda::CUSOLVER_STATUS_INVALID_VALUE;
  *version =
      cuda::CUSOLVER_VER_MAJOR * 1000 + cuda::CUSOLVER_VER_MINOR * 100 + cuda::CUSOLVER_VER_PATCH;
  return cuda::CUSOLVER_STATUS_SUCCESS;
}

AW_EXPORT int cusolverGetProperty(int property, int* value) {
  count(at_cusolverGetProperty);
  if (!value || property < 0 || property > 2) return cuda::CUSOLVER_STATUS_INVALID_VALUE;
  const int parts[] = {cuda::CUSOLVER_VER_MAJOR, cuda::CUSOLVER_VER_MINOR,
                       cuda::CUSOLVER_VER_PATCH};
  *value = parts[property];
  return cuda::CUSOLVER_STATUS_SUCCESS;
}

namespace {

std::mutex& mutex() {
  static std::mutex& made = *new std::mutex;
  return made;
}
std::map<void*, void*>& streams() {
  static auto& made = *new std::map<void*, void*>;
  return made;
}

}  // namespace

AW_EXPORT int cusolverSpSetStream(void* handle, void* on_stream) {
  const int result = AW_CALL(cusolverSpSetStream, (void*, void*), handle, stream(on_stream));
  if (result != cuda::CUSOLVER_STATUS_SUCCESS) return result;
  std::lock_guard lock(mutex());
  streams()[handle] = on_stream;
  return result;
}

AW_EXPORT int cusolverSpGetStream(void* handle, void** on_stream) {
  count(at_cusolverSpGetStream);
  if (!handle) return cuda::CUSOLVER_STATUS_NOT_INITIALIZED;
  if (!on_stream) return cuda::CUSOLVER_STATUS_INVALID_VALUE;
  std::lock_guard lock(mutex());
  const auto found = streams().find(handle);
  *on_stream = found == streams().end() ? nullptr : found->second;
  return cuda::CUSOLVER_STATUS_SUCCESS;
}

AW_EXPORT int cusolverSpDestroy(void* handle) {
  {
    std::lock_guard lock(mutex());
    streams().erase(handle);
  }
  return AW_CALL(cusolverSpDestroy, (void*), handle);
}

// The tolerance is wider on the other side, which changes nothing.
#define AW_BY_HAND(name)                                                                        \
  AW_EXPORT int name(void* handle, int m, int nnz, void* matrix, const void* values,            \
                     const void* rows, const void* columns, const void* b, float tolerance,     \
                     int reorder, void* x, int* singularity) {                                  \
    return AW_CALL(name,                                                                        \
                   (void*, int, int, void*, const void*, const void*, const void*, const void*, \
                    double, int, void*, int*),                                                  \
                   handle, m, nnz, matrix, values, rows, columns, b, tolerance, reorder, x,     \
                   singularity);                                                                \
  }
AW_BY_HAND(cusolverSpScsrlsvqr)
AW_BY_HAND(cusolverSpCcsrlsvqr)

// Singular values of a matrix of any type: hipSOLVER has a function per type, whose workspace is a
// number of elements.
namespace {

struct Precision {
  int type, real;         // cudaDataType of the matrix and of the singular values
  size_t bytes, of_real;  // an element's
  unsigned size, solve;   // the functions
};

const Precision kPrecisions[] = {
    {cuda::CUDA_R_32F, cuda::CUDA_R_32F, 4, 4, at_cusolverDnSgesvd_bufferSize, at_cusolverDnSgesvd},
    {cuda::CUDA_R_64F, cuda::CUDA_R_64F, 8, 8, at_cusolverDnDgesvd_bufferSize, at_cusolverDnDgesvd},
    {cuda::CUDA_C_32F, cuda::CUDA_R_32F, 8, 4, at_cusolverDnCgesvd_bufferSize, at_cusolverDnCgesvd},
    {cuda::CUDA_C_64F, cuda::CUDA_R_64F, 16, 8, at_cusolverDnZgesvd_bufferSize,
     at_cusolverDnZgesvd},
};

const Precision* precision(int a, int s, int u, int v, int compute) {
  for (const Precision& each : kPrecisions)
    if (each.type == a && each.real == s && u == a && v == a && compute == a) return &each;
  return nullptr;
}

bool fits(int64_t number) { return number >= 0 && number <= INT_MAX; }

constexpr size_t kAligned = 256;

// The workspace is the function's own, with room behind it for what did not converge.
int workspace(const Precision& chosen, void* handle, int64_t m, int64_t n, size_t* own,
              size_t* all) {
  int elements = 0;
  const auto target = reinterpret_cast<int (*)(void*, int, int, int*)>(enter(chosen.size));
  if (!target) return missing(chosen.size);
  const int result = status(target(handle, static_cast<int>(m), static_cast<int>(n), &elements));
  if (result != cuda::CUSOLVER_STATUS_SUCCESS) return result;
  if (elements < 0) return cuda::CUSOLVER_STATUS_INTERNAL_ERROR;
  *own = (elements * chosen.bytes + kAligned - 1) / kAligned * kAligned;
  *all = *own + static_cast<size_t>(m < n ? m : n) * chosen.of_real;
  return cuda::CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

AW_EXPORT int cusolverDnXgesvd_bufferSize(void* handle, void*, signed char, signed char, int64_t m,
                                          int64_t n, int a_type, const void*, int64_t lda,
                                          int s_type, const void*, int u_type, const void*,
                                          int64_t ldu, int v_type, const void*, int64_t ldvt,
                                          int compute, size_t* on_device, size_t* on_host) {
  count(at_cusolverDnXgesvd_bufferSize);
  if (!on_device || !on_host || !fits(m) || !fits(n) || !fits(lda) || !fits(ldu) || !fits(ldvt))
    return cuda::CUSOLVER_STATUS_INVALID_VALUE;
  const Precision* chosen = precision(a_type, s_type, u_type, v_type, compute);
  if (!chosen)
    return unsupported("cusolverDnXgesvd_bufferSize",
                       "hipSOLVER has no singular values of these types together");
  size_t own = 0;
  *on_host = 0;
  return workspace(*chosen, handle, m, n, &own, on_device);
}

AW_EXPORT int cusolverDnXgesvd(void* handle, void*, signed char job_u, signed char job_vt,
                               int64_t m, int64_t n, int a_type, void* a, int64_t lda, int s_type,
                               void* s, int u_type, void* u, int64_t ldu, int v_type, void* vt,
                               int64_t ldvt, int compute, void* on_device, size_t bytes, void*,
                               size_t, int* info) {
  count(at_cusolverDnXgesvd);
  if (!fits(m) || !fits(n) || !fits(lda) || !fits(ldu) || !fits(ldvt))
    return cuda::CUSOLVER_STATUS_INVALID_VALUE;
  const Precision* chosen = precision(a_type, s_type, u_type, v_type, compute);
  if (!chosen)
    return unsupported("cusolverDnXgesvd",
                       "hipSOLVER has no singular values of these types together");
  size_t own = 0, all = 0;
  if (const int result = workspace(*chosen, handle, m, n, &own, &all)) return result;
  if (bytes < all || !on_device) return cuda::CUSOLVER_STATUS_INVALID_VALUE;
  using Solve = int (*)(void*, signed char, signed char, int, int, void*, int, void*, void*, int,
                        void*, int, void*, int, void*, int*);
  const auto target = reinterpret_cast<Solve>(enter(chosen->solve));
  if (!target) return missing(chosen->solve);
  return status(target(handle, job_u, job_vt, static_cast<int>(m), static_cast<int>(n), a,
                       static_cast<int>(lda), s, u, static_cast<int>(ldu), vt,
                       static_cast<int>(ldvt), on_device, static_cast<int>(own / chosen->bytes),
                       static_cast<char*>(on_device) + own, info));
}

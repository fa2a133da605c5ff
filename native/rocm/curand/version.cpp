// cuRAND's version, as programs that were built against it expect it.
#include AW_TABLES

using namespace aw::rocm;

AW_EXPORT int curandGetVersion(int* version) {
  count(at_curandGetVersion);
  if (!version) return cuda::CURAND_STATUS_OUT_OF_RANGE;
  *version = cuda::CURAND_VER_MAJOR * 1000 + cuda::CURAND_VER_MINOR * 100 + cuda::CURAND_VER_PATCH;
  return cuda::CURAND_STATUS_SUCCESS;
}

AW_EXPORT int curandGetProperty(int property, int* value) {
  count(at_curandGetProperty);
  if (!value || property < 0 || property > 2) return cuda::CURAND_STATUS_OUT_OF_RANGE;
  const int parts[] = {cuda::CURAND_VER_MAJOR, cuda::CURAND_VER_MINOR, cuda::CURAND_VER_PATCH};
  *value = parts[property];
  return cuda::CURAND_STATUS_SUCCESS;
}

// Arrays of 32 or 64 numbers, many of them; the library gives the address of the first.
AW_EXPORT int curandGetDirectionVectors32(void** vectors, int set) {
  int theirs = 0;
  if (const int problem = to_curandDirectionVectorSet(set, &theirs))
    return refuse(problem, at_curandGetDirectionVectors32);
  return AW_CALL(curandGetDirectionVectors32, (void**, int), vectors, theirs);
}

AW_EXPORT int curandGetDirectionVectors64(void** vectors, int set) {
  int theirs = 0;
  if (const int problem = to_curandDirectionVectorSet(set, &theirs))
    return refuse(problem, at_curandGetDirectionVectors64);
  return AW_CALL(curandGetDirectionVectors64, (void**, int), vectors, theirs);
}

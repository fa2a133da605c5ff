// Devices by their numbers: CUDA_VISIBLE_DEVICES counts them anew, and RCCL knows HIP's numbers.
#include <vector>

#include AW_TABLES

using namespace aw::rocm;

namespace {

constexpr int kMostDevices = 1024;

// The devices of communicators, as HIP counts them; none given are the first ones of the program.
int numbers(int count, const int* devices, std::vector<int>& theirs) {
  if (count < 0 || count > kMostDevices) return cuda::ncclInvalidArgument;
  for (int i = 0; i < count; i++) {
    theirs.push_back(hip_device(devices ? devices[i] : i));
    if (theirs.back() < 0) return cuda::ncclInvalidArgument;
  }
  return cuda::ncclSuccess;
}

int counted(int result, int* device) {
  if (result != cuda::ncclSuccess || !device) return result;
  *device = cuda_device(*device);
  return *device < 0 ? cuda::ncclInternalError : result;
}

}  // namespace

#define AW_BY_HAND_INIT(name)                                                       \
  AW_EXPORT int name(void** made, int count_of, const int* list) {                  \
    std::vector<int> theirs;                                                        \
    if (const int problem = numbers(count_of, list, theirs)) {                      \
      count(at_##name);                                                             \
      return problem;                                                               \
    }                                                                               \
    return AW_CALL(name, (void**, int, const int*), made, count_of, theirs.data()); \
  }
AW_BY_HAND_INIT(ncclCommInitAll)
AW_BY_HAND_INIT(pncclCommInitAll)

#define AW_BY_HAND_DEVICE(name)                                                 \
  AW_EXPORT int name(void* communicator, int* device) {                         \
    return counted(AW_CALL(name, (void*, int*), communicator, device), device); \
  }
AW_BY_HAND_DEVICE(ncclCommCuDevice)
AW_BY_HAND_DEVICE(pncclCommCuDevice)

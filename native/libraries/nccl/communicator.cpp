#include <algorithm>

#include "core/own_functions.h"
#include "libraries/nccl/nccl_internal.h"

namespace aw::nccl {
namespace {

std::mutex error_mutex;
std::string& last_error() {
  static auto& it = *new std::string;
  return it;
}

}  // namespace

void remember_error(const std::string& text) {
  std::lock_guard lock(error_mutex);
  last_error() = text;
}

Handles<Communicator>& communicators() {
  static auto& it = *new Handles<Communicator>;
  return it;
}

Comm use(ncclComm_t handle) {
  auto out = communicators().find(handle);
  if (!out) throw Failure(ncclInvalidArgument, "this is no communicator");
  return out;
}

Comm use_ready(ncclComm_t handle) {
  auto out = use(handle);
  if (int state = out->state; state == ncclInProgress)
    throw Failure(ncclInvalidUsage,
                  "the communicator is not ready yet (ncclCommGetAsyncError says when)");
  else if (state != ncclSuccess)
    throw Failure(state, "the communicator has failed before");
  return out;
}

Comm use_awake(ncclComm_t handle) {
  auto out = use_ready(handle);
  if (out->suspended)
    throw Failure(ncclInvalidUsage, "the communicator is suspended (ncclCommResume)");
  return out;
}

size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      throw Failure(ncclInvalidArgument, "there is no data type " + std::to_string(type));
  }
}

void Communicator::fail(ncclResult_t why, const std::string& text) {
  int expected = ncclSuccess;
  if (!state.compare_exchange_strong(expected, why)) return;
  std::string said =
      "NCCL, rank " + std::to_string(rank) + " of " + std::to_string(count) + ": " + text;
  remember_error(said);
  anywarp_diagnose(said.c_str());
  if (links) links->abort();
}

ncclResult_t Communicator::watch() {
  if (state == ncclSuccess && links) {
    if (links->aborted()) fail(ncclRemoteError, "another rank has given up the communicator");
    for (int peer = 0; peer < count; ++peer)
      if (links->died(peer)) fail(ncclRemoteError, "rank " + std::to_string(peer) + " has ended");
  }
  return static_cast<ncclResult_t>(state.load());
}

uint64_t Communicator::take_number() {
  std::lock_guard lock(mutex);
  return given++;
}

bool Communicator::begin(uint64_t number) {
  std::unique_lock lock(mutex);
  turned.wait(lock, [&] {
    return given_up || revoked || (!busy && (number == kCaptured || next == number));
  });
  if (given_up || revoked) return false;
  busy = true;
  return state == ncclSuccess;
}

void Communicator::end(uint64_t number) {
  std::lock_guard lock(mutex);
  if (number == kCaptured || number == next) busy = false;
  if (number != kCaptured) early.insert(number);
  while (early.erase(next)) ++next;
  turned.notify_all();
}

void Communicator::revoke() {
  {
    std::lock_guard lock(mutex);
    revoked = true;
    turned.notify_all();
  }
  drain();
}

void Communicator::drain() {
  std::unique_lock lock(mutex);
  turned.wait(lock, [&] { return next == given && !busy; });
}

}  // namespace aw::nccl

using namespace aw::nccl;

AW_EXPORT const char* ncclGetLastError(ncclComm_t) {
  thread_local std::string text;  // stays until this thread asks again
  std::lock_guard lock(error_mutex);
  text = last_error();
  return text.c_str();
}
AW_PROFILED(ncclGetLastError);

AW_EXPORT const char* ncclGetErrorString(ncclResult_t code) {
  switch (code) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "a call of CUDA failed";
    case ncclSystemError:
      return "a call of the system failed";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "another rank has ended, or the connection to it";
    case ncclInProgress:
      return "in progress";
    case ncclTimeout:
      return "a time limit has passed";
    default:
      return "unknown result code";
  }
}
AW_PROFILED(ncclGetErrorString);

AW_EXPORT ncclResult_t ncclGetVersion(int* version) {
  return api<"ncclGetVersion">([&] {
    require(version);
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclGetVersion);

AW_EXPORT ncclResult_t ncclMemAlloc(void** place, size_t bytes) {
  return api<"ncclMemAlloc">([&] {
    require(place);
    aw::lib::ensure_context();
    CUdeviceptr address = 0;
    if (bytes) require(cuMemAlloc(&address, bytes) == CUDA_SUCCESS, ncclUnhandledCudaError);
    *place = reinterpret_cast<void*>(address);
    return ncclSuccess;
  });
}
AW_PROFILED(ncclMemAlloc);

AW_EXPORT ncclResult_t ncclMemFree(void* place) {
  return api<"ncclMemFree">([&] {
    if (place)
      require(cuMemFree(reinterpret_cast<CUdeviceptr>(place)) == CUDA_SUCCESS,
              ncclUnhandledCudaError);
    return ncclSuccess;
  });
}
AW_PROFILED(ncclMemFree);

// Every address can be sent from as it is: nothing is to be done for what is registered.
AW_EXPORT ncclResult_t ncclCommRegister(const ncclComm_t comm, void* place, size_t bytes,
                                        void** handle) {
  return api<"ncclCommRegister">([&] {
    use(comm);
    require(handle && (place || !bytes));
    *handle = place;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommRegister);

AW_EXPORT ncclResult_t ncclCommDeregister(const ncclComm_t comm, void*) {
  return api<"ncclCommDeregister">([&] {
    use(comm);
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommDeregister);

AW_EXPORT ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                                                ncclScalarResidence_t residence,
                                                ncclComm_t handle) {
  return api<"ncclRedOpCreatePreMulSum">([&] {
    auto comm = use(handle);
    require(op && scalar);
    require(residence == ncclScalarDevice || residence == ncclScalarHostImmediate);
    Factor factor = {type, residence == ncclScalarDevice ? scalar : nullptr, {}};
    size_t bytes = size_of(type);
    if (!factor.device) memcpy(factor.bytes, scalar, bytes);
    std::lock_guard lock(comm->mutex);
    *op = static_cast<ncclRedOp_t>(comm->next_operator++);
    comm->operators[*op] = factor;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclRedOpCreatePreMulSum);

AW_EXPORT ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t handle) {
  return api<"ncclRedOpDestroy">([&] {
    auto comm = use(handle);
    std::lock_guard lock(comm->mutex);
    require(comm->operators.erase(op) == 1);
    return ncclSuccess;
  });
}
AW_PROFILED(ncclRedOpDestroy);

AW_EXPORT ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return api<"ncclCommCount">([&] {
    require(count);
    *count = use_ready(comm)->count;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommCount);

AW_EXPORT ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return api<"ncclCommCuDevice">([&] {
    require(device);
    *device = use_ready(comm)->device;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommCuDevice);

AW_EXPORT ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return api<"ncclCommUserRank">([&] {
    require(rank);
    *rank = use_ready(comm)->rank;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommUserRank);

AW_EXPORT ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return api<"ncclCommGetAsyncError">([&] {
    require(error);
    *error = use(comm)->watch();
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommGetAsyncError);

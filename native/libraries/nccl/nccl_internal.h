// What the functions of NCCL share: communicators, and how an operation gets into a stream.
#pragma once

#include <nccl.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/handles.h"
#include "libraries/api.h"
#include "libraries/nccl/links.h"
#include "libraries/work.h"

namespace aw::nccl {

using lib::require;
using lib::unsupported;

// For ncclGetLastError.
void remember_error(const std::string& text);

// A call inside of a group has failed: its end says so.
void group_failed(int code);

template <Name Function, class Body, class... Args>
ncclResult_t api(Body&& body, const Args&... args) noexcept {
  return lib::call<ncclResult_t, Function>(
      [&] {
        try {
          return static_cast<ncclResult_t>(body());
        } catch (const Failure& failure) {
          remember_error(std::string(Function.text) + ": " +
                         (failure.text.empty()
                              ? ncclGetErrorString(static_cast<ncclResult_t>(failure.code))
                              : failure.text));
          group_failed(failure.code);
          throw;
        }
      },
      args...);
}

// An operator made by ncclRedOpCreatePreMulSum.
struct Factor {
  ncclDataType_t type;
  const void* device;  // where it is read when the work runs; null: it is in `bytes`
  char bytes[8];
};

struct Communicator {
  int rank = 0, count = 0, device = 0;
  CUcontext context = nullptr;
  uintptr_t handle = 0;
  std::unique_ptr<Links> links;
  std::atomic<int> state{ncclInProgress};  // what ncclCommGetAsyncError says
  std::atomic<bool> given_up{false};       // ncclCommAbort
  std::atomic<bool> revoked{false};        // ncclCommRevoke: no more operations, but agreements
  std::atomic<bool> suspended{false};      // ncclCommSuspend
  bool blocking = true;

  // Sets the state, unless there is an error already, and tells the other ranks.
  void fail(ncclResult_t why, const std::string& text);
  ncclResult_t watch();  // looks after the other ranks

  // Operations happen in the order of their calls, whatever their streams, on every rank alike:
  // each takes a number at its call. One that was captured takes none, it happens when no other
  // does.
  uint64_t take_number();
  bool begin(uint64_t number);  // waits for its turn; false where the communicator has failed
  void end(uint64_t number);
  void drain();   // until every number is done
  void revoke();  // ends what is under way here, without an error, and waits for that
  static constexpr uint64_t kCaptured = UINT64_MAX;

  std::mutex mutex;
  std::condition_variable turned;
  uint64_t given = 0, next = 0;
  std::set<uint64_t> early;  // ended before their turn, because their work was left out
  bool busy = false;
  std::map<int, Factor> operators;
  int next_operator = ncclNumOps;
  std::unique_ptr<ncclUniqueId> growing;  // of ncclCommGetUniqueId, until it is used
};
using Comm = std::shared_ptr<Communicator>;

Handles<Communicator>& communicators();
Comm use(ncclComm_t handle);        // throws INVALID_ARGUMENT
Comm use_ready(ncclComm_t handle);  // and what is wrong with it
Comm use_awake(ncclComm_t handle);  // ... and INVALID_USAGE while it is suspended
inline ncclComm_t handle_of(const Comm& comm) { return as_handle<ncclComm_t>(comm->handle); }

// Makes a communicator's context current for as long as it lives.
class InContext {
 public:
  explicit InContext(CUcontext context) {
    require(cuCtxPushCurrent(context) == CUDA_SUCCESS, ncclUnhandledCudaError);
  }
  ~InContext() {
    CUcontext before;
    cuCtxPopCurrent(&before);
  }
  InContext(const InContext&) = delete;
};

size_t size_of(ncclDataType_t type);  // throws INVALID_ARGUMENT

enum class Kind : uint8_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kReceive
};

// One call of a program.
struct Operation {
  Kind kind;
  const void* from = nullptr;
  void* to = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  int peer = 0;  // or root
  Factor factor = {};
};

// What traces call it.
const char* name_of(Kind kind);

// Inside of a group: keeps it; else puts it into the stream.
void give(const Comm& comm, CUstream stream, Operation operation);

// Does operations in order, those of kinds kSend and kReceive all at once beside the others. False
// where they failed.
bool perform(Communicator& comm, const std::vector<Operation>& operations);

// Inside of a group: true, and `start` is called when it ends, together with the others.
bool later(std::function<void()> start);

}  // namespace aw::nccl

// The name for profilers that wrap the library.
#define AW_PROFILED(name) \
  extern "C" __attribute__((visibility("default"), alias(#name))) decltype(name) p##name

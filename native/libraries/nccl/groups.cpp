// Group calls, and how operations get into streams.
#include <pthread.h>
#include <signal.h>

#include <thread>

#include "core/own_functions.h"
#include "libraries/nccl/nccl_internal.h"

namespace aw::nccl {
namespace {

struct Given {
  CUstream stream;
  Operation operation;
};

struct Group {
  int depth = 0;
  int failed = ncclSuccess;                                // by a call inside
  std::vector<std::pair<Comm, std::vector<Given>>> given;  // in the order of first calls
  std::vector<std::function<void()>> starts;
};
thread_local Group group;

// One work of a stream in the order of its communicator.
struct Turn {
  Comm comm;
  uint64_t number;
  std::vector<Operation> operations;
  bool fine = false, ended = false;

  void perform() {
    fine = false;
    auto body = [](void* it, uint64_t) {
      auto& turn = *static_cast<Turn*>(it);
      turn.fine = turn.comm->begin(turn.number) && nccl::perform(*turn.comm, turn.operations);
    };
    // So that a wild address ends the body and not this function: the others would wait for ever.
    bool faulted = !anywarp_parallel(1, body, this);
    if (faulted) comm->fail(ncclUnhandledCudaError, "an operation met a wild address");
    comm->end(number);
    ended = true;
    if (fine || faulted || comm->given_up || comm->revoked) return;
    auto why = static_cast<ncclResult_t>(comm->state.load());
    anywarp_fail(CUDA_ERROR_LAUNCH_FAILED,
                 ("NCCL: " + std::string(ncclGetErrorString(why))).c_str());
  }
  ~Turn() {
    if (number == Communicator::kCaptured || ended) return;
    // It was left out because its context has failed.
    comm->fail(ncclUnhandledCudaError,
               "an operation could not be done because its context has failed");
    comm->end(number);
  }
};

class Event {
 public:
  Event() {
    require(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS,
            ncclUnhandledCudaError);
  }
  ~Event() { cuEventDestroy(event_); }
  Event(const Event&) = delete;
  // Work given to `stream` later comes behind what `other` was given.
  void order(CUstream other, CUstream stream) {
    require(cuEventRecord(event_, other) == CUDA_SUCCESS &&
                cuStreamWaitEvent(stream, event_, 0) == CUDA_SUCCESS,
            ncclUnhandledCudaError);
  }

 private:
  CUevent event_ = nullptr;
};

void check_pairs(const Comm& comm, const std::vector<Given>& given) {
  std::vector<size_t> sent, received;
  for (auto& it : given) {
    if (it.operation.peer != comm->rank) continue;
    size_t bytes = it.operation.count * size_of(it.operation.type);
    if (it.operation.kind == Kind::kSend) sent.push_back(bytes);
    if (it.operation.kind == Kind::kReceive) received.push_back(bytes);
  }
  if (sent != received)
    throw Failure(ncclInvalidUsage,
                  "a rank sends itself what it does not receive within the same group");
}

void put(const Comm& comm, const std::vector<Given>& given) {
  InContext inside(comm->context);
  check_pairs(comm, given);
  CUstream stream = given[0].stream;
  std::set<CUstream> others;
  for (auto& it : given)
    if (it.stream != stream) others.insert(it.stream);
  std::unique_ptr<Event> event;
  if (!others.empty()) event = std::make_unique<Event>();
  for (CUstream other : others) event->order(other, stream);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  require(cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS, ncclUnhandledCudaError);
  bool captured = status != CU_STREAM_CAPTURE_STATUS_NONE;
  auto turn = std::make_shared<Turn>();
  turn->comm = comm;
  for (auto& it : given) turn->operations.push_back(it.operation);
  turn->number = captured ? Communicator::kCaptured : comm->take_number();
  lib::submit(stream, name_of(given[0].operation.kind), [turn] { turn->perform(); }, true);
  for (CUstream other : others) event->order(stream, other);
}

// All at once: ranks of one thread wait for each other.
void start_all(std::vector<std::function<void()>> starts) {
  if (starts.size() == 1) return starts[0]();
  std::vector<std::exception_ptr> failures(starts.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < starts.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        starts[i]();
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  for (auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

const char* name_of(Kind kind) {
  static const char* const names[] = {
      "ncclAllReduce", "ncclReduce", "ncclBroadcast", "ncclAllGather", "ncclReduceScatter",
      "ncclAlltoAll",  "ncclGather", "ncclScatter",   "ncclSend",      "ncclRecv"};
  return names[static_cast<size_t>(kind)];
}

void give(const Comm& comm, CUstream stream, Operation operation) {
  if (comm->revoked) throw Failure(ncclInvalidUsage, "the communicator was revoked");
  if (operation.count == 0) return;
  if (!group.depth) return put(comm, {{stream, operation}});
  for (auto& [known, given] : group.given)
    if (known == comm) return given.push_back({stream, operation});
  group.given.push_back({comm, {{stream, operation}}});
}

bool later(std::function<void()> start) {
  if (!group.depth) return false;
  group.starts.push_back(std::move(start));
  return true;
}

void group_failed(int code) {
  if (group.depth && !group.failed) group.failed = code;
}

}  // namespace aw::nccl

using namespace aw::nccl;

AW_EXPORT ncclResult_t ncclGroupStart() {
  return api<"ncclGroupStart">([&] {
    ++group.depth;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclGroupStart);

AW_EXPORT ncclResult_t ncclGroupEnd() {
  return api<"ncclGroupEnd">([&] {
    require(group.depth > 0, ncclInvalidUsage);
    if (--group.depth) return ncclSuccess;
    Group mine = std::exchange(group, Group{});
    require(mine.failed == ncclSuccess, mine.failed);
    if (!mine.starts.empty()) start_all(std::move(mine.starts));
    for (auto& [comm, given] : mine.given) put(comm, given);
    return ncclSuccess;
  });
}
AW_PROFILED(ncclGroupEnd);

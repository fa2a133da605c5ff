// Collective and point-to-point communication functions.
#include "libraries/nccl/nccl_internal.h"

using namespace aw::nccl;

namespace {

void config_fits(const ncclCollConfig_t* config) {
  require(!config || (config->magic == NCCL_API_MAGIC && config->size >= 16));
}

// Checks what all operations have in common and gives the operation to the stream.
void start(ncclComm_t handle, cudaStream_t stream, Operation operation) {
  auto comm = use_awake(handle);
  size_t element = size_of(operation.type);
  require(operation.count <= SIZE_MAX / element / static_cast<size_t>(comm->count));
  if (operation.peer < 0 || operation.peer >= comm->count)
    throw aw::Failure(ncclInvalidArgument, "there is no rank " + std::to_string(operation.peer));
  if (operation.op >= ncclNumOps) {
    std::lock_guard lock(comm->mutex);
    auto it = comm->operators.find(operation.op);
    if (it == comm->operators.end() || it->second.type != operation.type)
      throw aw::Failure(ncclInvalidArgument, "there is no such operator for this type");
    operation.factor = it->second;
  } else {
    require(operation.op >= 0);
  }
  give(comm, stream, operation);
}

}  // namespace

#define AW_COLLECTIVE(name, parameters, ...)       \
  AW_EXPORT ncclResult_t name parameters {         \
    return api<#name>([&] {                        \
      start(comm, stream, Operation{__VA_ARGS__}); \
      return ncclSuccess;                          \
    });                                            \
  }                                                \
  AW_PROFILED(name)
#define AW_LIST(...) __VA_ARGS__
// With the form of the same name that takes a configuration: hints for cards, which change nothing
// here.
#define AW_BOTH(name, parameters, ...)                                                  \
  AW_COLLECTIVE(name, (parameters, ncclComm_t comm, cudaStream_t stream), __VA_ARGS__); \
  AW_EXPORT ncclResult_t name##Config(parameters, ncclComm_t comm, cudaStream_t stream, \
                                      const ncclCollConfig_t* config) {                 \
    return api<#name "Config">([&] {                                                    \
      config_fits(config);                                                              \
      start(comm, stream, Operation{__VA_ARGS__});                                      \
      return ncclSuccess;                                                               \
    });                                                                                 \
  }                                                                                     \
  AW_PROFILED(name##Config)

AW_BOTH(ncclAllReduce,
        AW_LIST(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op),
        Kind::kAllReduce, from, to, count, type, op);
AW_BOTH(ncclReduce,
        AW_LIST(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
                int root),
        Kind::kReduce, from, to, count, type, op, root);
AW_BOTH(ncclBroadcast,
        AW_LIST(const void* from, void* to, size_t count, ncclDataType_t type, int root),
        Kind::kBroadcast, from, to, count, type, ncclSum, root);
AW_BOTH(ncclAllGather, AW_LIST(const void* from, void* to, size_t count, ncclDataType_t type),
        Kind::kAllGather, from, to, count, type);
AW_BOTH(ncclReduceScatter,
        AW_LIST(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op),
        Kind::kReduceScatter, from, to, count, type, op);
AW_BOTH(ncclAlltoAll, AW_LIST(const void* from, void* to, size_t count, ncclDataType_t type),
        Kind::kAllToAll, from, to, count, type);
AW_BOTH(ncclGather,
        AW_LIST(const void* from, void* to, size_t count, ncclDataType_t type, int root),
        Kind::kGather, from, to, count, type, ncclSum, root);
AW_BOTH(ncclScatter,
        AW_LIST(const void* from, void* to, size_t count, ncclDataType_t type, int root),
        Kind::kScatter, from, to, count, type, ncclSum, root);
AW_COLLECTIVE(ncclBcast,
              (void* place, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
               cudaStream_t stream),
              Kind::kBroadcast, place, place, count, type, ncclSum, root);
AW_COLLECTIVE(ncclSend,
              (const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
               cudaStream_t stream),
              Kind::kSend, from, nullptr, count, type, ncclSum, peer);
AW_COLLECTIVE(ncclRecv,
              (void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
               cudaStream_t stream),
              Kind::kReceive, nullptr, to, count, type, ncclSum, peer);

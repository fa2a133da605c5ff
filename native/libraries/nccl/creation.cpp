// Communicator creation and management functions.
#include <pthread.h>

#include <algorithm>
#include <thread>

#include "libraries/nccl/operations.h"

using namespace aw::nccl;

namespace {

constexpr double kMeeting = 600;  // seconds that ranks may be apart

// What a configuration says of blocking. Programs compiled for older versions have shorter ones.
bool blocks(const ncclConfig_t* config) {
  if (!config) return true;
  require(config->magic == NCCL_API_MAGIC && config->size >= offsetof(ncclConfig_t, blocking));
  if (config->size < offsetof(ncclConfig_t, blocking) + sizeof(int) ||
      config->blocking == NCCL_CONFIG_UNDEF_INT)
    return true;
  require(config->blocking == 0 || config->blocking == 1);
  return config->blocking;
}

// A communicator of the current context that has met nobody yet.
Comm prepare(int rank, int count, bool blocking) {
  require(count > 0 && rank >= 0 && rank < count);
  aw::lib::ensure_context();
  auto out = std::make_shared<Communicator>();
  out->rank = rank, out->count = count, out->blocking = blocking;
  CUdevice device;
  require(cuCtxGetCurrent(&out->context) == CUDA_SUCCESS && cuCtxGetDevice(&device) == CUDA_SUCCESS,
          ncclUnhandledCudaError);
  out->device = device;
  out->handle = communicators().add(out);
  return out;
}

// Meets the other ranks; the state says how that ended.
void meet(const Comm& comm, const std::function<ncclUniqueId()>& id) {
  try {
    auto links = connect_ranks(id(), comm->rank, comm->count, {now() + kMeeting, &comm->given_up});
    std::lock_guard lock(comm->mutex);
    comm->links = std::move(links);
    comm->state = ncclSuccess;
  } catch (const aw::Failure& failure) {
    comm->state = failure.code;
    throw;
  }
}

// Runs `start` now, at the end of the group, or on a thread of its own where the program does not
// wait for it.
ncclResult_t begin(const Comm& comm, std::function<void()> start) {
  if (comm->blocking) {
    if (later(start)) return ncclSuccess;
    start();
    return ncclSuccess;
  }
  std::thread([start = std::move(start)] {
    pthread_setname_np(pthread_self(), "anywarp-nccl");
    try {
      start();
    } catch (const aw::Failure& failure) {
      remember_error(failure.text);
    }
  }).detach();
  return ncclInProgress;
}

ncclResult_t create(ncclComm_t* out, int count, const ncclUniqueId& id, int rank,
                    const ncclConfig_t* config) {
  require(out);
  *out = nullptr;
  read_id(id);
  auto comm = prepare(rank, count, blocks(config));
  *out = handle_of(comm);
  try {
    return begin(comm, [comm, id] { meet(comm, [&] { return id; }); });
  } catch (const aw::Failure&) {
    communicators().remove(*out);
    *out = nullptr;
    throw;
  }
}

struct Wish {
  int color, key, rank;
};

// What the members of a color agree upon: who they are, and the id that the first of them makes.
void split(const Comm& parent, const Comm& child, int color, int key) {
  std::vector<Wish> wishes(static_cast<size_t>(parent->count)), group;
  Wish mine = {color, key, parent->rank};
  auto said = agree(*parent, &mine, sizeof mine);
  memcpy(wishes.data(), said.data(), said.size());
  for (auto& wish : wishes)
    if (wish.color == color) group.push_back(wish);
  std::stable_sort(group.begin(), group.end(), [](auto& a, auto& b) { return a.key < b.key; });
  ncclUniqueId id = {};
  if (child && group[0].rank == parent->rank) id = make_id();
  auto ids = agree(*parent, &id, sizeof id);
  if (!child) return;
  memcpy(&id, ids.data() + sizeof id * static_cast<size_t>(group[0].rank), sizeof id);
  child->count = static_cast<int>(group.size());
  child->rank = static_cast<int>(
      std::find_if(group.begin(), group.end(), [&](auto& w) { return w.rank == parent->rank; }) -
      group.begin());
  meet(child, [&] { return id; });
}

// The ranks that are not in `without`, in their order; the first of them makes the id.
void shrink(const Comm& parent, const Comm& child, const std::vector<int>& without) {
  std::vector<int> left;
  for (int rank = 0; rank < parent->count; ++rank)
    if (std::find(without.begin(), without.end(), rank) == without.end()) left.push_back(rank);
  ncclUniqueId id = {};
  if (left[0] == parent->rank) id = make_id();
  auto ids = agree(*parent, &id, sizeof id, without);
  memcpy(&id, ids.data() + sizeof id * static_cast<size_t>(left[0]), sizeof id);
  child->count = static_cast<int>(left.size());
  child->rank = static_cast<int>(std::find(left.begin(), left.end(), parent->rank) - left.begin());
  meet(child, [&] { return id; });
}

struct Invitation {
  int there;
  ncclUniqueId id;
};

// All ranks of `parent` get the id that one of them has, and keep their numbers.
void grow(const Comm& parent, const Comm& child, const Invitation& mine) {
  auto said = agree(*parent, &mine, sizeof mine);
  ncclUniqueId id = {};
  int known = 0;
  for (int rank = 0; rank < parent->count; ++rank) {
    Invitation one;
    memcpy(&one, said.data() + sizeof one * static_cast<size_t>(rank), sizeof one);
    if (!one.there) continue;
    if (known && memcmp(&id, &one.id, sizeof id))
      throw aw::Failure(ncclInvalidUsage, "ranks have different ids of ncclCommGetUniqueId");
    known = 1, id = one.id;
  }
  if (!known) throw aw::Failure(ncclInvalidUsage, "no rank has called ncclCommGetUniqueId");
  meet(child, [&] { return id; });
}

// A communicator that `start(parent, child)` makes out of another.
template <class Start>
ncclResult_t derive(const Comm& parent, ncclComm_t* out, const ncclConfig_t* config, Start start) {
  *out = nullptr;
  Comm child;
  {
    InContext inside(parent->context);
    child = prepare(0, 1, config ? blocks(config) : parent->blocking);
  }
  *out = handle_of(child);
  try {
    return begin(child, [=] {
      try {
        start(child);
      } catch (const aw::Failure& failure) {
        child->state = failure.code;
        throw;
      }
    });
  } catch (const aw::Failure&) {
    communicators().remove(*out);
    *out = nullptr;
    throw;
  }
}

void end(ncclComm_t handle, bool abort) {
  auto comm = use(handle);
  {
    std::lock_guard lock(comm->mutex);
    if (abort || comm->state == ncclInProgress) {
      comm->given_up = true;
      if (comm->links) comm->links->abort();
      comm->turned.notify_all();
    }
  }
  comm->drain();
  communicators().remove(handle);
  if (!comm->given_up && comm->links) comm->links->leave();
  comm->given_up = true;  // for what was captured
}

}  // namespace

AW_EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return api<"ncclGetUniqueId">([&] {
    require(id);
    *id = make_id();
    return ncclSuccess;
  });
}
AW_PROFILED(ncclGetUniqueId);

AW_EXPORT ncclResult_t ncclCommInitRank(ncclComm_t* comm, int count, ncclUniqueId id, int rank) {
  return api<"ncclCommInitRank">([&] { return create(comm, count, id, rank, nullptr); });
}
AW_PROFILED(ncclCommInitRank);

AW_EXPORT ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int count, ncclUniqueId id,
                                              int rank, ncclConfig_t* config) {
  return api<"ncclCommInitRankConfig">([&] { return create(comm, count, id, rank, config); });
}
AW_PROFILED(ncclCommInitRankConfig);

// Several ids share the work of the bootstrap among several roots; one does it here.
AW_EXPORT ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int count, int rank, int ids,
                                                ncclUniqueId* id, ncclConfig_t* config) {
  return api<"ncclCommInitRankScalable">([&] {
    require(ids > 0 && id);
    return create(comm, count, id[0], rank, config);
  });
}
AW_PROFILED(ncclCommInitRankScalable);

AW_EXPORT ncclResult_t ncclCommInitAll(ncclComm_t* out, int count, const int* devices) {
  return api<"ncclCommInitAll">([&] {
    require(out && count > 0);
    require(cuInit(0) == CUDA_SUCCESS, ncclUnhandledCudaError);
    std::set<int> seen;
    for (int rank = 0; rank < count; ++rank)
      require(seen.insert(devices ? devices[rank] : rank).second, ncclInvalidUsage);
    int there = 0;
    require(cuDeviceGetCount(&there) == CUDA_SUCCESS && *seen.begin() >= 0 &&
            *seen.rbegin() < there);
    std::vector<Comm> made;
    std::vector<std::thread> threads;
    std::atomic<int> failed{ncclSuccess};
    auto id = make_id();
    for (int rank = 0; rank < count; ++rank) {
      int number = devices ? devices[rank] : rank;
      CUdevice device;
      CUcontext context;
      require(cuDeviceGet(&device, number) == CUDA_SUCCESS &&
                  cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS,
              ncclUnhandledCudaError);
      InContext inside(context);
      made.push_back(prepare(rank, count, true));
    }
    for (auto& comm : made)
      threads.emplace_back([&] {
        try {
          meet(comm, [&] { return id; });
        } catch (const aw::Failure& failure) {
          failed = failure.code;
        }
      });
    for (auto& thread : threads) thread.join();
    for (auto& comm : made) {
      if (failed) communicators().remove(comm->handle);
      out[comm->rank] = failed ? nullptr : handle_of(comm);
    }
    require(failed == ncclSuccess, failed);
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommInitAll);

AW_EXPORT ncclResult_t ncclCommSplit(ncclComm_t handle, int color, int key, ncclComm_t* out,
                                     ncclConfig_t* config) {
  return api<"ncclCommSplit">([&] {
    auto parent = use_awake(handle);
    require(out && (color >= 0 || color == NCCL_SPLIT_NOCOLOR));
    *out = nullptr;
    Comm child;
    if (color != NCCL_SPLIT_NOCOLOR) {
      InContext inside(parent->context);
      child = prepare(0, 1, config ? blocks(config) : parent->blocking);
      *out = handle_of(child);
    }
    try {
      return begin(child ? child : parent, [=] { split(parent, child, color, key); });
    } catch (const aw::Failure&) {
      if (child) communicators().remove(child->handle);
      *out = nullptr;
      throw;
    }
  });
}
AW_PROFILED(ncclCommSplit);

AW_EXPORT ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return api<"ncclCommFinalize">([&] {
    auto it = use_ready(comm);
    if (it->revoked) throw aw::Failure(ncclInvalidUsage, "the communicator was revoked");
    it->drain();
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommFinalize);

// The ranks that remain, which alone call this. After an error it goes on within one machine: what
// has connected machines is closed then.
AW_EXPORT ncclResult_t ncclCommShrink(ncclComm_t handle, int* excluded, int count, ncclComm_t* out,
                                      ncclConfig_t* config, int flags) {
  return api<"ncclCommShrink">([&] {
    require(flags == NCCL_SHRINK_DEFAULT || flags == NCCL_SHRINK_ABORT);
    auto parent = use(handle);
    // After an error or ncclCommRevoke the parent is of use for this.
    if (!parent->links || (flags == NCCL_SHRINK_DEFAULT && !parent->revoked)) use_awake(handle);
    require(out && count > 0 && excluded && count < parent->count);
    std::vector<int> without(excluded, excluded + count);
    for (int rank : without) require(rank >= 0 && rank < parent->count && rank != parent->rank);
    if (flags == NCCL_SHRINK_ABORT) parent->revoke();
    return derive(parent, out, config, [=](const Comm& child) { shrink(parent, child, without); });
  });
}
AW_PROFILED(ncclCommShrink);

AW_EXPORT ncclResult_t ncclCommGetUniqueId(ncclComm_t handle, ncclUniqueId* id) {
  return api<"ncclCommGetUniqueId">([&] {
    auto comm = use_awake(handle);
    require(id);
    std::lock_guard lock(comm->mutex);
    if (comm->growing)
      throw aw::Failure(ncclInvalidUsage, "the id before has not been used by ncclCommGrow");
    comm->growing = std::make_unique<ncclUniqueId>(make_id());
    *id = *comm->growing;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommGetUniqueId);

AW_EXPORT ncclResult_t ncclCommGrow(ncclComm_t handle, int count, const ncclUniqueId* id, int rank,
                                    ncclComm_t* out, ncclConfig_t* config) {
  return api<"ncclCommGrow">([&] {
    require(out && count > 0);
    if (!handle) {
      require(id && rank >= 0 && rank < count);
      return create(out, count, *id, rank, config);
    }
    auto parent = use_awake(handle);
    require(rank == -1 && count > parent->count);
    Invitation mine = {};
    {
      std::lock_guard lock(parent->mutex);
      if (auto known = std::move(parent->growing)) mine = {1, *known};
    }
    if (id) read_id(*id), mine = {1, *id};
    return derive(parent, out, config, [=](const Comm& child) {
      child->rank = parent->rank, child->count = count;
      grow(parent, child, mine);
    });
  });
}
AW_PROFILED(ncclCommGrow);

AW_EXPORT ncclResult_t ncclCommRevoke(ncclComm_t handle, int flags) {
  return api<"ncclCommRevoke">([&] {
    auto comm = use(handle);
    require(flags == NCCL_REVOKE_DEFAULT);
    if (!comm->links) use_ready(handle);
    comm->revoke();
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommRevoke);

// Nothing of a communicator lies in the memory of devices: there is nothing to give back.
AW_EXPORT ncclResult_t ncclCommSuspend(ncclComm_t handle, int flags) {
  return api<"ncclCommSuspend">([&] {
    auto comm = use_awake(handle);
    require(flags == NCCL_SUSPEND_MEM);
    comm->suspended = true;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommSuspend);

AW_EXPORT ncclResult_t ncclCommResume(ncclComm_t handle) {
  return api<"ncclCommResume">([&] {
    auto comm = use_ready(handle);
    if (!comm->suspended.exchange(false))
      throw aw::Failure(ncclInvalidUsage, "the communicator is not suspended");
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommResume);

AW_EXPORT ncclResult_t ncclCommMemStats(ncclComm_t handle, ncclCommMemStat_t what,
                                        uint64_t* value) {
  return api<"ncclCommMemStats">([&] {
    auto comm = use_ready(handle);
    require(value && what >= ncclStatGpuMemSuspend && what <= ncclStatGpuMemTotal);
    *value = what == ncclStatGpuMemSuspended && comm->suspended;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommMemStats);

AW_EXPORT ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return api<"ncclCommDestroy">([&] {
    if (comm) end(comm, false);
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommDestroy);

AW_EXPORT ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return api<"ncclCommAbort">([&] {
    if (comm) end(comm, true);
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommAbort);

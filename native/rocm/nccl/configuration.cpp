// Communicators made with a configuration. The structure grows with each version of NCCL, and RCCL
// follows some versions behind: its own is filled field by field with what it has, and what it
// lacks is said when a program asks for it.
#include <climits>
#include <cstring>

#include AW_TABLES

using namespace aw::rocm;

namespace {

// ncclConfig_t of NCCL 2.31 (nccl.h); older ones are beginnings of it.
struct Configuration {
  size_t size;
  unsigned magic, version;
  int blocking, cga_cluster_size, fewest_blocks, most_blocks;
  const char* network;
  int split_share, traffic_class;
  const char* name;
  int collnet, policy, shrink_share, nvls_blocks;
  int channels_per_peer, nvlink_centric;
  int later[10];
};
static_assert(offsetof(Configuration, network) == 32 && offsetof(Configuration, name) == 48);
static_assert(offsetof(Configuration, channels_per_peer) == 72 && sizeof(Configuration) == 120);

constexpr unsigned kMagic = 0xcafebeef;
constexpr int kUndefined = INT_MIN;  // NCCL_CONFIG_UNDEF_INT

// How much of the structure the RCCL at hand has.
size_t size_of(int version) {
  if (version >= 22800) return 80;
  if (version >= 22700) return 72;
  return 48;
}

int version_of_rccl() {
  static const int found = [] {
    const auto get = reinterpret_cast<int (*)(int*)>(symbol("ncclGetVersion"));
    int version = 0;
    return get && get(&version) == 0 ? version : 0;
  }();
  return found;
}

// Whether a program set anything that lies behind `size`.
bool asks_for_more(const Configuration& given, size_t size) {
  if (size < 72 && (given.name || given.collnet != kUndefined || given.policy != kUndefined ||
                    given.shrink_share != kUndefined || given.nvls_blocks != kUndefined))
    return true;
  if (size < 80 && (given.channels_per_peer != kUndefined || given.nvlink_centric != kUndefined))
    return true;
  for (const int value : given.later)
    if (value != kUndefined) return true;
  return false;
}

// Fills `theirs` from the program's structure; returns our code.
int convert(const char* function, const void* ours, Configuration& theirs) {
  Configuration given = {};
  int* const numbers = reinterpret_cast<int*>(&given);
  for (size_t i = 4; i < sizeof given / 4; i++) numbers[i] = kUndefined;
  given.network = given.name = nullptr;
  size_t size = 0;
  memcpy(&size, ours, sizeof size);
  if (size < 48 || size > 4096) return cuda::ncclInvalidArgument;
  memcpy(&given, ours, size < sizeof given ? size : sizeof given);
  if (given.magic != kMagic) return cuda::ncclInvalidArgument;
  const int version = version_of_rccl();
  theirs = given;
  theirs.size = size_of(version);
  theirs.version = static_cast<unsigned>(version);
  // Blocks of a cluster are NVIDIA's; RCCL's field must stay undefined or it warns of every value.
  if (asks_for_more(given, theirs.size))
    unsupported(function,
                "ncclConfig_t: RCCL has not all fields that are set; the others are handed on");
  return cuda::ncclSuccess;
}

}  // namespace

// Every function exists a second time, with a p in front, for profilers that put themselves before
// the first.
#define AW_WITH_CONFIGURATION(name, parameters, types, ...)            \
  AW_EXPORT int name parameters {                                      \
    Configuration theirs;                                              \
    if (configuration)                                                 \
      if (const int problem = convert(#name, configuration, theirs)) { \
        count(at_##name);                                              \
        return problem;                                                \
      }                                                                \
    void* const chosen = configuration ? &theirs : nullptr;            \
    return AW_CALL(name, types, __VA_ARGS__);                          \
  }

#define AW_BY_HAND(name, ...) AW_WITH_CONFIGURATION(name, __VA_ARGS__)
// clang-format off
AW_BY_HAND(ncclCommInitRankConfig, (void** made, int ranks, aw_id128 id, int rank, const void* configuration),
           (void**, int, aw_id128, int, void*), made, ranks, id, rank, chosen)
AW_BY_HAND(pncclCommInitRankConfig, (void** made, int ranks, aw_id128 id, int rank, const void* configuration),
           (void**, int, aw_id128, int, void*), made, ranks, id, rank, chosen)
AW_BY_HAND(ncclCommInitRankScalable, (void** made, int ranks, int rank, int count_of_ids, void* ids, const void* configuration),
           (void**, int, int, int, void*, void*), made, ranks, rank, count_of_ids, ids, chosen)
AW_BY_HAND(pncclCommInitRankScalable, (void** made, int ranks, int rank, int count_of_ids, void* ids, const void* configuration),
           (void**, int, int, int, void*, void*), made, ranks, rank, count_of_ids, ids, chosen)
AW_BY_HAND(ncclCommSplit, (void* from, int color, int key, void** made, const void* configuration),
           (void*, int, int, void**, void*), from, color, key, made, chosen)
AW_BY_HAND(pncclCommSplit, (void* from, int color, int key, void** made, const void* configuration),
           (void*, int, int, void**, void*), from, color, key, made, chosen)
AW_BY_HAND(ncclCommShrink, (void* from, int* without, int count_of_them, void** made, const void* configuration, int flags),
           (void*, int*, int, void**, void*, int), from, without, count_of_them, made, chosen, flags)
AW_BY_HAND(pncclCommShrink, (void* from, int* without, int count_of_them, void** made, const void* configuration, int flags),
           (void*, int*, int, void**, void*, int), from, without, count_of_them, made, chosen, flags)
AW_BY_HAND(ncclCommGrow, (void* from, int ranks, const void* id, int rank, void** made, const void* configuration),
           (void*, int, const void*, int, void**, void*), from, ranks, id, rank, made, chosen)
AW_BY_HAND(pncclCommGrow, (void* from, int ranks, const void* id, int rank, void** made, const void* configuration),
           (void*, int, const void*, int, void**, void*), from, ranks, id, rank, made, chosen)
// clang-format on

namespace {

const char* words(int code) {
  switch (code) {
    case cuda::ncclSuccess:
      return "no error";
    case cuda::ncclUnhandledCudaError:
      return "a call of the CUDA library failed";
    case cuda::ncclSystemError:
      return "a call of the system or of another library failed";
    case cuda::ncclInternalError:
      return "an internal check failed";
    case cuda::ncclInvalidArgument:
      return "an argument has a value that is not allowed";
    case cuda::ncclInvalidUsage:
      return "the call is not allowed here";
    case cuda::ncclRemoteError:
      return "another process ended or could not be reached";
    case cuda::ncclInProgress:
      return "the operation is in progress";
    default:
      return "unknown result code";
  }
}

}  // namespace

AW_EXPORT const char* ncclGetErrorString(int code) {
  count(at_ncclGetErrorString);
  return words(code);
}

AW_EXPORT const char* pncclGetErrorString(int code) {
  count(at_pncclGetErrorString);
  return words(code);
}

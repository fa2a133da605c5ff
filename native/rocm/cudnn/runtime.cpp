#include "rocm/cudnn/runtime.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <new>
#include <set>

#include "rocm/folders.h"

namespace aw::dnn {

extern const StatusRow kStatuses[];

namespace {

thread_local std::string words_of_last_error;

// What libcuda does for us: counting and telling. Without it (a program that uses this library
// alone) the same is said on stderr.
struct Reporter {
  std::atomic<uint64_t>* (*counter)(const char*) = nullptr;
  void (*absent)(const char*, const char*) = nullptr;
  void (*diagnose)(const char*) = nullptr;
};

const Reporter& reporter() {
  static const Reporter found = [] {
    Reporter made;
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!driver) return made;
    made.counter = reinterpret_cast<decltype(made.counter)>(dlsym(driver, "anywarp_call_counter"));
    made.absent = reinterpret_cast<decltype(made.absent)>(dlsym(driver, "anywarp_report_absent"));
    made.diagnose = reinterpret_cast<decltype(made.diagnose)>(dlsym(driver, "anywarp_diagnose"));
    return made;
  }();
  return found;
}

void say_once(const std::string& text) {
  static std::mutex& mutex = *new std::mutex;
  static auto& said = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  if (!said.insert(text).second) return;
  const std::string line = "anywarp: " + text + "\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void diagnose(const std::string& text) {
  if (reporter().diagnose) return reporter().diagnose(text.c_str());
  say_once(text);
}

// cuDNN 8 has one code where 9 has a family.
int code_of(int status) {
  if (kMajor >= 9 || status == CUDNN_STATUS_SUCCESS) return status;
  for (const StatusRow* row = kStatuses; row->name; ++row)
    if (row->now == status && row->before >= 0) return row->before;
  constexpr int kFamily = 1000;
  return code_of(status / kFamily == 1   ? CUDNN_STATUS_NOT_INITIALIZED
                 : status / kFamily == 2 ? CUDNN_STATUS_BAD_PARAM
                 : status / kFamily == 3 ? CUDNN_STATUS_NOT_SUPPORTED
                 : status / kFamily == 5 ? CUDNN_STATUS_EXECUTION_FAILED
                                         : CUDNN_STATUS_INTERNAL_ERROR);
}

cudnnStatus_t status_of(miopenStatus_t status) {
  switch (status) {
    case miopenStatusSuccess:
      return CUDNN_STATUS_SUCCESS;
    case miopenStatusNotInitialized:
      return CUDNN_STATUS_NOT_INITIALIZED;
    case miopenStatusInvalidValue:
    case miopenStatusBadParm:
      return CUDNN_STATUS_BAD_PARAM;
    case miopenStatusAllocFailed:
      return CUDNN_STATUS_ALLOC_FAILED;
    case miopenStatusNotImplemented:
    case miopenStatusUnsupportedOp:
      return CUDNN_STATUS_NOT_SUPPORTED;
    case miopenStatusGpuOperationsSkipped:
      return CUDNN_STATUS_EXECUTION_FAILED;
    case miopenStatusVersionMismatch:
      return CUDNN_STATUS_VERSION_MISMATCH;
    default:
      return CUDNN_STATUS_INTERNAL_ERROR;
  }
}

Miopen load() {
  void* library = open_rocm({"libMIOpen.so.1", "libMIOpen.so"});
  if (!library) {
    std::string words =
        "error[N025]: cuDNN is served by MIOpen, and libMIOpen.so.1 was not found\n"
        "help: install ROCm's package `miopen-hip` (Debian: libmiopen1), or add its folder to "
        "LD_LIBRARY_PATH";
    diagnose(words);
    fail(CUDNN_STATUS_NOT_INITIALIZED, words);
  }
  Miopen functions;
#define AW_LOAD(name, result, parameters) \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, #name));
  AW_MIOPEN_FUNCTIONS(AW_LOAD)
#undef AW_LOAD
  return functions;
}

// hipMallocAsync and hipFreeAsync, HIP 5.2 and later.
struct Allocator {
  int (*allocate)(void**, size_t, cudaStream_t) = nullptr;
  int (*release)(void*, cudaStream_t) = nullptr;
};

const Allocator& allocator() {
  static const Allocator instance = [] {
    Allocator found;
    void* library = open_rocm({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"});
    if (!library) return found;
    found.allocate = reinterpret_cast<decltype(found.allocate)>(dlsym(library, "hipMallocAsync"));
    found.release = reinterpret_cast<decltype(found.release)>(dlsym(library, "hipFreeAsync"));
    return found;
  }();
  return instance;
}

}  // namespace

// The folder that the user names, where the loader looks, and where ROCm installs itself.
void* open_rocm(std::initializer_list<const char*> names) {
  for (const std::string& folder : aw::rocm::library_prefixes())
    for (const char* name : names)
      if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
  return nullptr;
}

int to_rocm(const EnumPair* pairs, size_t count, int value, const char* type) {
  for (size_t i = 0; i < count; ++i) {
    if (pairs[i].cudnn != value) continue;
    if (pairs[i].rocm >= 0) return pairs[i].rocm;
    unsupported(std::string(pairs[i].name) + ": " +
                (*pairs[i].reason ? pairs[i].reason : "MIOpen has nothing for it"));
  }
  fail(CUDNN_STATUS_BAD_PARAM, "no value of " + std::string(type) + ": " + std::to_string(value));
}

int from_rocm(const EnumPair* pairs, size_t count, int value, const char* type) {
  for (size_t i = 0; i < count; ++i)
    if (pairs[i].rocm == value) return pairs[i].cudnn;
  fail(CUDNN_STATUS_INTERNAL_ERROR,
       "MIOpen returned " + std::to_string(value) + ", which is no " + type);
}

Site::Site(const char* function) : name(function) {
  static std::atomic<uint64_t> nowhere;
  calls = reporter().counter ? reporter().counter(function) : &nowhere;
}

int run(Site& site, void (*body)(void*), void* state) noexcept {
  // Without a locked instruction: calls of several threads in the same moment may count as one.
  site.calls->store(site.calls->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  try {
    body(state);
    return CUDNN_STATUS_SUCCESS;
  } catch (const Failure& failure) {
    words_of_last_error = std::string(site.name) + ": " + failure.text;
    return code_of(failure.code);
  } catch (const std::bad_alloc&) {
    return code_of(CUDNN_STATUS_ALLOC_FAILED);
  } catch (...) {
    return code_of(CUDNN_STATUS_INTERNAL_ERROR);
  }
}

int absent(const char* name, const char* reason) noexcept {
  if (reporter().absent)
    reporter().absent(name, reason);
  else
    say_once(std::string(name) + " is not implemented: " + reason);
  return code_of(CUDNN_STATUS_NOT_SUPPORTED);
}

void fail(cudnnStatus_t status, const std::string& words) { throw Failure(status, words); }

void unsupported(const std::string& words) {
  diagnose("warning[N026]: cuDNN on MIOpen: " + words);
  fail(CUDNN_STATUS_NOT_SUPPORTED, words);
}

const std::string& last_error() { return words_of_last_error; }

std::atomic<const Miopen*> opened_miopen{nullptr};
const Miopen& open_miopen() {
  static const Miopen instance = load();
  opened_miopen.store(&instance, std::memory_order_release);
  return instance;
}

void check(miopenStatus_t status, const char* function) {
  if (__builtin_expect(status == miopenStatusSuccess, 1)) return;
  const char* words = miopen().miopenGetErrorString ? miopen().miopenGetErrorString(status) : "";
  fail(status_of(status), std::string(function) + " returned " +
                              std::to_string(static_cast<unsigned>(status)) + " " +
                              (words ? words : ""));
}

void lacks(const char* function) {
  unsupported("the MIOpen of this machine has no " + std::string(function));
}

Scratch::Scratch(cudaStream_t stream, size_t bytes) : stream_(stream) {
  if (!bytes) return;
  require(allocator().allocate && allocator().release, "libamdhip64 was not found",
          CUDNN_STATUS_NOT_INITIALIZED);
  if (allocator().allocate(&data_, bytes, stream) != 0)
    fail(CUDNN_STATUS_ALLOC_FAILED, "no memory for " + std::to_string(bytes) + " bytes");
}
Scratch::~Scratch() {
  if (data_) allocator().release(data_, stream_);
}

}  // namespace aw::dnn

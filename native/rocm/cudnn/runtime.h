// What every function of cuDNN goes through here: MIOpen's functions, statuses of both versions,
// failures and their words.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "conversions.h"
#include "core/status.h"
#include "cudnn_api.h"
#include "miopen_api.h"

#define AW_CUDNN(name, ...) void aw::dnn::serve_##name(__VA_ARGS__)
#define AW_CUDNN_VALUE(result, name, ...) result aw::dnn::serve_##name(__VA_ARGS__)

namespace aw::dnn {

extern const int kMajor;  // 8 or 9: which library this is

struct EnumPair {
  int cudnn, rocm;  // rocm -1: none
  const char* name;
  const char* reason;
};
struct StatusRow {
  int now, before;  // in cuDNN 9 and 8; -1: version 8 has none
  const char* name;
};

int to_rocm(const EnumPair* pairs, size_t count, int value, const char* type);
int from_rocm(const EnumPair* pairs, size_t count, int value, const char* type);
template <size_t N>
int to_rocm(const EnumPair (&pairs)[N], int value, const char* type) {
  return to_rocm(pairs, N, value, type);
}
template <size_t N>
int from_rocm(const EnumPair (&pairs)[N], int value, const char* type) {
  return from_rocm(pairs, N, value, type);
}

// One exported function, and where libcuda counts its calls.
struct Site {
  const char* name;
  std::atomic<uint64_t>* calls;
  explicit Site(const char* function);
};

int run(Site& site, void (*body)(void*), void* state) noexcept;
template <class Body>
int run(Site& site, Body&& body) noexcept {
  return run(site, [](void* state) { (*static_cast<Body*>(state))(); }, &body);
}

// The answer of a function that is not there, said once.
int absent(const char* name, const char* reason) noexcept;

// Throws unless `condition`; `words` go to cudnnGetLastErrorString.
[[noreturn]] void fail(cudnnStatus_t status, const std::string& words);
inline void require(bool condition, const char* words,
                    cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM) {
  if (__builtin_expect(!condition, 0)) fail(status, words);
}
template <class Pointer>
void require_pointer(Pointer pointer) {
  require(pointer != nullptr, "a null pointer", CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
}
// What this machine cannot do: said once on stderr, too.
[[noreturn]] void unsupported(const std::string& words);

const std::string& last_error();

// The first of these libraries that is there: in the folder that the user names, where the loader
// looks, where ROCm installs.
void* open_rocm(std::initializer_list<const char*> names);

struct Miopen {
#define AW_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  AW_MIOPEN_FUNCTIONS(AW_MEMBER)
#undef AW_MEMBER
};

// MIOpen's functions; throws NOT_INITIALIZED with what to install where the library is missing.
const Miopen& open_miopen();
extern std::atomic<const Miopen*> opened_miopen;
inline const Miopen& miopen() {
  const Miopen* opened = opened_miopen.load(std::memory_order_acquire);
  return __builtin_expect(opened != nullptr, 1) ? *opened : open_miopen();
}
// Throws with MIOpen's status, and the function that returned it.
void check(miopenStatus_t status, const char* function);
[[noreturn]] void lacks(const char* function);
template <class F>
F needed(F function, const char* name) {
  if (__builtin_expect(!function, 0)) lacks(name);
  return function;
}

// Memory of the device for the time of one call, in the order of a stream; throws ALLOC_FAILED.
class Scratch {
 public:
  Scratch(cudaStream_t stream, size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }

 private:
  cudaStream_t stream_;
  void* data_ = nullptr;
};

}  // namespace aw::dnn

// Calls a function of MIOpen, which must be there and succeed.
#define MIOPEN(name, ...)                                                               \
  ::aw::dnn::check(                                                                     \
      ::aw::dnn::needed(::aw::dnn::miopen().miopen##name, "miopen" #name)(__VA_ARGS__), \
      "miopen" #name)

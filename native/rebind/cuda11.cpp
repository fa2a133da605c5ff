// What CUDA 12's runtime has in another form than CUDA 11.8's, from NVIDIA's headers of 11.8 and
// 12.0: every other function of 11.8 has the same arguments and structures in both.
#include "rebind/cuda11.h"

#include <cstddef>
#include <cstring>

namespace aw::rebind {
namespace {

using Error = int;  // cudaError_t

template <class F>
F* in_twelve(const char* name) {
  return reinterpret_cast<F*>(find_in_twelve(name));
}

constexpr int kVersion = 11080;

Error runtime_version(int* version) {
  static auto* ask = in_twelve<Error(int*)>("cudaRuntimeGetVersion");
  Error error = ask(version);
  if (error == 0) *version = kVersion;
  return error;
}

// cudaFuncAttributes of 11.8; that of 12.0 goes on behind it.
struct FunctionAttributes {
  size_t shared, constant, local;
  int threads, registers, ptx, binary, cache_mode, most_dynamic_shared, carveout;
};
constexpr size_t kAttributes = offsetof(FunctionAttributes, carveout) + sizeof(int);

Error function_attributes(void* out, const void* function) {
  static auto* ask = in_twelve<Error(void*, const void*)>("cudaFuncGetAttributes");
  alignas(8) char all[1024];
  Error error = ask(out ? all : nullptr, function);
  if (error == 0) memcpy(out, all, kAttributes);
  return error;
}

// cudaTextureDesc of 11.8; in 12.0 (and as cudaTextureDesc_v2 in 11.8) `seamlessCubemap` follows.
constexpr size_t kTextureWords = 17;

Error create_texture(void* texture, const void* resource, const int* how, const void* view) {
  static auto* create =
      in_twelve<Error(void*, const void*, const int*, const void*)>("cudaCreateTextureObject");
  int all[kTextureWords + 1] = {};
  if (how) memcpy(all, how, kTextureWords * sizeof(int));
  return create(texture, resource, how ? all : nullptr, view);
}

Error texture_description(int* how, unsigned long long texture) {
  static auto* ask = in_twelve<Error(int*, unsigned long long)>("cudaGetTextureObjectTextureDesc");
  int all[kTextureWords + 1] = {};
  Error error = ask(how ? all : nullptr, texture);
  if (error == 0) memcpy(how, all, kTextureWords * sizeof(int));
  return error;
}

// 12.0 has one more argument, which may be null.
template <const char* name>
Error entry_point(const char* symbol, void** function, unsigned long long flags) {
  static auto* ask = in_twelve<Error(const char*, void**, unsigned long long, void*)>(name);
  return ask(symbol, function, flags, nullptr);
}
constexpr char kEntryPoint[] = "cudaGetDriverEntryPoint";
constexpr char kEntryPointOfThread[] = "cudaGetDriverEntryPoint_ptsz";

// 12.0 takes flags instead. "Diagnostic information may be returned" in the last three; none is.
Error instantiate(void** made, void* graph, void** node, char* log, size_t bytes) {
  static auto* make = in_twelve<Error(void**, void*, unsigned long long)>("cudaGraphInstantiate");
  if (node) *node = nullptr;
  if (log && bytes) *log = 0;
  return make(made, graph, 0);
}

// cudaGraphExecUpdateResultInfo of 12.0 holds what 11.8 returns through two pointers.
struct UpdateInfo {
  int result;
  void *node, *from;
};

Error update(void* made, void* graph, void** node, int* result) {
  static auto* run = in_twelve<Error(void*, void*, UpdateInfo*)>("cudaGraphExecUpdate");
  UpdateInfo info = {};
  Error error = run(made, graph, &info);
  if (node) *node = info.node;
  if (result) *result = info.result;
  return error;
}

struct Form {
  const char* name;
  void* function;
};

template <class F>
Form form(const char* name, F* function) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace

void* find_for_eleven(const char* name) {
  static const Form kForms[] = {
      form("cudaRuntimeGetVersion", runtime_version),
      form("cudaFuncGetAttributes", function_attributes),
      form("cudaCreateTextureObject", create_texture),
      form("cudaGetTextureObjectTextureDesc", texture_description),
      form("cudaGetDriverEntryPoint", entry_point<kEntryPoint>),
      form("cudaGetDriverEntryPoint_ptsz", entry_point<kEntryPointOfThread>),
      form("cudaGraphInstantiate", instantiate),
      form("cudaGraphExecUpdate", update),
  };
  for (const Form& each : kForms)
    if (strcmp(each.name, name) == 0) return each.function;
  // What 11.8 calls by a version has 12.0's plain name.
  if (strcmp(name, "cudaCreateTextureObject_v2") == 0) name = "cudaCreateTextureObject";
  if (strcmp(name, "cudaGetTextureObjectTextureDesc_v2") == 0)
    name = "cudaGetTextureObjectTextureDesc";
  return find_in_twelve(name);
}

}  // namespace aw::rebind

// Driver API reference: execution control, what is known of a kernel on any device of ours.
#include "cuda/function_attributes.h"
#include "cuda/module.h"

namespace aw {

void write_parameter(const Entry& entry, size_t index, size_t* offset, size_t* size) {
  require(offset && index < entry.params.size());
  *offset = entry.params[index].offset;
  if (size) *size = entry.params[index].size;
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuFuncGetModule(CUmodule* out, CUfunction function) {
  return api<"cuFuncGetModule">([&] {
    require(out);
    *out = as_handle<CUmodule>(function_of(function)->module_handle);
  });
}

AW_EXPORT CUresult cuFuncGetName(const char** name, CUfunction function) {
  return api<"cuFuncGetName">([&] {
    require(name);
    *name = function_of(function)->entry->name.c_str();
  });
}

AW_EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset,
                                      size_t* size) {
  return api<"cuFuncGetParamInfo">(
      [&] { write_parameter(*function_of(function)->entry, index, offset, size); });
}

AW_EXPORT CUresult cuFuncGetParamCount(CUfunction function, size_t* count) {
  return api<"cuFuncGetParamCount">([&] {
    require(count);
    *count = function_of(function)->entry->params.size();
  });
}

AW_EXPORT CUresult cuFuncIsLoaded(int* state, CUfunction function) {
  return api<"cuFuncIsLoaded">([&] {
    require(state);
    auto f = function_of(function);
    std::lock_guard lock(f->mutex);
    *state = f->compiled.empty() ? 0 : 1;
  });
}

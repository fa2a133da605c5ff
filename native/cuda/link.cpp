// Driver API reference: module management, linking. What comes out is PTX, which our loader takes
// like a cubin.
#include <cstring>
#include <memory>

#include "core/ptx_linker.h"
#include "cuda/context.h"
#include "cuda/image_file.h"
#include "cuda/jit_options.h"
#include "cuda/module.h"

using namespace aw;

namespace {

struct LinkState {
  JitOptions jit;
  std::vector<PtxInput> inputs;
  std::string linked;
};

Handles<LinkState>& links() {
  static auto& instance = *new Handles<LinkState>;
  return instance;
}

std::shared_ptr<LinkState> link_of(CUlinkState handle) {
  auto state = links().find(handle);
  require(state != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return state;
}

const char* kind_name(int kind) {
  const char* names[] = {"a cubin", "PTX", "a fatbin", "an object", "a library", "NVVM bitcode"};
  return kind >= 0 && kind < 6 ? names[kind] : "an unknown kind of input";
}

void add(CUlinkState handle, int kind, std::string bytes, const char* name) {
  auto state = link_of(handle);
  state->jit.run([&] {
    std::string label = name && *name ? name : "input " + std::to_string(state->inputs.size() + 1);
    if (kind == CU_JIT_INPUT_LIBRARY && is_device_runtime(bytes)) return;
    // A linked image is PTX whatever it is called, so that what cuLinkComplete made may be linked
    // again.
    bool text = bytes.find(".version") != std::string::npos && bytes.compare(0, 4, "\177ELF") != 0;
    bool accepted = kind == CU_JIT_INPUT_PTX || (kind == CU_JIT_INPUT_CUBIN && text);
    if (!accepted) {
      throw Failure(CUDA_ERROR_NO_BINARY_FOR_GPU,
                    label + ": " + kind_name(kind) +
                        " cannot be linked, only PTX can\nhelp: add PTX, or fatbins on their own");
    }
    state->inputs.push_back({label, std::move(bytes)});
  });
}

CUresult create_link(unsigned count, const int* options, void** values, CUlinkState* out) {
  require(out);
  current_context();
  auto state = std::make_shared<LinkState>(LinkState{JitOptions(count, options, values), {}, {}});
  *out = as_handle<CUlinkState>(links().add(state));
  return CUDA_SUCCESS;
}

CUresult add_data(CUlinkState handle, int kind, const void* data, size_t size, const char* name) {
  require(data && size > 0 && size <= (1u << 30));
  add(handle, kind, std::string(static_cast<const char*>(data), size), name);
  return CUDA_SUCCESS;
}

CUresult add_file(CUlinkState handle, int kind, const char* path) {
  require(path);
  add(handle, kind, read_image_file(path), path);
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuLinkCreate_v2(unsigned count, const int* options, void** values,
                                   CUlinkState* out) {
  return api<"cuLinkCreate_v2">([&] { return create_link(count, options, values, out); });
}

AW_EXPORT CUresult cuLinkCreate(unsigned count, const int* options, void** values,
                                CUlinkState* out) {
  return api<"cuLinkCreate">([&] { return create_link(count, options, values, out); });
}

AW_EXPORT CUresult cuLinkAddData_v2(CUlinkState handle, int kind, void* data, size_t size,
                                    const char* name, unsigned, const int*, void**) {
  return api<"cuLinkAddData_v2">([&] { return add_data(handle, kind, data, size, name); });
}

AW_EXPORT CUresult cuLinkAddData(CUlinkState handle, int kind, void* data, size_t size,
                                 const char* name, unsigned, const int*, void**) {
  return api<"cuLinkAddData">([&] { return add_data(handle, kind, data, size, name); });
}

AW_EXPORT CUresult cuLinkAddFile_v2(CUlinkState handle, int kind, const char* path, unsigned,
                                    const int*, void**) {
  return api<"cuLinkAddFile_v2">([&] { return add_file(handle, kind, path); });
}

AW_EXPORT CUresult cuLinkAddFile(CUlinkState handle, int kind, const char* path, unsigned,
                                 const int*, void**) {
  return api<"cuLinkAddFile">([&] { return add_file(handle, kind, path); });
}

AW_EXPORT CUresult cuLinkComplete(CUlinkState handle, void** out, size_t* size) {
  return api<"cuLinkComplete">([&] {
    auto state = link_of(handle);
    state->jit.run([&] {
      state->linked = link_ptx(state->inputs);
      auto description = describe(read_image(state->linked.c_str()));
      for (auto& line : description->diagnostics) state->jit.inform(line);
    });
    if (out) *out = state->linked.data();
    // With the zero at its end, so that a copy of these bytes can be loaded.
    if (size) *size = state->linked.size() + 1;
  });
}

AW_EXPORT CUresult cuLinkDestroy(CUlinkState handle) {
  return api<"cuLinkDestroy">(
      [&] { require(links().remove(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE); });
}

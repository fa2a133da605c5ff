// libnvJitLink over PTX: clients that link before they load (cuda-core, numba-cuda) get back PTX
// that our libcuda takes where NVIDIA's gives machine code. nvJitLink manual, CUDA 12 and 13.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "core/handles.h"
#include "core/ptx_linker.h"
#include "core/status.h"

#define NVJITLINK_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum Result : int {
  kSuccess = 0,
  kMissingArch = 2,
  kInvalidInput = 3,
  kPtxCompile = 4,
  kInternal = 6,
  kUnrecognizedInput = 8,
};

// nvJitLinkInputType.
enum Input : int {
  kCubin = 1,
  kPtx = 2,
  kLtoIr = 3,
  kFatbin = 4,
  kObject = 5,
  kLibrary = 6,
  kIndex = 7
};

struct Link {
  std::vector<aw::PtxInput> inputs;
  std::string linked, errors, information;
  bool complete = false;
};

using Handle = void*;

aw::Handles<Link>& links() {
  static auto& instance = *new aw::Handles<Link>;
  return instance;
}

// Runs `body` on a live link; what it throws becomes a result and a line of the error log.
template <class Body>
int on(Handle handle, Body&& body) noexcept {
  std::shared_ptr<Link> link;
  try {
    link = links().find(handle);
    return link ? body(*link) : kInvalidInput;
  } catch (const aw::Failure& failure) {
    if (!failure.text.empty()) link->errors += failure.text + "\n";
    return kPtxCompile;
  } catch (const std::exception& error) {
    return kInternal;
  }
}

int add(Link& link, int kind, std::string bytes, const char* name) {
  std::string label = name && *name ? name : "input " + std::to_string(link.inputs.size() + 1);
  bool machine_code = bytes.compare(0, 4, "\177ELF") == 0;
  // What an earlier link made is called a cubin, and is PTX.
  bool text = !machine_code && bytes.find(".version") != std::string::npos;
  if (kind == kPtx || (kind == kCubin && text)) {
    while (!bytes.empty() && bytes.back() == '\0') bytes.pop_back();
    link.inputs.push_back({label, std::move(bytes)});
    return kSuccess;
  }
  const char* what = kind == kLtoIr ? "LTO-IR, NVIDIA's closed form"
                     : machine_code ? "machine code of NVIDIA processors"
                                    : "no PTX";
  link.errors += label + ": " + what + ", cannot be linked; only PTX can\n";
  return kUnrecognizedInput;
}

// Copies text with its terminating zero, as the log functions and the linked image are defined.
int copy(const std::string& text, void* out) {
  if (!out) return kInvalidInput;
  memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

int size_of(const std::string& text, size_t* out) {
  if (!out) return kInvalidInput;
  *out = text.size() + 1;
  return kSuccess;
}

}  // namespace

// 12.0: a version from before LTO-IR linking for everyone; clients that ask take the PTX route for
// it.
NVJITLINK_EXPORT int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (!major || !minor) return kInvalidInput;
  *major = 12;
  *minor = 0;
  return kSuccess;
}

NVJITLINK_EXPORT int nvJitLinkCreate(Handle* out, uint32_t count, const char** options) {
  if (!out || (count && !options)) return kInvalidInput;
  bool arch = false;
  for (uint32_t i = 0; i < count; ++i)
    arch = arch || (options[i] && !strncmp(options[i], "-arch=", 6));
  if (!arch)
    return kMissingArch;  // the one option that the manual requires; the others tune code that we
                          // do not make
  try {
    *out = aw::as_handle<Handle>(links().add(std::make_shared<Link>()));
    return kSuccess;
  } catch (const std::exception&) {
    return kInternal;
  }
}

NVJITLINK_EXPORT int nvJitLinkDestroy(Handle* handle) {
  if (!handle || !links().remove(*handle)) return kInvalidInput;
  *handle = nullptr;
  return kSuccess;
}

NVJITLINK_EXPORT int nvJitLinkAddData(Handle handle, int kind, const void* data, size_t size,
                                      const char* name) {
  return on(handle, [&](Link& link) -> int {
    if (!data || size == 0 || size > (1u << 30)) return kInvalidInput;
    return add(link, kind, std::string(static_cast<const char*>(data), size), name);
  });
}

NVJITLINK_EXPORT int nvJitLinkAddFile(Handle handle, int kind, const char* path) {
  return on(handle, [&](Link& link) -> int {
    std::ifstream file(path ? path : "", std::ios::binary);
    if (!file) {
      link.errors += std::string(path ? path : "(no name)") + ": cannot be read\n";
      return kInvalidInput;
    }
    return add(link, kind, std::string(std::istreambuf_iterator<char>(file), {}), path);
  });
}

NVJITLINK_EXPORT int nvJitLinkComplete(Handle handle) {
  return on(handle, [&](Link& link) -> int {
    if (link.inputs.empty()) return kInvalidInput;
    link.linked = aw::link_ptx(link.inputs);
    link.complete = true;
    return kSuccess;
  });
}

NVJITLINK_EXPORT int nvJitLinkGetLinkedCubinSize(Handle handle, size_t* size) {
  return on(handle, [&](Link& link) -> int {
    return link.complete ? size_of(link.linked, size) : kInvalidInput;
  });
}
NVJITLINK_EXPORT int nvJitLinkGetLinkedCubin(Handle handle, void* out) {
  return on(handle, [&](Link& link) -> int {
    return link.complete ? copy(link.linked, out) : kInvalidInput;
  });
}
NVJITLINK_EXPORT int nvJitLinkGetLinkedPtxSize(Handle handle, size_t* size) {
  return nvJitLinkGetLinkedCubinSize(handle, size);
}
NVJITLINK_EXPORT int nvJitLinkGetLinkedPtx(Handle handle, char* out) {
  return nvJitLinkGetLinkedCubin(handle, out);
}
NVJITLINK_EXPORT int nvJitLinkGetErrorLogSize(Handle handle, size_t* size) {
  return on(handle, [&](Link& link) -> int { return size_of(link.errors, size); });
}
NVJITLINK_EXPORT int nvJitLinkGetErrorLog(Handle handle, char* out) {
  return on(handle, [&](Link& link) -> int { return copy(link.errors, out); });
}
NVJITLINK_EXPORT int nvJitLinkGetInfoLogSize(Handle handle, size_t* size) {
  return on(handle, [&](Link& link) -> int { return size_of(link.information, size); });
}
NVJITLINK_EXPORT int nvJitLinkGetInfoLog(Handle handle, char* out) {
  return on(handle, [&](Link& link) -> int { return copy(link.information, out); });
}

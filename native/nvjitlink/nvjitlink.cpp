// libnvJitLink: NVIDIA's linker library, for PTX. What it calls a cubin is the linked PTX, which
// our libcuda loads.
//
// It says that it is version 12.0: from 12.3 on, programs may choose to feed it NVIDIA's private
// intermediate code.
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/handles.h"
#include "core/log.h"
#include "core/ptx_linker.h"
#include "core/status.h"

#define AW_EXPORT extern "C" __attribute__((visibility("default")))

using namespace aw;

namespace {

// nvJitLinkResult and nvJitLinkInputType, as the headers list them.
enum Result : int {
  kSuccess = 0,
  kUnrecognisedOption = 1,
  kMissingArch = 2,
  kInvalidInput = 3,
  kPtxCompile = 4,
  kInternal = 6,
  kUnrecognisedInput = 8,
  kNullInput = 10,
  kLtoNotEnabled = 18,
};
enum Input : int { kCubin = 1, kPtx = 2, kLtoIr = 3, kLibrary = 6, kAny = 10 };

struct Linker {
  std::string architecture;
  std::vector<PtxInput> inputs;
  std::string linked, errors;
  bool complete = false;
};

Handles<Linker>& linkers() {
  static auto& instance = *new Handles<Linker>;
  return instance;
}

// Runs `body` on the linker of a handle; what it throws goes into the linker's log.
template <class Body>
int with(void* handle, Body&& body) noexcept {
  std::shared_ptr<Linker> linker;
  try {
    linker = linkers().find(handle);
    if (!linker) return kInvalidInput;
    return body(*linker);
  } catch (const Failure& failure) {
    linker->errors += failure.text + "\n";
    return failure.code;
  } catch (const std::exception&) {
    return kInternal;
  }
}

bool is_text(const std::string& bytes) {
  return bytes.find(".version") != std::string::npos && bytes.compare(0, 4, "\177ELF") != 0;
}

int add(Linker& linker, int kind, std::string bytes, const char* name) {
  std::string label = name && *name ? name : "input " + std::to_string(linker.inputs.size() + 1);
  if ((kind == kLibrary || kind == kAny) && is_device_runtime(bytes)) return kSuccess;
  bool accepted = (kind == kPtx || kind == kAny || kind == kCubin) && is_text(bytes);
  if (!accepted) {
    throw Failure(kind == kPtx ? kPtxCompile : kUnrecognisedInput,
                  label + ": only PTX can be linked");
  }
  linker.inputs.push_back({label, std::move(bytes)});
  return kSuccess;
}

// Of nothing a module is linked that holds nothing, as the original does.
int link_inputs(Linker& linker) {
  try {
    linker.linked = linker.inputs.empty()
                        ? ".version 8.6\n.target " + linker.architecture + "\n.address_size 64\n"
                        : link_ptx(linker.inputs);
    linker.complete = true;
    return kSuccess;
  } catch (const Failure& failure) {
    throw Failure(kPtxCompile, failure.text);
  }
}

// What the value of -arch is worth: sm_ and a number, perhaps with the letter of a family.
int check_architecture(Linker& linker, const std::string& value) {
  size_t digits = value.find_first_not_of("0123456789", 3);
  bool real = value.rfind("sm_", 0) == 0 && value.size() > 3 && digits != 3 &&
              (digits == std::string::npos ||
               (digits + 1 == value.size() && (value[digits] == 'a' || value[digits] == 'f')));
  linker.architecture = value;
  if (real) return kSuccess;
  bool is_virtual = value.rfind("compute_", 0) == 0;
  linker.errors += is_virtual ? "a virtual architecture cannot be linked for: -arch=" + value + "\n"
                              : "this is not an architecture: -arch=" + value + "\n";
  return is_virtual ? kInvalidInput : kUnrecognisedOption;
}

// The two halves of every query: how many bytes, with the zero at the end, and the bytes.
int size_of(void* handle, size_t* size, std::string Linker::* text) {
  if (!size) return kNullInput;
  return with(handle, [&](Linker& linker) {
    *size = (linker.*text).size() + 1;
    return kSuccess;
  });
}

int copy_of(void* handle, void* to, std::string Linker::* text) {
  if (!to) return kNullInput;
  return with(handle, [&](Linker& linker) {
    memcpy(to, (linker.*text).c_str(), (linker.*text).size() + 1);
    return kSuccess;
  });
}

bool is_complete(void* handle) {
  auto linker = linkers().find(handle);
  return linker && linker->complete;
}

}  // namespace

AW_EXPORT int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (!major || !minor) return kNullInput;
  *major = 12, *minor = 0;
  return kSuccess;
}

AW_EXPORT int nvJitLinkCreate(void** handle, uint32_t count, const char** options) {
  if (!handle || (count && !options)) return kNullInput;
  auto linker = std::make_shared<Linker>();
  int result = kMissingArch;
  for (uint32_t i = 0; i < count; ++i) {
    if (!options[i]) return kNullInput;
    if (strncmp(options[i], "-arch=", 6) == 0) result = check_architecture(*linker, options[i] + 6);
    if (strcmp(options[i], "-lto") == 0) {
      say(LogLevel::warn,
          "libnvJitLink: linking NVIDIA's intermediate code (-lto) is not supported");
      return kLtoNotEnabled;
    }
  }
  // There is a linker after a mistake, too: its log says which.
  *handle = reinterpret_cast<void*>(linkers().add(std::move(linker)));
  return result;
}

AW_EXPORT int nvJitLinkDestroy(void** handle) {
  if (!handle) return kNullInput;
  return linkers().remove(std::exchange(*handle, nullptr)) ? kSuccess : kInvalidInput;
}

AW_EXPORT int nvJitLinkAddData(void* handle, int kind, const void* data, size_t size,
                               const char* name) {
  if (!data || !size) return kNullInput;
  return with(handle, [&](Linker& linker) {
    return add(linker, kind, std::string(static_cast<const char*>(data), size), name);
  });
}

AW_EXPORT int nvJitLinkAddFile(void* handle, int kind, const char* path) {
  if (!path) return kNullInput;
  return with(handle, [&](Linker& linker) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Failure(kInvalidInput, std::string(path) + ": it cannot be read");
    return add(linker, kind, std::string(std::istreambuf_iterator<char>(file), {}), path);
  });
}

AW_EXPORT int nvJitLinkComplete(void* handle) { return with(handle, link_inputs); }

AW_EXPORT int nvJitLinkGetLinkedCubinSize(void* handle, size_t* size) {
  return is_complete(handle) ? size_of(handle, size, &Linker::linked) : kInvalidInput;
}

AW_EXPORT int nvJitLinkGetLinkedCubin(void* handle, void* cubin) {
  return is_complete(handle) ? copy_of(handle, cubin, &Linker::linked) : kInvalidInput;
}

AW_EXPORT int nvJitLinkGetLinkedPtxSize(void* handle, size_t* size) {
  return is_complete(handle) ? size_of(handle, size, &Linker::linked) : kInvalidInput;
}

AW_EXPORT int nvJitLinkGetLinkedPtx(void* handle, char* ptx) {
  return is_complete(handle) ? copy_of(handle, ptx, &Linker::linked) : kInvalidInput;
}

// Nothing is linked with -lto here.
AW_EXPORT int nvJitLinkGetLinkedLTOIRSize(void* handle, size_t* size) {
  if (!size) return kNullInput;
  return with(handle, [](Linker&) { return kLtoNotEnabled; });
}

AW_EXPORT int nvJitLinkGetLinkedLTOIR(void* handle, void* code) {
  if (!code) return kNullInput;
  return with(handle, [](Linker&) { return kLtoNotEnabled; });
}

AW_EXPORT int nvJitLinkGetErrorLogSize(void* handle, size_t* size) {
  return size_of(handle, size, &Linker::errors);
}
AW_EXPORT int nvJitLinkGetErrorLog(void* handle, char* log) {
  return copy_of(handle, log, &Linker::errors);
}

AW_EXPORT int nvJitLinkGetInfoLogSize(void* handle, size_t* size) {
  if (!size) return kNullInput;
  return with(handle, [&](Linker&) {
    *size = 1;
    return kSuccess;
  });
}

AW_EXPORT int nvJitLinkGetInfoLog(void* handle, char* log) {
  if (!log) return kNullInput;
  return with(handle, [&](Linker&) {
    *log = 0;
    return kSuccess;
  });
}

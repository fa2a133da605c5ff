// What the functions of NVRTC do here: a program is a source that the compile service turns into
// PTX.
#include <cstring>
#include <iterator>
#include <mutex>

#include "core/handles.h"
#include "core/log.h"
#include "core/status.h"
#include "nvrtc/nvrtc_api.h"
#include "nvrtc/translate.h"

namespace aw::nvrtc {
namespace {

#if AW_MAJOR == 12
constexpr int kMinor = 9;
constexpr int kArchitectures[] = {50, 52, 53, 60, 61,  62,  70,  72,  75, 80,
                                  86, 87, 89, 90, 100, 101, 103, 120, 121};
#else
constexpr int kMinor = 0;
constexpr int kArchitectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
#endif
constexpr size_t kPchHeap = 256u << 20;  // what NVRTC's manual gives as the default

struct Compilation {
  std::mutex mutex;
  Source source;
  Translation made;
  std::string log;
  bool compiled = false;  // it was tried
  bool machine = false;   // an architecture sm_XX was asked for, so that there is a cubin
  Callback callback = nullptr;
  void* payload = nullptr;
};

Handles<Compilation>& programs() {
  static auto& instance = *new Handles<Compilation>;
  return instance;
}

std::atomic<size_t>& pch_heap() {
  static auto& bytes = *new std::atomic<size_t>(kPchHeap);
  return bytes;
}

// Runs `body` on a program, whose lock is held; what it throws becomes the result.
template <class Body>
int with(Program handle, Body&& body) noexcept {
  try {
    auto program = programs().find(handle);
    if (!program) return kInvalidProgram;
    std::lock_guard lock(program->mutex);
    return body(*program);
  } catch (const Failure& failure) {
    return failure.code;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception&) {
    return kInternal;
  }
}

// The manual's rule for every result: how many bytes, with the zero at the end; 0 bytes where there
// is none.
int give_size(const std::string& bytes, bool there, size_t* size) {
  if (!size) return kInvalidInput;
  *size = there ? bytes.size() + 1 : 0;
  return kSuccess;
}

int give(const std::string& bytes, char* to) {
  if (!to) return kInvalidInput;
  memcpy(to, bytes.c_str(), bytes.size() + 1);
  return kSuccess;
}

// An image of a kind that is never made: NVIDIA's intermediate code.
int nothing_of(Program handle, size_t* size) {
  return with(handle, [&](Compilation&) -> int {
    if (!size) return kInvalidInput;
    *size = 0;
    return kSuccess;
  });
}

int never_there(Program handle) {
  return with(handle, [](Compilation&) -> int { return kInvalidProgram; });
}

bool asks_for_machine_code(const std::vector<std::string>& options) {
  bool machine = false;
  for (size_t i = 0; i < options.size(); ++i) {
    std::string text = options[i];
    if ((text == "-arch" || text == "--gpu-architecture") && i + 1 < options.size())
      text += "=" + options[i + 1];
    bool architecture = text.rfind("-arch", 0) == 0 || text.rfind("--gpu-architecture", 0) == 0;
    if (architecture) machine = text.find("sm_") != std::string::npos;
  }
  return machine;
}

int compile(Compilation& program, int count, const char* const* options) {
  if (program.callback && program.callback(program.payload, nullptr) != 0) return kCancelled;
  program.source.options.clear();
  for (int i = 0; i < count; ++i) program.source.options.emplace_back(options[i]);
  program.machine = asks_for_machine_code(program.source.options);
  program.compiled = true;
  program.made = {};
  try {
    program.made = translate(program.source);
    program.log = program.made.log;
    return kSuccess;
  } catch (const Failure& failure) {
    program.log = failure.text;
    bool known = failure.code == kInvalidOption || failure.code == kCompilation;
    // What is wrong with the installation (no clang, no service) must be seen by a user whose
    // program drops the log.
    if (!known) say(LogLevel::error, failure.text);
    return known ? failure.code : static_cast<int>(kInternal);
  }
}

}  // namespace

namespace own {

const char* nvrtcGetErrorString(int result) {
  static const char* const kNames[] = {"NVRTC_SUCCESS",
                                       "NVRTC_ERROR_OUT_OF_MEMORY",
                                       "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                       "NVRTC_ERROR_INVALID_INPUT",
                                       "NVRTC_ERROR_INVALID_PROGRAM",
                                       "NVRTC_ERROR_INVALID_OPTION",
                                       "NVRTC_ERROR_COMPILATION",
                                       "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                       "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                       "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                       "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                       "NVRTC_ERROR_INTERNAL_ERROR",
                                       "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
                                       "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
                                       "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
                                       "NVRTC_ERROR_PCH_CREATE",
                                       "NVRTC_ERROR_CANCELLED",
                                       "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
                                       "NVRTC_ERROR_BUSY"};
  bool known = result >= 0 && static_cast<size_t>(result) < std::size(kNames);
  return known ? kNames[result] : "NVRTC_ERROR unknown";
}

int nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return kInvalidInput;
  *major = AW_MAJOR, *minor = kMinor;
  return kSuccess;
}

int nvrtcGetNumSupportedArchs(int* count) {
  if (!count) return kInvalidInput;
  *count = static_cast<int>(std::size(kArchitectures));
  return kSuccess;
}

int nvrtcGetSupportedArchs(int* architectures) {
  if (!architectures) return kInvalidInput;
  memcpy(architectures, kArchitectures, sizeof kArchitectures);
  return kSuccess;
}

int nvrtcCreateProgram(Program* program, const char* source, const char* name, int count,
                       const char* const* headers, const char* const* names) {
  if (!program || !source || count < 0 || (count && (!headers || !names))) return kInvalidInput;
  try {
    auto made = std::make_shared<Compilation>();
    made->source.text = source;
    made->source.name = name && *name ? name : "default_program";
    for (int i = 0; i < count; ++i) {
      if (!headers[i] || !names[i]) return kInvalidInput;
      made->source.headers.emplace_back(names[i], headers[i]);
    }
    *program = as_handle<Program>(programs().add(std::move(made)));
    return kSuccess;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  }
}

int nvrtcDestroyProgram(Program* program) {
  if (!program || !programs().remove(*program)) return kInvalidProgram;
  *program = nullptr;
  return kSuccess;
}

int nvrtcCompileProgram(Program handle, int count, const char* const* options) {
  if (count < 0 || (count && !options)) return kInvalidInput;
  for (int i = 0; i < count; ++i) {
    if (!options[i]) return kInvalidInput;
  }
  return with(handle, [&](Compilation& program) { return compile(program, count, options); });
}

int nvrtcGetPTXSize(Program handle, size_t* size) {
  return with(handle, [&](Compilation& p) -> int {
    return p.made.ptx.empty() ? static_cast<int>(kInvalidProgram)
                              : give_size(p.made.ptx, true, size);
  });
}

int nvrtcGetPTX(Program handle, char* text) {
  return with(handle, [&](Compilation& p) -> int {
    return p.made.ptx.empty() ? static_cast<int>(kInvalidProgram) : give(p.made.ptx, text);
  });
}

int nvrtcGetCUBINSize(Program handle, size_t* size) {
  return with(handle, [&](Compilation& p) -> int {
    return p.made.ptx.empty() ? static_cast<int>(kInvalidProgram)
                              : give_size(p.made.ptx, p.machine, size);
  });
}

int nvrtcGetCUBIN(Program handle, char* image) {
  return with(handle, [&](Compilation& p) -> int {
    bool there = p.machine && !p.made.ptx.empty();
    return there ? give(p.made.ptx, image) : static_cast<int>(kInvalidProgram);
  });
}

int nvrtcGetLTOIRSize(Program handle, size_t* size) { return nothing_of(handle, size); }
int nvrtcGetLTOIR(Program handle, char*) { return never_there(handle); }
int nvrtcGetOptiXIRSize(Program handle, size_t* size) { return nothing_of(handle, size); }
int nvrtcGetOptiXIR(Program handle, char*) { return never_there(handle); }
int nvrtcGetTileIRSize(Program handle, size_t* size) { return nothing_of(handle, size); }
int nvrtcGetTileIR(Program handle, char*) { return never_there(handle); }
int nvrtcGetNVVMSize(Program handle, size_t* size) { return nothing_of(handle, size); }
int nvrtcGetNVVM(Program handle, char*) { return never_there(handle); }

int nvrtcGetProgramLogSize(Program handle, size_t* size) {
  return with(handle, [&](Compilation& p) { return give_size(p.log, true, size); });
}

int nvrtcGetProgramLog(Program handle, char* text) {
  return with(handle, [&](Compilation& p) { return give(p.log, text); });
}

int nvrtcAddNameExpression(Program handle, const char* expression) {
  if (!expression) return kInvalidInput;
  return with(handle, [&](Compilation& program) -> int {
    if (program.compiled) return kNoExpressionsAfter;
    program.source.expressions.emplace_back(expression);
    return kSuccess;
  });
}

int nvrtcGetLoweredName(Program handle, const char* expression, const char** name) {
  if (!expression || !name) return kInvalidInput;
  return with(handle, [&](Compilation& program) -> int {
    if (!program.compiled) return kNoNamesBefore;
    auto found = program.made.lowered.find(expression);
    if (found == program.made.lowered.end()) return kNameNotValid;
    *name = found->second.c_str();
    return kSuccess;
  });
}

// Headers are not compiled ahead: the options for it are accepted, and this tells that it was not
// done.
int nvrtcGetPCHHeapSize(size_t* size) {
  if (!size) return kInvalidInput;
  *size = pch_heap().load();
  return kSuccess;
}

int nvrtcSetPCHHeapSize(size_t size) {
  pch_heap().store(size);
  return kSuccess;
}

int nvrtcGetPCHCreateStatus(Program handle) {
  return with(handle, [](Compilation&) -> int { return kNoPchAttempted; });
}

int nvrtcGetPCHHeapSizeRequired(Program handle, size_t* size) { return nothing_of(handle, size); }

int nvrtcSetFlowCallback(Program handle, Callback callback, void* payload) {
  if (!callback) return kInvalidInput;
  return with(handle, [&](Compilation& program) -> int {
    program.callback = callback, program.payload = payload;
    return kSuccess;
  });
}

// Our headers are found without being installed.
int nvrtcGetBundledHeadersInfo(BundledHeaders* info, const char** log) {
  if (!info) return kInvalidInput;
  *info = {0, 0, 0, AW_MAJOR, kMinor, 0};
  if (log) *log = nullptr;
  return kSuccess;
}

int nvrtcInstallBundledHeaders(const char* folder, unsigned, const char** log) {
  if (!folder) return kInvalidInput;
  if (log) *log = "anywarp bundles no headers: its own are found without an option";
  return kInternal;
}

int nvrtcRemoveBundledHeaders(const char* folder, const char** log) {
  if (!folder) return kInvalidInput;
  if (log) *log = "anywarp bundles no headers";
  return kInternal;
}

}  // namespace own
}  // namespace aw::nvrtc

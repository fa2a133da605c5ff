// Driver API reference: coredump attributes. No dump of a device is ever written, so that what
// turns dumps on is refused; where and how they would be written can be set and read.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "cuda/context.h"

namespace aw {
namespace {

constexpr size_t kMostText = 1024;

struct Settings {
  bool trigger_host = true, lightweight = false;
  unsigned flags = 0;
  std::string file = "core.cuda.%h.%p", pipe = "corepipe.cuda.%h.%p";
};

struct Coredumps {
  std::mutex mutex;
  Settings global;
  std::map<uint64_t, Settings> of_context;
  std::map<uintptr_t, std::pair<CUcoredumpStatusCallback, void*>> callbacks;
  uintptr_t next = 1;
};

Coredumps& coredumps() {
  static auto& instance = *new Coredumps;
  return instance;
}

void put(const void* from, size_t bytes, void* out, size_t* size) {
  size_t room = *size;
  *size = bytes;
  if (!out) return;  // only the size is asked for
  require(room >= bytes);
  memcpy(out, from, bytes);
}

void read_setting(const Settings& s, CUcoredumpSettings attribute, void* out, size_t* size) {
  require(size);
  bool off = false;
  switch (attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
      return put(&off, sizeof off, out, size);
    case CU_COREDUMP_TRIGGER_HOST:
      return put(&s.trigger_host, sizeof s.trigger_host, out, size);
    case CU_COREDUMP_LIGHTWEIGHT:
      return put(&s.lightweight, sizeof s.lightweight, out, size);
    case CU_COREDUMP_FILE:
      return put(s.file.c_str(), s.file.size() + 1, out, size);
    case CU_COREDUMP_PIPE:
      return put(s.pipe.c_str(), s.pipe.size() + 1, out, size);
    case CU_COREDUMP_GENERATION_FLAGS:
      return put(&s.flags, sizeof s.flags, out, size);
    default:
      throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
}

template <class Value>
Value value_of(const void* from, const size_t* size) {
  require(*size >= sizeof(Value));
  Value value;
  memcpy(&value, from, sizeof value);
  return value;
}

std::string get_text(const void* from, const size_t* size) {
  const char* text = static_cast<const char*>(from);
  size_t length = strnlen(text, *size);
  require(length < kMostText);
  return std::string(text, length);
}

void write_setting(Settings& s, CUcoredumpSettings attribute, const void* from,
                   const size_t* size) {
  require(from && size && *size > 0);
  switch (attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
      if (value_of<bool>(from, size)) {
        throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                      "no dump of the device is written: the memory of device and host is one, "
                      "which a core dump of the process has (ulimit -c)");
      }
      return;
    case CU_COREDUMP_TRIGGER_HOST:
      s.trigger_host = value_of<bool>(from, size);
      return;
    case CU_COREDUMP_LIGHTWEIGHT:
      s.lightweight = value_of<bool>(from, size);
      return;
    case CU_COREDUMP_FILE:
      s.file = get_text(from, size);
      return;
    case CU_COREDUMP_PIPE:
      s.pipe = get_text(from, size);
      return;
    case CU_COREDUMP_GENERATION_FLAGS:
      s.flags = value_of<unsigned>(from, size);
      return;
    default:
      throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
}

// With the mutex held. A context begins with what was set for all.
Settings& of(uint64_t context) {
  return coredumps().of_context.try_emplace(context, coredumps().global).first->second;
}

void add_callback(CUcoredumpStatusCallback function, void* data, CUcoredumpCallbackHandle* out) {
  require(function && out);
  std::lock_guard lock(coredumps().mutex);
  uintptr_t number = coredumps().next++;
  coredumps().callbacks[number] = {function, data};
  *out = reinterpret_cast<CUcoredumpCallbackHandle>(number);
}

void remove_callback(CUcoredumpCallbackHandle handle) {
  std::lock_guard lock(coredumps().mutex);
  require(coredumps().callbacks.erase(reinterpret_cast<uintptr_t>(handle)) == 1);
}

}  // namespace
}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuCoredumpGetAttribute(CUcoredumpSettings attribute, void* value, size_t* size) {
  return api<"cuCoredumpGetAttribute">([&] {
    uint64_t context = current_context()->id;
    std::lock_guard lock(coredumps().mutex);
    read_setting(of(context), attribute, value, size);
  });
}

AW_EXPORT CUresult cuCoredumpSetAttribute(CUcoredumpSettings attribute, void* value, size_t* size) {
  return api<"cuCoredumpSetAttribute">([&] {
    uint64_t context = current_context()->id;
    require(attribute != CU_COREDUMP_ENABLE_USER_TRIGGER &&
            attribute != CU_COREDUMP_PIPE);  // these are for the process
    std::lock_guard lock(coredumps().mutex);
    write_setting(of(context), attribute, value, size);
  });
}

AW_EXPORT CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attribute, void* value,
                                                size_t* size) {
  return api<"cuCoredumpGetAttributeGlobal", Needs::nothing>([&] {
    std::lock_guard lock(coredumps().mutex);
    read_setting(coredumps().global, attribute, value, size);
  });
}

AW_EXPORT CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attribute, void* value,
                                                size_t* size) {
  return api<"cuCoredumpSetAttributeGlobal", Needs::nothing>([&] {
    std::lock_guard lock(coredumps().mutex);
    write_setting(coredumps().global, attribute, value, size);
  });
}

// Callbacks tell of dumps, of which there are none.
AW_EXPORT CUresult cuCoredumpRegisterStartCallback(CUcoredumpStatusCallback function, void* data,
                                                   CUcoredumpCallbackHandle* out) {
  return api<"cuCoredumpRegisterStartCallback", Needs::nothing>(
      [&] { add_callback(function, data, out); });
}

AW_EXPORT CUresult cuCoredumpRegisterCompleteCallback(CUcoredumpStatusCallback function, void* data,
                                                      CUcoredumpCallbackHandle* out) {
  return api<"cuCoredumpRegisterCompleteCallback", Needs::nothing>(
      [&] { add_callback(function, data, out); });
}

AW_EXPORT CUresult cuCoredumpDeregisterStartCallback(CUcoredumpCallbackHandle handle) {
  return api<"cuCoredumpDeregisterStartCallback", Needs::nothing>([&] { remove_callback(handle); });
}

AW_EXPORT CUresult cuCoredumpDeregisterCompleteCallback(CUcoredumpCallbackHandle handle) {
  return api<"cuCoredumpDeregisterCompleteCallback", Needs::nothing>(
      [&] { remove_callback(handle); });
}

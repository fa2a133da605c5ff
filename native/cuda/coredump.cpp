// Driver API reference: coredump attributes. No dump of a device is ever written, so that what
// turns dumps on is refused; where and how they would be written can be set and read.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "cuda/context.h"

typedef void (*DumpCallback)(void* data, int pid, CUdevice dev);
typedef struct CUcoredumpCallbackEntry_st* DumpCallbackHandle;

namespace aw {
namespace {

// CUcoredumpSettings
enum {
  kOnException = 1,
  kTriggerHost = 2,
  kLightweight = 3,
  kUserTrigger = 4,
  kFile = 5,
  kPipe = 6,
  kFlags = 7,
};
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
  std::map<uintptr_t, std::pair<DumpCallback, void*>> callbacks;
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

void read_setting(const Settings& s, int attribute, void* out, size_t* size) {
  require(size);
  bool off = false;
  switch (attribute) {
    case kOnException:
    case kUserTrigger:
      return put(&off, sizeof off, out, size);
    case kTriggerHost:
      return put(&s.trigger_host, sizeof s.trigger_host, out, size);
    case kLightweight:
      return put(&s.lightweight, sizeof s.lightweight, out, size);
    case kFile:
      return put(s.file.c_str(), s.file.size() + 1, out, size);
    case kPipe:
      return put(s.pipe.c_str(), s.pipe.size() + 1, out, size);
    case kFlags:
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

void write_setting(Settings& s, int attribute, const void* from, const size_t* size) {
  require(from && size && *size > 0);
  switch (attribute) {
    case kOnException:
    case kUserTrigger:
      if (value_of<bool>(from, size)) {
        throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                      "no dump of the device is written: the memory of device and host is one, "
                      "which a core dump of the process has (ulimit -c)");
      }
      return;
    case kTriggerHost:
      s.trigger_host = value_of<bool>(from, size);
      return;
    case kLightweight:
      s.lightweight = value_of<bool>(from, size);
      return;
    case kFile:
      s.file = get_text(from, size);
      return;
    case kPipe:
      s.pipe = get_text(from, size);
      return;
    case kFlags:
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

void add_callback(DumpCallback function, void* data, DumpCallbackHandle* out) {
  require(function && out);
  std::lock_guard lock(coredumps().mutex);
  uintptr_t number = coredumps().next++;
  coredumps().callbacks[number] = {function, data};
  *out = reinterpret_cast<DumpCallbackHandle>(number);
}

void remove_callback(DumpCallbackHandle handle) {
  std::lock_guard lock(coredumps().mutex);
  require(coredumps().callbacks.erase(reinterpret_cast<uintptr_t>(handle)) == 1);
}

}  // namespace
}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuCoredumpGetAttribute(int attribute, void* value, size_t* size) {
  return api<"cuCoredumpGetAttribute">([&] {
    uint64_t context = current_context()->id;
    std::lock_guard lock(coredumps().mutex);
    read_setting(of(context), attribute, value, size);
  });
}

AW_EXPORT CUresult cuCoredumpSetAttribute(int attribute, void* value, size_t* size) {
  return api<"cuCoredumpSetAttribute">([&] {
    uint64_t context = current_context()->id;
    require(attribute != kUserTrigger && attribute != kPipe);  // these are for the process
    std::lock_guard lock(coredumps().mutex);
    write_setting(of(context), attribute, value, size);
  });
}

AW_EXPORT CUresult cuCoredumpGetAttributeGlobal(int attribute, void* value, size_t* size) {
  return api<"cuCoredumpGetAttributeGlobal", Needs::nothing>([&] {
    std::lock_guard lock(coredumps().mutex);
    read_setting(coredumps().global, attribute, value, size);
  });
}

AW_EXPORT CUresult cuCoredumpSetAttributeGlobal(int attribute, void* value, size_t* size) {
  return api<"cuCoredumpSetAttributeGlobal", Needs::nothing>([&] {
    std::lock_guard lock(coredumps().mutex);
    write_setting(coredumps().global, attribute, value, size);
  });
}

// Callbacks tell of dumps, of which there are none.
AW_EXPORT CUresult cuCoredumpRegisterStartCallback(DumpCallback function, void* data,
                                                   DumpCallbackHandle* out) {
  return api<"cuCoredumpRegisterStartCallback", Needs::nothing>(
      [&] { add_callback(function, data, out); });
}

AW_EXPORT CUresult cuCoredumpRegisterCompleteCallback(DumpCallback function, void* data,
                                                      DumpCallbackHandle* out) {
  return api<"cuCoredumpRegisterCompleteCallback", Needs::nothing>(
      [&] { add_callback(function, data, out); });
}

AW_EXPORT CUresult cuCoredumpDeregisterStartCallback(DumpCallbackHandle handle) {
  return api<"cuCoredumpDeregisterStartCallback", Needs::nothing>([&] { remove_callback(handle); });
}

AW_EXPORT CUresult cuCoredumpDeregisterCompleteCallback(DumpCallbackHandle handle) {
  return api<"cuCoredumpDeregisterCompleteCallback", Needs::nothing>(
      [&] { remove_callback(handle); });
}

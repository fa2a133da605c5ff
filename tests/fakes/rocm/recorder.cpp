#include "recorder.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Rule {
  int64_t result;
  int after;
  int times;
};

struct Output {
  int parameter;
  std::string bytes;
};

struct State {
  std::mutex mutex;
  std::map<std::string, std::vector<Rule>> rules;
  std::map<std::string, std::vector<Output>> outputs;
  int record = -1;
  uint64_t number = 0;
};

// The library may be called while the process ends: never destroyed.
State& state() {
  static State& it = *new State;
  return it;
}

std::atomic<bool> g_recording{false};
std::atomic<bool> g_rules{false};
std::atomic<uint64_t> g_handles{0};
std::vector<std::atomic<uint64_t>>& counts() {
  static auto& it = *new std::vector<std::atomic<uint64_t>>(fake_function_count);
  return it;
}

extern "C" void fake_enter();

// What a library has for measurements, by name of the function; null: nothing.
extern "C" __attribute__((weak, visibility("hidden"))) void* fake_fast_path(const char* name);

std::string quoted(const char* text) {
  std::string out = "\"";
  for (const char* at = text; *at; ++at) {
    unsigned char c = static_cast<unsigned char>(*at);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += *at;
    } else if (c < 32 || c > 126) {
      char code[8];
      snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += *at;
    }
  }
  return out + '"';
}

std::string number(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", value);
  return strpbrk(text, "ni") ? quoted(text) : text;
}

std::string hex(const unsigned char* bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (size_t i = 0; i < size; ++i) (out += digits[bytes[i] >> 4]) += digits[bytes[i] & 15];
  return out + '"';
}

std::string address(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "\"0x%llx\"", static_cast<unsigned long long>(value));
  return text;
}

uint64_t integer(const unsigned char* at, uint32_t size) {
  uint64_t value = 0;
  memcpy(&value, at, size < 8 ? size : 8);
  return value;
}

int64_t extended(const unsigned char* at, uint32_t size) {
  uint64_t value = integer(at, size);
  unsigned gap = size < 8 ? 64 - 8 * size : 0;
  return static_cast<int64_t>(value << gap) >> gap;
}

std::string floating(const unsigned char* at, uint32_t size) {
  if (size == 4) {
    float value;
    memcpy(&value, at, 4);
    return number(value);
  }
  double value;
  memcpy(&value, at, 8);
  return number(value);
}

std::string shown(const FakeType& type, const unsigned char* at);

std::string members(const FakeStruct& layout, const unsigned char* at) {
  std::string out = "{";
  for (uint32_t i = 0; i < layout.field_count; ++i) {
    const FakeField& field = layout.fields[i];
    if (i) out += ',';
    out += quoted(field.name) + ':';
    if (field.count == 1) {
      out += shown(field.type, at + field.offset);
      continue;
    }
    if (field.type.kind == 'c') {
      out += quoted(
          std::string(reinterpret_cast<const char*>(at + field.offset), field.count).c_str());
      continue;
    }
    out += '[';
    for (uint32_t k = 0; k < field.count; ++k) {
      if (k) out += ',';
      out += shown(field.type, at + field.offset + k * field.type.size);
    }
    out += ']';
  }
  return out + '}';
}

// A value of a type that lies at an address of ours.
std::string shown(const FakeType& type, const unsigned char* at) {
  if (type.depth) return address(integer(at, 8));
  switch (type.kind) {
    case 'i':
      return std::to_string(extended(at, type.size));
    case 'u':
    case 'c':
      return std::to_string(integer(at, type.size));
    case 'f':
      return floating(at, type.size);
    case 'x':
      return "[" + floating(at, type.size / 2) + "," + floating(at + type.size / 2, type.size / 2) +
             "]";
    case 's':
      return type.layout ? members(*type.layout, at) : hex(at, type.size);
    default:
      return address(integer(at, 8));
  }
}

std::string text_at(uint64_t from) {
  std::string out;
  char c;
  while (out.size() < 4096 &&
         fake::read_memory(reinterpret_cast<void*>(from + out.size()), &c, 1) && c)
    out += c;
  return quoted(out.c_str());
}

// What a pointer argument points to on the host; empty where it cannot be read or its type says
// nothing.
std::string pointed(const FakeType& type, uint64_t value) {
  if (!type.depth || !value) return "";
  if (type.kind == 'c' && type.depth == 1 && !type.writes) return text_at(value);
  if (type.depth == 1 && (type.kind == 'v' || type.kind == 'c')) return "";
  FakeType inner = type;
  inner.depth--;
  uint32_t size = inner.depth ? 8 : type.size;
  if (!size) return "";
  std::vector<unsigned char> bytes(size);
  if (!fake::read_memory(reinterpret_cast<void*>(value), bytes.data(), size)) return "";
  return shown(inner, bytes.data());
}

// Where the arguments lie: System V AMD64, 3.2.3.
struct Cursor {
  const unsigned char* registers;
  const unsigned char* stack;
  unsigned integers = 0;
  unsigned vectors = 0;

  const unsigned char* from_stack(size_t size) {
    const unsigned char* at = stack;
    stack += (size + 7) & ~size_t{7};
    return at;
  }
  // Copies the argument's bytes to out.
  void take(const FakeType& type, unsigned char* out) {
    size_t size = type.depth ? 8 : type.size;
    if (!type.depth && (type.kind == 'f' || type.kind == 'x')) {
      unsigned needed = size > 8 ? 2 : 1;
      if (vectors + needed > 8) {
        memcpy(out, from_stack(size), size);
        return;
      }
      for (unsigned i = 0; i < needed; ++i)
        memcpy(out + 8 * i, registers + 48 + 16 * vectors++, size - 8 * i < 8 ? size - 8 * i : 8);
      return;
    }
    unsigned needed = static_cast<unsigned>((size + 7) / 8);
    if (needed > 2 || integers + needed > 6) {
      memcpy(out, from_stack(size), size);
      return;
    }
    memcpy(out, registers + 8 * integers, size);
    integers += needed;
  }
};

void write_line(const std::string& members) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.record < 0) return;
  std::string line = "{\"n\":" + std::to_string(s.number++) +
                     ",\"pid\":" + std::to_string(getpid()) +
                     ",\"tid\":" + std::to_string(syscall(SYS_gettid)) + "," + members + "}\n";
  [[maybe_unused]] ssize_t done = write(s.record, line.data(), line.size());
}

// What returns text has no result that could be set for all.
bool returns_text(const char* name) {
  for (const char* part :
       {"GetErrorName", "GetErrorString", "getErrorString", "NameRef", "ApiName"})
    if (strstr(name, part)) return true;
  return false;
}

// Finds the result that was set for this call.
bool ruled(const FakeFunction& function, uint64_t* result) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  for (const char* name : {function.name, "*"}) {
    auto found = s.rules.find(name);
    if (found == s.rules.end() || (*name == '*' && returns_text(function.name))) continue;
    for (Rule& rule : found->second) {
      if (rule.after > 0) {
        rule.after--;
        continue;
      }
      if (!rule.times) continue;
      if (rule.times > 0) rule.times--;
      *result = static_cast<uint64_t>(rule.result);
      return true;
    }
  }
  return false;
}

std::string written(const FakeFunction& function, const std::vector<uint64_t>& values) {
  std::string out;
  auto add = [&](const char* name, const std::string& what) {
    out += (out.empty() ? "" : ",") + quoted(name) + ':' + what;
  };
  State& s = state();
  std::lock_guard lock(s.mutex);
  auto found = s.outputs.find(function.name);
  auto given = [&](uint32_t i) -> const std::string* {
    if (found == s.outputs.end()) return nullptr;
    for (const Output& each : found->second)
      if (each.parameter == static_cast<int>(i)) return &each.bytes;
    return nullptr;
  };
  for (uint32_t i = 0; i < function.count; ++i) {
    const FakeType& type = function.parameters[i].type;
    auto* to = reinterpret_cast<void*>(values[i]);
    if (const std::string* bytes = given(i)) {
      if (fake::write_memory(to, bytes->data(), bytes->size()))
        add(function.parameters[i].name,
            hex(reinterpret_cast<const unsigned char*>(bytes->data()), bytes->size()));
    } else if (type.kind == 'h' && type.depth == 1 && type.writes && !function.implementation) {
      uint64_t handle = 0xFA4E00000000ull + 16 * ++g_handles;
      if (to && fake::write_memory(to, &handle, 8))
        add(function.parameters[i].name, address(handle));
    }
  }
  return out;
}

void parse_results(const char* text) {
  std::string all = text;
  for (size_t at = 0; at < all.size();) {
    size_t end = all.find(';', at);
    std::string one = all.substr(at, end == std::string::npos ? end : end - at);
    at = end == std::string::npos ? all.size() : end + 1;
    size_t equals = one.find('=');
    if (equals == std::string::npos) continue;
    size_t from = one.find('@'), star = one.find('*', equals);
    fake_rocm_set_result(one.substr(0, equals).c_str(), atoll(one.c_str() + equals + 1),
                         from == std::string::npos ? 0 : atoi(one.c_str() + from + 1),
                         star == std::string::npos ? -1 : atoi(one.c_str() + star + 1));
  }
}

__attribute__((constructor)) void start() {
  for (uint32_t i = 0; i < fake_function_count; ++i) {
    const FakeFunction& function = fake_functions[i];
    void* quick = fake::fast() && fake_fast_path ? fake_fast_path(function.name) : nullptr;
    bool direct = fake::fast() && function.implementation;
    if (!quick) quick = direct ? function.implementation : reinterpret_cast<void*>(&fake_enter);
    fake_slots[i] = quick;
  }
  if (const char* path = getenv("FAKE_ROCM_RECORD")) fake_rocm_record_to(path);
  if (const char* text = getenv("FAKE_ROCM_RESULTS")) parse_results(text);
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) void* fake_record(const unsigned char* registers,
                                                                   uint32_t index,
                                                                   const unsigned char* stack,
                                                                   uint64_t* result) {
  const FakeFunction& function = fake_functions[index];
  counts()[index]++;
  *result = static_cast<uint64_t>(fake_default_result);
  bool forced = g_rules.load() && ruled(function, result);
  if (!forced && !g_recording.load() && function.implementation && !g_rules.load())
    return function.implementation;
  Cursor cursor{registers, stack};
  std::string arguments, contents;
  std::vector<uint64_t> values(function.count);
  for (uint32_t i = 0; i < function.count; ++i) {
    const FakeParameter& parameter = function.parameters[i];
    std::vector<unsigned char> bytes((parameter.type.depth ? 8 : parameter.type.size) + 16);
    cursor.take(parameter.type, bytes.data());
    values[i] = integer(bytes.data(), 8);
    arguments +=
        (i ? "," : "") + quoted(parameter.name) + ':' + shown(parameter.type, bytes.data());
    if (g_recording.load()) {
      std::string content = pointed(parameter.type, values[i]);
      if (!content.empty())
        contents += (contents.empty() ? "" : ",") + quoted(parameter.name) + ':' + content;
    }
  }
  std::string line = "\"f\":" + quoted(function.name) + ",\"args\":{" + arguments + "}";
  if (!contents.empty()) line += ",\"at\":{" + contents + "}";
  if (forced) line += ",\"forced\":" + std::to_string(static_cast<int64_t>(*result));
  if (!forced) {
    std::string out = written(function, values);
    if (!out.empty()) line += ",\"wrote\":{" + out + "}";
  }
  if (g_recording.load()) write_line(line);
  return forced ? nullptr : function.implementation;
}

extern "C" {

void fake_rocm_set_result(const char* function, int64_t result, int after, int times) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.rules[function].push_back(Rule{result, after, times});
  g_rules = true;
}

void fake_rocm_set_output(const char* function, int parameter, const void* bytes, size_t size) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  std::string content(static_cast<const char*>(bytes), size);
  for (Output& each : s.outputs[function]) {
    if (each.parameter != parameter) continue;
    each.bytes = content;
    return;
  }
  s.outputs[function].push_back(Output{parameter, content});
  g_rules = true;
}

void fake_rocm_forget() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.rules.clear();
  s.outputs.clear();
  g_rules = false;
}

void fake_rocm_record_to(const char* path) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (s.record >= 0) close(s.record);
  s.record = path && *path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  g_recording = s.record >= 0;
}

uint64_t fake_rocm_calls(const char* function) {
  for (uint32_t i = 0; i < fake_function_count; ++i)
    if (!strcmp(fake_functions[i].name, function)) return counts()[i];
  return 0;
}
}

namespace fake {

bool fast() {
  static const bool it = getenv("FAKE_ROCM_FAST") != nullptr;
  return it;
}

bool recording() { return g_recording.load(); }

void note(const char* text, ...) {
  if (!g_recording.load()) return;
  char line[16384];
  va_list arguments;
  va_start(arguments, text);
  vsnprintf(line, sizeof line, text, arguments);
  va_end(arguments);
  write_line(line);
}

void fault(const char* text, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, text);
  vsnprintf(line, sizeof line, text, arguments);
  va_end(arguments);
  fprintf(stderr, "fake rocm: %s\n", line);
  write_line("\"fault\":" + quoted(line));
}

bool read_memory(const void* from, void* to, size_t size) {
  iovec here{to, size}, there{const_cast<void*>(from), size};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

bool write_memory(void* to, const void* from, size_t size) {
  iovec here{const_cast<void*>(from), size}, there{to, size};
  return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

}  // namespace fake

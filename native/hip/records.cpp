#include "hip/records.h"

#include <cstdio>
#include <cstring>
#include <iterator>

namespace aw {
namespace {

constexpr size_t kHead = sizeof(AwHipRecord);

size_t rounded_up(size_t bytes, size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// Part of a record: reads past its end find nothing.
struct Reader {
  const uint8_t* data;
  size_t size, at = 0;
  template <class T>
  T take(size_t align = sizeof(T)) {
    at = rounded_up(at, align);
    T value{};
    if (at + sizeof(T) <= size) memcpy(&value, data + at, sizeof(T));
    at += sizeof(T);
    return value;
  }
  std::string text() {
    uint32_t length = take<uint32_t>(4);
    std::string out;
    if (at <= size && length <= size - at)
      out.assign(reinterpret_cast<const char*>(data + at), length);
    at = rounded_up(at + length, 4);
    return out;
  }
};

std::string place_text(const uint32_t block[3], const uint32_t thread[3]) {
  char text[128];
  snprintf(text, sizeof text, "block (%u,%u,%u), thread (%u,%u,%u)", block[0], block[1], block[2],
           thread[0], thread[1], thread[2]);
  return text;
}

// A conversion specification as the host's snprintf takes it, without its letter.
struct Conversion {
  std::string text = "%";
  bool wide = false;
  char letter = 0;
};

const char* read_conversion(const char* p, Reader& arguments, Conversion& c) {
  for (; *p && strchr("-+ #0123456789.*", *p); ++p) {
    if (*p == '*')
      c.text += std::to_string(arguments.take<int32_t>());
    else
      c.text += *p;
  }
  for (; *p && strchr("hljztL", *p); ++p) c.wide = c.wide || strchr("ljzt", *p);
  c.letter = *p;
  return *p ? p + 1 : p;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
template <class T>
void put_formatted(std::string& out, const std::string& format, T value) {
  char text[2 * kAwHipLongestText];
  int length = snprintf(text, sizeof text, format.c_str(), value);
  if (length > 0) out.append(text, std::min(static_cast<size_t>(length), sizeof text - 1));
}
#pragma GCC diagnostic pop

void put_conversion(std::string& out, Conversion& c, Reader& arguments, Reader& texts) {
  if (c.text.size() > 60 || !c.letter) return;
  bool integer = strchr("diouxX", c.letter) != nullptr;
  if (integer && c.wide) {
    put_formatted(out, c.text + "ll" + c.letter, arguments.take<long long>());
  } else if (integer || c.letter == 'c') {
    put_formatted(out, c.text + c.letter, arguments.take<int>());
  } else if (strchr("fFeEgGaA", c.letter)) {
    put_formatted(out, c.text + c.letter, arguments.take<double>());
  } else if (c.letter == 'p') {
    put_formatted(out, c.text + c.letter, arguments.take<void*>());
  } else if (c.letter == 's') {
    std::string text = arguments.take<uint64_t>() ? texts.text() : "(null)";
    put_formatted(out, c.text + c.letter, text.c_str());
  } else {
    out += c.text;  // no conversion of CUDA's
  }
}

}  // namespace

uint64_t read_records(const uint8_t* records, uint64_t capacity, uint64_t consumed,
                      uint64_t written,
                      const std::function<void(const AwHipRecord&, const uint8_t* body)>& tell) {
  if (capacity == 0 || written - consumed > capacity) return written;
  while (consumed < written) {
    uint64_t at = consumed % capacity, left = std::min(capacity - at, written - consumed);
    AwHipRecord record{};
    memcpy(&record, records + at, std::min<uint64_t>(left, kHead));
    if (record.kind == AW_HIP_UNFINISHED) return consumed;
    if (record.bytes < 16 || record.bytes > left) return written;  // a kernel wrote into it
    if (record.kind != AW_HIP_FILLER && record.bytes >= kHead) tell(record, records + at + kHead);
    consumed += record.bytes;
  }
  return consumed;
}

std::string printed_text(const AwHipRecord& record, const uint8_t* body) {
  size_t size = record.bytes - kHead;
  if (record.format == 0 || record.format > size) return {};
  std::string format(reinterpret_cast<const char*>(body), record.format - 1);
  size_t start = std::min(rounded_up(record.format, 8), size);
  size_t bytes = std::min<size_t>(record.arguments, size - start);
  Reader arguments{body + start, bytes};
  size_t behind = std::min(start + rounded_up(bytes, 8), size);
  Reader texts{body + behind, size - behind};
  std::string out;
  const char* p = format.c_str();
  while (*p) {
    size_t plain = strcspn(p, "%");
    out.append(p, plain);
    p += plain;
    if (!*p) break;
    if (p[1] == '%') {
      out += '%';
      p += 2;
      continue;
    }
    Conversion c;
    p = read_conversion(p + 1, arguments, c);
    put_conversion(out, c, arguments, texts);
  }
  return out;
}

std::string assertion_text(const AwHipRecord& record, const uint8_t* body) {
  Reader texts{body, record.bytes - kHead};
  std::string message = texts.text(), file = texts.text(), function = texts.text();
  char place[160];
  snprintf(place, sizeof place, "block: [%u,%u,%u], thread: [%u,%u,%u]", record.block[0],
           record.block[1], record.block[2], record.thread[0], record.thread[1], record.thread[2]);
  return file + ":" + std::to_string(record.arguments) + ": " + function + ": " + place +
         ", Assertion `" + message + "` failed.";
}

std::string stop_text(const AwHipState& state) {
  // Those of artifact.REASONS.
  static const char* const kReasons[] = {
      "a trap",
      "a call through a pointer that is no function of these parameters",
      "a full stack (calls too deep, or alloca; cuCtxSetLimit with CU_LIMIT_STACK_SIZE makes it "
      "larger)",
      "a texture or surface object that does not exist",
      "a surface where a texture belongs",
      "a texture where a surface belongs",
      "a cubemap fetch from a texture that is no cubemap",
      "a sampler that does not exist",
      "a surface access that is outside or misaligned",
      "a member mask that names lanes at another trip of a loop, for which lanes that move in step "
      "cannot wait",
      "lanes of a warp that wait for each other at different instructions, for ever",
      "a member mask that names lanes which came to another instruction, for which lanes that move "
      "in step cannot wait",
  };
  std::string what = "an assertion that failed";
  if (state.stopped != AW_HIP_ASSERT)
    what = state.reason < std::size(kReasons) ? kReasons[state.reason] : kReasons[0];
  if (state.told) what += " in " + place_text(state.block, state.thread);
  if (state.told && state.line) what += " (line " + std::to_string(state.line) + " of the PTX)";
  return what;
}

}  // namespace aw

// A descriptor is ["type", [attribute, type, "bytes in hexadecimal" or [descriptors...]], ...].
#include "libraries/cudnn/backend_json.h"

namespace aw::dnn {
namespace {

constexpr char kHead[] = R"({"anywarp_cudnn_graph":)";
constexpr char kDigits[] = "0123456789abcdef";
constexpr int kDeepest = 16;

void write(const Content& c, std::string& out) {
  out.append("[").append(std::to_string(c.type));
  for (const auto& [name, value] : c.values) {
    if (value.type == CUDNN_TYPE_HANDLE) continue;  // of this process only
    out.append(",[").append(std::to_string(name)).append(",");
    out.append(std::to_string(value.type)).append(",");
    if (value.type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      out += "[";
      for (size_t i = 0; i < value.objects.size(); ++i) {
        if (i) out += ",";
        write(*value.objects[i], out);
      }
      out += "]";
    } else {
      out += '"';
      for (unsigned char byte : value.bytes) out += kDigits[byte >> 4], out += kDigits[byte & 15];
      out += '"';
    }
    out += "]";
  }
  out += "]";
}

// What it reads may be anything.
struct Reader {
  const std::string& text;
  size_t at = 0;

  bool skip(char c) {
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }
  void want(char c) { require(skip(c), "a plan's text that cannot be read"); }
  int number() {
    int value = 0;
    const size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at - from < 8)
      value = value * 10 + (text[at++] - '0');
    require(at > from, "a plan's text that cannot be read");
    return value;
  }
  int digit() {
    require(at < text.size(), "a plan's text that cannot be read");
    const char* found = strchr(kDigits, text[at++]);
    require(found && *found, "a plan's text that cannot be read");
    return static_cast<int>(found - kDigits);
  }
  Shared descriptor(int depth) {
    require(depth < kDeepest, "a plan's text that is nested too deep");
    auto made = std::make_shared<Content>();
    want('[');
    made->type = number();
    while (skip(',')) {
      want('[');
      const int name = number();
      want(',');
      Value value;
      value.type = static_cast<cudnnBackendAttributeType_t>(number());
      want(',');
      require(owner_of(name) == made->type,
              "a plan's text with an attribute of another descriptor");
      if (value.type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        want('[');
        while (!skip(']')) {
          if (!value.objects.empty()) want(',');
          value.objects.push_back(descriptor(depth + 1));
        }
        value.count = static_cast<int64_t>(value.objects.size());
      } else {
        want('"');
        while (!skip('"')) {
          const int high = digit();
          value.bytes.push_back(static_cast<unsigned char>(high * 16 + digit()));
        }
        value.count = static_cast<int64_t>(value.bytes.size() / bytes_of(value.type));
      }
      want(']');
      made->values[name] = std::move(value);
    }
    want(']');
    check_content(*made);
    made->final = true;
    return made;
  }
};

}  // namespace

std::string to_json(const Content& graph) {
  std::string out = kHead;
  write(graph, out);
  return out + "}";
}

Shared from_json(const std::string& text) {
  require(text.rfind(kHead, 0) == 0, "a plan's text that another library wrote");
  Reader reader{text, sizeof kHead - 1};
  Shared found = reader.descriptor(0);
  require(found->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "a plan's text without a graph");
  return found;
}

}  // namespace aw::dnn

#include "nvrtc/translate.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/container.h"
#include "core/service_client.h"
#include "core/settings.h"
#include "core/sha256.h"
#include "core/status.h"
#include "core/text.h"
#include "nvrtc/nvrtc_api.h"

namespace aw::nvrtc {
namespace {

std::string working_folder() {
  std::unique_ptr<char, decltype(&free)> path(getcwd(nullptr, 0), &free);
  return path ? path.get() : "/";
}

// The image of a source: a message of its own, header and texts.
std::string image_of(const Source& source) {
  std::vector<Line> lines = {{"name", source.name}, {"folder", working_folder()}};
  for (auto& option : source.options) lines.push_back({"option", option});
  for (auto& expression : source.expressions) lines.push_back({"expression", expression});
  std::string texts = source.text;
  lines.push_back({"text", std::to_string(source.text.size())});
  for (auto& [name, text] : source.headers) {
    lines.push_back({"header", name, std::to_string(text.size())});
    texts += text;
  }
  std::string header = render_lines(lines);
  auto header_bytes = static_cast<uint32_t>(header.size());
  uint64_t text_bytes = texts.size();
  std::string image(sizeof header_bytes + sizeof text_bytes, '\0');
  memcpy(image.data(), &header_bytes, sizeof header_bytes);
  memcpy(image.data() + sizeof header_bytes, &text_bytes, sizeof text_bytes);
  return image + header + texts;
}

}  // namespace

Translation translate(const Source& source) {
  std::string image = image_of(source);
  std::string image_key = sha256_hex(image);
  std::string key = sha256_hex("source\n" + settings().build_id + "\n" + image_key + "\n");
  std::vector<Line> request = {{"op", "translate"}, {"image", image_key}, {"key", key}};
  Reply reply = ask_service(request, image, "source " + source.name, true);
  auto container = read_container(std::move(reply.payload));
  if (!container) throw Failure(kInternal, "the compile service sent a damaged reply");
  Translation out;
  out.ptx = std::string(container->payload());
  for (auto& line : container->lines) {
    if (line[0] == "log" && line.size() > 1) out.log = line[1];
    if (line[0] == "lowered" && line.size() > 2) out.lowered[line[1]] = line[2];
  }
  return out;
}

}  // namespace aw::nvrtc

#include "core/artifacts.h"

#include <cstdlib>

#include "core/cache.h"
#include "core/kernel_abi.h"
#include "core/log.h"
#include "core/report.h"
#include "core/service_client.h"
#include "core/settings.h"
#include "core/sha256.h"
#include "core/status.h"

namespace aw {
namespace {

constexpr uint64_t kMostData =
    1ull << 36;  // no real module comes near; a damaged one must not take the memory

uint64_t number(const Line& line, size_t index) {
  if (index >= line.size()) throw Failure(200, "a description has a short line: " + line[0]);
  return whole_number(line[index]);
}

const std::string& word(const Line& line, size_t index) {
  if (index >= line.size()) throw Failure(200, "a description has a short line: " + line[0]);
  return line[index];
}

std::string kind(const Container& c) {
  const Line* line = find_line(c.lines, "kind");
  return line && line->size() > 1 ? (*line)[1] : "";
}

Entry& entry_of(ModuleDescription& d, const std::string& name) {
  for (auto& entry : d.entries) {
    if (entry.name == name) return entry;
  }
  throw Failure(200, "a description speaks of an unknown kernel: " + name);
}

void read_line(ModuleDescription& d, const Line& line) {
  const std::string& key = line[0];
  if (key == "ptx") {
    d.ptx_version = word(line, 1), d.ptx_target = word(line, 2);
  } else if (key == "data") {
    d.data_bytes = number(line, 1), d.data_align = number(line, 2);
  } else if (key == "entry") {
    Entry e;
    e.name = word(line, 1), e.param_bytes = number(line, 2);
    for (size_t i = 0; i < 3; ++i) e.maxntid[i] = static_cast<uint32_t>(number(line, 3 + i));
    e.reqntid = number(line, 6) != 0;
    d.entries.push_back(std::move(e));
  } else if (key == "param") {
    entry_of(d, word(line, 1))
        .params.push_back({number(line, 2), number(line, 3), number(line, 4)});
  } else if (key == "text") {
    entry_of(d, word(line, 1)).text_bytes = number(line, 2);
  } else if (key == "tiles") {
    entry_of(d, word(line, 1)).tiles = true;
  } else if (key == "pointer") {
    entry_of(d, word(line, 1)).pointer = number(line, 2);
  } else if (key == "needs") {
    entry_of(d, word(line, 1)).unsupported.push_back(word(line, 2));
  } else if (key == "global") {
    d.variables[word(line, 1)] = {word(line, 2), number(line, 3), number(line, 4), number(line, 5)};
  } else if (key == "managed") {
    d.managed = true;
  } else if (key == "reference") {
    d.references[word(line, 1)] = {word(line, 2), number(line, 3)};
  } else if (key == "address") {
    if (word(line, 3) != "data")
      throw Failure(801, "addresses of kind " + line[3] + " are not supported in data");
    d.addresses.push_back({number(line, 1), number(line, 2), number(line, 4), number(line, 5)});
  } else if (key == "diagnostic") {
    d.diagnostics.push_back(word(line, 1));
  }
}

void check(const ModuleDescription& d) {
  auto inside = [](uint64_t offset, uint64_t size, uint64_t whole) {
    return size <= whole && offset <= whole - size;
  };
  bool good = d.data_bytes <= kMostData && d.initial.size() <= d.data_bytes &&
              d.data_align <= (1u << 21) && (d.data_align & (d.data_align - 1)) == 0;
  for (auto& e : d.entries) {
    good = good && e.param_bytes <= 65536;
    for (auto& p : e.params) good = good && inside(p.offset, p.size, e.param_bytes);
  }
  for (auto& [name, v] : d.variables) good = good && inside(v.offset, v.size, d.data_bytes);
  for (auto& [name, r] : d.references)
    good = good && r.offset % 8 == 0 && inside(r.offset, 8, d.data_bytes);
  for (auto& a : d.addresses) {
    good = good && a.width >= 1 && a.width <= 8 && inside(a.offset, a.width, d.data_bytes) &&
           a.target <= d.data_bytes;
  }
  if (!good) throw Failure(200, "the description of the module contradicts itself");
}

ModuleDescription read_description(const Container& c) {
  ModuleDescription d;
  for (auto& line : c.lines) read_line(d, line);
  d.initial = std::string(c.payload());
  if (d.data_align == 0) d.data_align = 1;
  check(d);
  return d;
}

KernelArtifact read_kernel(Container c) {
  KernelArtifact k;
  for (auto& line : c.lines) {
    const std::string& key = line[0];
    if (key == "abi" && number(line, 1) != ANYWARP_ABI)
      throw Failure(999, "a kernel of another version of anywarp");
    if (key == "name") k.name = word(line, 1);
    if (key == "symbol") k.symbol = word(line, 1);
    if (key == "frame") k.frame_fixed = number(line, 1), k.frame_per_warp = number(line, 2);
    if (key == "local") k.local = number(line, 1);
    if (key == "shared") k.shared = number(line, 1);
    if (key == "param") k.param = number(line, 1);
    if (key == "compile_ms") k.compile_ms = strtod(word(line, 1).c_str(), nullptr);
    if (key == "alone") k.alone = number(line, 1) != 0;
    if (key == "stack") k.stack = number(line, 1);
    if (key == "variant") k.variant.push_back({number(line, 1), number(line, 2), number(line, 3)});
    if (key == "wait") k.waits.emplace_back(number(line, 1), number(line, 2));
    if (key == "site") k.sites.push_back(line);
    if (key == "note" && line.size() > 1) {
      const bool plain = line[1].rfind("not optimised", 0) == 0;  // machine_code.left_plain
      say(plain ? LogLevel::info : LogLevel::debug, k.name + ": " + line[1]);
    }
    if (key != "block") continue;
    for (size_t i = 0; i < 3; ++i) k.block[i] = static_cast<uint32_t>(number(line, 1 + i));
  }
  if (k.symbol.empty()) throw Failure(999, "a compiled kernel names no symbol");
  k.container = std::move(c);
  return k;
}

std::string key_of(const KernelRequest& r) {
  std::string shape;
  for (uint32_t axis : r.block) shape += (shape.empty() ? "" : " ") + std::to_string(axis);
  return sha256_hex("kernel\n" + settings().build_id + "\n" + r.device + "\n" + r.image->key +
                    "\n" + r.kernel + "\n" + shape + "\n" + write_options(r.options) + "\n");
}

std::string comparison_key(const KernelRequest& r) {
  return sha256_hex("comparison\n" + key_of(r) + "\n");
}

std::vector<Line> request_lines(const KernelRequest& r, const char* op) {
  return {
      {"op", op},
      {"image", r.image->key},
      {"device", r.device},
      {"kernel", r.kernel},
      {"block", std::to_string(r.block[0]), std::to_string(r.block[1]), std::to_string(r.block[2])},
      {"options", write_options(r.options)},
      {"key", key_of(r)}};
}

// The service's reply holds the container; one that is damaged on the way is not used.
Container container_of(Reply reply, const std::string& what, const char* wanted) {
  auto container = read_container(std::move(reply.payload));
  if (!container || kind(*container) != wanted)
    throw Failure(999, what + ": the compile service sent a damaged container");
  return std::move(*container);
}

}  // namespace

Image::Image(std::string image_bytes) : bytes(std::move(image_bytes)), key(sha256_hex(bytes)) {}

ModuleDescription describe_image(std::shared_ptr<const Image> image, const std::string& device) {
  std::string key =
      sha256_hex("module\n" + settings().build_id + "\n" + device + "\n" + image->key + "\n");
  auto found = cached(key);
  if (!found || kind(*found) != "module") {
    Reply reply =
        ask_service({{"op", "describe"}, {"image", image->key}, {"device", device}, {"key", key}},
                    image->bytes, "the module", true);
    found = container_of(std::move(reply), "the module", "module");
  }
  ModuleDescription d = read_description(*found);
  d.image = std::move(image);
  return d;
}

std::optional<KernelArtifact> cached_kernel(const KernelRequest& r) {
  auto found = cached(key_of(r));
  if (!found || kind(*found) != "kernel") return {};
  report_artifact(r.kernel, true, 0);
  return read_kernel(std::move(*found));
}

namespace {

// What the cache has of the machine's speed, as words; empty: nothing, or the usual.
std::string measured_words(const std::string& device) {
  constexpr size_t kLongest = 200;
  auto found = cached(sha256_hex("machine\n" + settings().build_id + "\n" + device + "\n"));
  if (!found || kind(*found) != "machine") return "";
  const Line* line = find_line(found->lines, "tuning");
  if (!line || line->size() != 2) return "";
  const std::string& words = (*line)[1];
  const bool plain =
      words.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789=,") == std::string::npos;
  return plain && words.size() < kLongest ? words : "";
}

}  // namespace

std::string tuned(const std::string& device, bool tiles) {
  std::string words = measured_words(device);
  if (tiles) {  // words are in alphabetical order, and one may come behind it
    size_t behind = std::min(words.find("vector="), words.size());
    std::string word = behind < words.size() ? "tiles=1," : "tiles=1";
    if (behind == words.size() && !words.empty()) word.insert(0, ",");
    words.insert(behind, word);
  }
  return words.empty() ? device : device + ":" + words;
}

std::optional<Comparison> compared(const KernelRequest& r) {
  auto found = cached(comparison_key(r));
  if (!found || kind(*found) != "comparison") return {};
  const Line* line = find_line(found->lines, "times");
  if (!line) return {};
  return Comparison{number(*line, 1), number(*line, 2), number(*line, 3), number(*line, 4) != 0};
}

void keep_comparison(const KernelRequest& r, const Comparison& c) {
  keep(comparison_key(r), {{"kind", "comparison"},
                           {"kernel", r.kernel},
                           {"options", write_options(r.options)},
                           {"times", std::to_string(c.blocks), std::to_string(c.replaced_ns),
                            std::to_string(c.ns), c.better ? "1" : "0"}});
}

SourcePlace locate(const KernelRequest& r, uint64_t offset, uint64_t line) {
  SourcePlace place;
  try {
    auto lines = request_lines(r, "locate");
    lines.push_back({"offset", std::to_string(offset)});
    lines.push_back({"line", std::to_string(line)});
    Reply reply = ask_service(lines, r.image->bytes, "kernel " + r.kernel, false);
    const Line* ptx = find_line(reply.lines, "ptx_line");
    const Line* source = find_line(reply.lines, "source");
    if (ptx && ptx->size() > 1) place.ptx_line = whole_number((*ptx)[1]);
    if (source && source->size() > 1) place.source = (*source)[1];
  } catch (const Failure&) {
    return {};
  }
  return place;
}

KernelArtifact obtain_kernel(const KernelRequest& r, bool aloud) {
  if (auto found = cached_kernel(r)) return std::move(*found);
  std::string what = "kernel " + r.kernel;
  auto lines = request_lines(r, "compile");
  // Nobody waits: this process may have ended when the kernel's variant would be asked for.
  if (!aloud && !r.options.quick && r.options.multiples.empty()) lines.push_back({"ahead", "1"});
  Reply reply = ask_service(lines, r.image->bytes, what, aloud);
  const Line* was_cached = find_line(reply.lines, "cached");
  const Line* took = find_line(reply.lines, "compile_ms");
  report_artifact(r.kernel, was_cached && was_cached->size() > 1 && (*was_cached)[1] == "1",
                  took && took->size() > 1 ? strtod((*took)[1].c_str(), nullptr) : 0);
  return read_kernel(container_of(std::move(reply), what, "kernel"));
}

}  // namespace aw

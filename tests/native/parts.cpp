// Runs one part of native/core on its standard input, for tests: digests, encodings, containers,
// the PTX linker.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "core/container.h"
#include "core/ptx_linker.h"
#include "core/sha256.h"
#include "core/status.h"
#include "core/text.h"

namespace {

std::string read_input() {
  std::string out;
  char buffer[65536];
  while (size_t got = fread(buffer, 1, sizeof buffer, stdin)) out.append(buffer, got);
  return out;
}

std::string digest(const std::string& data, size_t step) {
  aw::Sha256 hash;
  for (size_t i = 0; i < data.size(); i += step)
    hash.update(data.data() + i, std::min(step, data.size() - i));
  std::string out;
  char text[3];
  for (uint8_t byte : hash.finish())
    out.append(text, static_cast<size_t>(snprintf(text, sizeof text, "%02x", byte)));
  return out;
}

std::string show_container(std::string data) {
  auto container = aw::read_container(std::move(data));
  if (!container) exit(3);
  std::string out;
  for (auto& line : container->lines) {
    for (size_t i = 0; i < line.size(); ++i) out += (i ? "|" : "") + line[i];
    out += "\n";
  }
  return out + std::string(container->payload());
}

std::string link(int count, char** paths) {
  std::vector<aw::PtxInput> inputs;
  for (int i = 0; i < count; ++i) {
    std::ifstream file(paths[i], std::ios::binary);
    inputs.push_back({paths[i], std::string(std::istreambuf_iterator<char>(file), {})});
  }
  return aw::link_ptx(inputs);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string what = argv[1], out;
  try {
    if (what == "sha256") out = digest(read_input(), strtoul(argv[2], nullptr, 10));
    if (what == "encode") out = aw::percent_encode(read_input());
    if (what == "decode") out = aw::percent_decode(read_input());
    if (what == "container") out = show_container(read_input());
    if (what == "link") out = link(argc - 2, argv + 2);
  } catch (const aw::Failure& failure) {
    fprintf(stderr, "%s\n", failure.text.c_str());
    return 3;
  }
  fwrite(out.data(), 1, out.size(), stdout);
}

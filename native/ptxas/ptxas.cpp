// A `ptxas` for tools that insist on calling one, Triton first: its "cubin" is the PTX itself.
//
// Our driver loads PTX wherever a cubin is loaded, so nothing is compiled here; the compile service
// does that, for the processor at hand, when a kernel is first needed. A native program because
// Triton starts it once per kernel.
#include <cstdio>
#include <cstring>
#include <string>

namespace {

// As the original says it, for those who search it for "release"; the first line keeps Triton's own
// cache of cubins apart from that of a machine with an NVIDIA card.
constexpr char kVersion[] =
    "ptxas: PTX handed on to anywarp's driver\n"
    "Cuda compilation tools, release 13.0, V13.0.0\n";

// What the original returns for files that it cannot use.
constexpr int kFatal = 255;

// Options whose value is the next word when it is not joined to them by `=`.
constexpr const char* kValued[] = {"-arch",
                                   "--gpu-name",
                                   "-O",
                                   "--opt-level",
                                   "-maxrregcount",
                                   "--maxrregcount",
                                   "-m",
                                   "--machine",
                                   "-e",
                                   "--entry",
                                   "--def-load-cache",
                                   "-dlcm",
                                   "--def-store-cache",
                                   "-dscm",
                                   "--fmad",
                                   "-fmad"};

struct Request {
  std::string input, output = "elf.o";
  bool version = false, help = false, verbose = false;
};

bool takes_a_value(const char* word) {
  for (const char* each : kValued)
    if (!std::strcmp(word, each)) return true;
  return false;
}

// Reads the command line; false when something follows no rule of it.
bool read(int count, char** words, Request& request) {
  for (int i = 1; i < count; ++i) {
    const char* word = words[i];
    if (!std::strcmp(word, "--version") || !std::strcmp(word, "-V")) {
      request.version = true;
    } else if (!std::strcmp(word, "-v") || !std::strcmp(word, "--verbose")) {
      request.verbose = true;
    } else if (!std::strcmp(word, "-o") || !std::strcmp(word, "--output-file")) {
      if (++i >= count) return false;
      request.output = words[i];
    } else if (!std::strncmp(word, "--output-file=", 14)) {
      request.output = word + 14;
    } else if (word[0] == '-' && word[1]) {
      if (takes_a_value(word)) ++i;
    } else if (!request.input.empty()) {
      std::fprintf(stderr, "ptxas fatal   : more than one input: %s and %s\n",
                   request.input.c_str(), word);
      return false;
    } else {
      request.input = word;
    }
  }
  return request.version || !request.input.empty();
}

// The whole file; false when it cannot be read.
bool read_file(const std::string& path, std::string& text) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (!file) return false;
  char part[1 << 16];
  for (size_t got; (got = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, got);
  const bool fine = !std::ferror(file);
  if (file != stdin) std::fclose(file);
  return fine;
}

// With a zero byte behind it: XLA hands what it reads to cuModuleLoadData, which is told no size.
bool write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return false;
  const size_t size = text.size() + 1;
  const bool written = std::fwrite(text.c_str(), 1, size, file) == size;
  return std::fclose(file) == 0 && written;
}

// A translation that begins with a directive `.version`, which every PTX module does (PTX ISA, "PTX
// Module Directives").
bool is_ptx(const std::string& text) { return text.find(".version") != std::string::npos; }

int fatal(const char* what, const std::string& path) {
  std::fprintf(stderr, "ptxas fatal   : %s '%s'\n", what, path.c_str());
  return kFatal;
}

}  // namespace

int main(int count, char** words) {
  Request request;
  if (!read(count, words, request)) {
    std::fprintf(stderr, "ptxas fatal   : usage: ptxas [options] FILE.ptx -o FILE.cubin\n");
    return kFatal;
  }
  if (request.version) {
    std::fputs(kVersion, stdout);
    return 0;
  }
  std::string text;
  if (!read_file(request.input, text)) return fatal("cannot read", request.input);
  if (!is_ptx(text)) return fatal("this is not PTX:", request.input);
  if (!write_file(request.output, text)) return fatal("cannot write", request.output);
  if (request.verbose)
    std::fprintf(stderr, "ptxas info    : compiled by anywarp when a kernel is first needed\n");
  return 0;
}

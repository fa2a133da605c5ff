// Module descriptions and compiled kernels, from the cache or the compile service, as typed data.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/container.h"
#include "core/options.h"

namespace aw {

// Bytes that a program asked us to load, and their key. Kept for as long as kernels may still have
// to be compiled.
struct Image {
  std::string bytes;
  std::string key;
  explicit Image(std::string image_bytes);
};

struct Parameter {
  uint64_t offset, size, align;
};

struct Entry {
  std::string name;
  uint64_t param_bytes = 0;
  std::array<uint32_t, 3> maxntid{};
  bool reqntid = false;
  std::vector<Parameter> params;
  std::vector<std::string> unsupported;  // instruction forms that we lack
  uint64_t text_bytes = 0;               // how much PTX there is to compile; 0: not stated
  bool tiles = false;                    // its code may use tiles, where there are such
  uint64_t pointer = 0;                  // its address in kernels that may launch it; 0: none may
};

struct Variable {
  std::string space;
  uint64_t offset, size, align;
};

// A variable of 8 bytes that stands for a texture, a sampler or a surface.
struct OpaqueVariable {
  std::string kind;  // texref, samplerref, surfref
  uint64_t offset;
};

// An address to be stored in the module's data when it is instantiated.
struct AddressSlot {
  uint64_t offset, target, width, mask;
};

struct ModuleDescription {
  std::shared_ptr<const Image> image;
  std::string ptx_version, ptx_target;
  uint64_t data_bytes = 0, data_align = 1;
  bool managed = false;  // the host reads and writes variables of it too
  std::string initial;   // data as it begins, at most data_bytes
  std::vector<Entry> entries;
  std::map<std::string, Variable> variables;
  std::map<std::string, OpaqueVariable> references;
  std::vector<AddressSlot> addresses;
  std::vector<std::string> diagnostics;
};

struct KernelArtifact {
  std::string name, symbol;
  std::array<uint32_t, 3> block{};  // zeros: any
  uint64_t frame_fixed = 0, frame_per_warp = 0, local = 0, shared = 0, param = 0;
  double compile_ms = 0;
  bool alone = false;  // ends whatever other threads of the program do
  uint64_t stack = 0;  // what a call takes of the thread's stack; 0: not known
  std::vector<std::pair<uint64_t, uint64_t>> waits;  // where lanes wait: number, line of the PTX
  std::vector<Line> sites;                           // what checked code watches, by number
  std::vector<Multiple> variant;                     // code that may assume these would be faster
  Container container;                               // its payload is the object
};

// What is to be compiled, and for what.
struct KernelRequest {
  std::shared_ptr<const Image> image;
  std::string kernel;
  std::array<uint32_t, 3> block{};  // zeros: any
  std::string device;
  CompileOptions options;
};

// Both throw Failure with the code for the caller of the API and the diagnostics as text. `aloud`:
// the user waits for it and is told when it takes long.
ModuleDescription describe_image(std::shared_ptr<const Image> image, const std::string& device);
KernelArtifact obtain_kernel(const KernelRequest& request, bool aloud = true);

// The device that code is asked for: with what was measured of its speed, if the cache has that,
// and whether this process may use tiles (docs/contracts.md, section 2).
std::string tuned(const std::string& device, bool tiles);

// Where code came from: a line of the PTX (0: not known), and of the source if the PTX says so.
struct SourcePlace {
  uint64_t ptx_line = 0;
  std::string source;
};

// Asks where the instruction at `offset` from a kernel's entry came from, or (not 0) a line of its
// PTX. Never throws: nothing is known where nobody can tell.
SourcePlace locate(const KernelRequest& request, uint64_t offset, uint64_t line);

// The same if it lies in the cache.
std::optional<KernelArtifact> cached_kernel(const KernelRequest& request);

// What measured launches have shown of code against the code that it would replace: the best times
// of each for a grid of so many blocks.
struct Comparison {
  uint64_t blocks = 0, replaced_ns = 0, ns = 0;
  bool better = false;
};

// What an earlier process, or another one at the same time, has found of the request's code.
std::optional<Comparison> compared(const KernelRequest& request);
void keep_comparison(const KernelRequest& request, const Comparison& comparison);

}  // namespace aw

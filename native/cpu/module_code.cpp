// What a module has on the processor: its variables in memory, and the code of its kernels.
#include <algorithm>
#include <cstring>

#include "core/settings.h"
#include "core/watched_memory.h"
#include "cpu/memory.h"
#include "cpu/versions.h"
#include "cuda/driver.h"
#include "cuda/limits.h"
#include "cuda/module.h"
#include "devices/texture_table.h"
#include "devices/tiles.h"

namespace aw {
namespace {

constexpr size_t kMostShapes = 8;
// Threads along x that code for a block shape reckons with (docs/contracts.md, section 1).
constexpr uint64_t kMostColumns = uint64_t{1} << 30;

// As the cache has it when the first kernel is asked for; it stays so for as long as the process
// runs. Only for a kernel that can use tiles Linux is asked whether it may.
const std::string& device_of_code(bool tiles) {
  static const std::string& device = *new std::string(tuned(device_info().identity, false));
  if (!tiles || !may_use_tiles()) return device;
  static const std::string& with_tiles = *new std::string(tuned(device_info().identity, true));
  return with_tiles;
}

// Where 32 bits reach, if there is room: programs of CUDA before 3.2 ask for addresses of that size
// (cuModuleGetGlobal).
void* room_for_variables(uint64_t bytes, int device) {
  constexpr uint64_t kFew = 64 << 10;
  if (bytes > kFew) return allocate_bytes(bytes, device);
  try {
    return allocate_bytes(bytes, device, true);
  } catch (const Failure&) {
    return allocate_bytes(bytes, device);
  }
}

}  // namespace

ModuleData::ModuleData(const ModuleDescription& d, int owner) : bytes(d.data_bytes), device(owner) {
  if (bytes == 0) return;
  uint64_t align = std::max<uint64_t>(d.data_align, 1);
  // Allocations are aligned to 256 bytes; no variable of PTX asks for more, but a description may.
  require(align <= 256, CUDA_ERROR_NOT_SUPPORTED);
  base = static_cast<uint8_t*>(room_for_variables(bytes, device));
  memset(base, 0, bytes);
  memcpy(base, d.initial.data(), d.initial.size());
  for (auto& slot : d.addresses) {
    uint64_t address = reinterpret_cast<uint64_t>(base) + slot.target;
    // PTX's mask() takes one byte of an address (PTX ISA, initialisers).
    if (slot.mask) address = (address & slot.mask) >> __builtin_ctzll(slot.mask);
    memcpy(base + slot.offset, &address, slot.width);
  }
  for (auto& [name, r] : d.references) {
    auto address = reinterpret_cast<uint64_t>(base) + r.offset;
    add_reference(address, r.kind == "samplerref" ? Reference::sampler
                           : r.kind == "surfref"  ? Reference::surface
                                                  : Reference::texture);
    references.push_back(address);
  }
  Allocation known;
  known.base = reinterpret_cast<uint64_t>(base), known.bytes = bytes;
  known.kind = MemoryKind::variables, known.device = device;
  enter(std::move(known));
  std::vector<WatchedVariable> watched;
  for (auto& [name, v] : d.variables) watched.push_back({name, v.space, v.offset, v.size});
  watch_module(reinterpret_cast<uint64_t>(base), bytes, std::move(watched));
}

void write_reference(uint64_t cell, uint64_t handle) {
  __atomic_store_n(reinterpret_cast<uint64_t*>(cell), handle, __ATOMIC_RELEASE);
}

ModuleData::~ModuleData() {
  for (uint64_t address : references) remove_reference(address);
  if (!base) return;
  Allocation known;
  take(reinterpret_cast<uint64_t>(base), MemoryKind::variables, &known);
  release_bytes(base, bytes, device);
}

// The stack that kernels get anyway is enough for a limit of 8 KiB; beyond that our frames, which
// hold what a GPU keeps in registers, get twice what was asked for.
static uint64_t stack_option(uint64_t limit) {
  constexpr uint64_t kEnough = 8 << 10, kMost = 8 << 20, kStep = 4096;
  if (limit <= kEnough) return 0;
  return std::min(kMost, (2 * std::min(limit, kMost) + kStep - 1) / kStep * kStep);
}

std::shared_ptr<Versions> Function::code(const std::array<uint32_t, 3>& block, uint64_t grid_x) {
  std::lock_guard lock(mutex);
  const std::array<uint32_t, 3> any{};
  CompileOptions options;
  options.checks = settings().checks;
  if (!options.checks.empty()) options.lanes = 32;  // checks look at one warp at a time
  if (auto owner = context.lock())
    options.stack = stack_option(read_limit(*owner, CU_LIMIT_STACK_SIZE));
  if (options.stack > stack) {  // what was compiled for less may not do any more
    compiled.clear();
    for_wide_grids.reset();
    stack = options.stack;
  }
  options.stack = stack;
  auto obtain = [&](const std::array<uint32_t, 3>& shape) {
    return Versions::obtain(
        {description->image, entry->name, shape, device_of_code(entry->tiles), options},
        entry->text_bytes);
  };
  if (grid_x * block[0] > kMostColumns) {
    if (!for_wide_grids) for_wide_grids = obtain(any);
    return for_wide_grids;
  }
  if (auto it = compiled.find(any); it != compiled.end()) return it->second;
  if (auto it = compiled.find(block); it != compiled.end()) return it->second;
  // A program whose block shapes follow its data would compile without end: after some shapes, one
  // piece of code that serves any.
  auto shape = compiled.size() < kMostShapes ? block : any;
  auto made = obtain(shape);
  compiled[made->general()->artifact.block == any ? any : block] = made;
  return made;
}

}  // namespace aw

// What a module has on an AMD device: its variables in one allocation, and its kernels' code
// objects, loaded when first needed.
#include <algorithm>
#include <cstring>

#include "core/settings.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "hip/architecture.h"
#include "hip/devices.h"
#include "hip/kernel.h"
#include "hip/services.h"

namespace aw {
namespace {

constexpr size_t kMostShapes = 8;

// The variables as they begin, with the addresses among them for data at `base`.
std::string initial_bytes(const ModuleDescription& d, uint64_t base) {
  std::string bytes(d.data_bytes, 0);
  std::copy(d.initial.begin(), d.initial.end(), bytes.begin());
  for (auto& slot : d.addresses) {
    uint64_t address = base + slot.target;
    // PTX's mask() takes one byte of an address (PTX ISA, initialisers).
    if (slot.mask) address = (address & slot.mask) >> __builtin_ctzll(slot.mask);
    memcpy(bytes.data() + slot.offset, &address, slot.width);
  }
  return bytes;
}

// Memory that the host reads and writes too, as `__managed__` variables are.
void* managed_bytes(uint64_t bytes) {
  OutsideCapture scope;
  void* memory = nullptr;
  check(AW_HIP(hipMallocManaged)(&memory, bytes, hipMemAttachGlobal));
  return memory;
}

uint32_t word(const Line& line, size_t index) {
  return index < line.size() ? static_cast<uint32_t>(strtoul(line[index].c_str(), nullptr, 10)) : 0;
}

AmdLine read_amd_line(const KernelArtifact& artifact) {
  const Line* line = find_line(artifact.container.lines, "amd");
  if (!line || line->size() < 12)
    throw Failure(CUDA_ERROR_UNKNOWN,
                  "a kernel for another device than an AMD one: " + artifact.name);
  AmdLine a;
  a.architecture = (*line)[1];
  uint32_t* fields[] = {&a.wave,    &a.warps_per_wave, &a.vgprs,       &a.agprs, &a.sgprs,
                        &a.scratch, &a.vgpr_spills,    &a.sgpr_spills, &a.lds,   &a.max_threads};
  for (size_t i = 0; i < std::size(fields); ++i) *fields[i] = word(*line, 2 + i);
  return a;
}

void refuse_unsupported(const HipDevice& d) {
  if (is_supported(d.architecture)) return;
  throw Failure(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "error[N011]: " + d.architecture +
                    " is not an architecture that anywarp compiles for\nhelp: gfx9 (from gfx906), "
                    "gfx10, gfx11 and gfx12 are; `anywarp doctor` lists the devices");
}

}  // namespace

ModuleData::ModuleData(const ModuleDescription& d, int owner) : bytes(d.data_bytes), device(owner) {
  if (bytes == 0) return;
  // HIP aligns allocations to 256 bytes at least; no variable of PTX asks for more, but a
  // description may.
  require(d.data_align <= 256, CUDA_ERROR_NOT_SUPPORTED);
  OnDevice here(device);
  base = static_cast<uint8_t*>(d.managed ? managed_bytes(bytes) : allocate_bytes(bytes, device));
  std::string image = initial_bytes(d, reinterpret_cast<uint64_t>(base));
  try {
    write_bytes(base, image.data(), image.size(), device);
  } catch (const Failure&) {
    release_bytes(base, bytes, device);
    throw;
  }
}

ModuleData::~ModuleData() {
  if (base) release_bytes(base, bytes, device);
}

Versions::~Versions() {
  OutsideCapture scope;  // the last to hold it may be a thread that has begun to capture since
  if (module) (void)hip.hipModuleUnload(module);
}

std::shared_ptr<HipKernel> HipKernel::obtain(const KernelRequest& request) {
  const HipDevice& where = current_hip_device();
  refuse_unsupported(where);
  auto made = std::make_shared<HipKernel>();
  made->device = current_device();
  made->artifact = obtain_kernel(request);
  made->amd = read_amd_line(made->artifact);
  made->block = made->artifact.block;
  made->name = strdup(made->artifact.name.c_str());
  made->code = made->artifact.container.payload();
  made->artifact.container.bytes.clear(), made->artifact.container.payload_at = 0;
  OutsideCapture scope;  // kernels are loaded when first launched, perhaps into a captured stream
  hipError_t error = hip.hipModuleLoadData(&made->module, made->code.data());
  if (error == hipSuccess)
    error = hip.hipModuleGetFunction(&made->function, made->module, made->artifact.symbol.c_str());
  if (error != hipSuccess) {
    throw Failure(cuda_code(error),
                  "error[N012]: HIP does not load the code of kernel " + request.kernel + " for " +
                      made->amd.architecture + " on " + where.architecture + " (" +
                      (hip.hipGetErrorName ? hip.hipGetErrorName(error) : "unknown error") + ")");
  }
  return made;
}

std::shared_ptr<Versions> Function::code(const std::array<uint32_t, 3>& block, uint64_t) {
  std::lock_guard lock(mutex);
  const std::array<uint32_t, 3> any{};
  if (auto it = compiled.find(any); it != compiled.end()) return it->second;
  if (auto it = compiled.find(block); it != compiled.end()) return it->second;
  auto owner = context.lock();
  require(owner != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  OnDevice here(owner->device);
  // A program whose block shapes follow its data would compile without end: after some shapes, one
  // piece of code for any.
  auto shape = compiled.size() < kMostShapes ? block : any;
  CompileOptions options;
  options.lanes = settings().warps_per_wave * 32;
  auto made = HipKernel::obtain({description->image, entry->name, shape,
                                 hip_device_of(owner->device).info.identity, options});
  compiled[made->block == any ? any : block] = made;
  return made;
}

}  // namespace aw

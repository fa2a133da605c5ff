// Code objects as the loader of ROCm reads them, and launches, which are recorded whole.
#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "world.h"

namespace fake {
namespace {

// What of MessagePack the AMDGPU metadata uses.
struct Value {
  enum { number, text, list, map, other } kind = other;
  uint64_t n = 0;
  std::string s;
  std::vector<std::pair<Value, Value>> items;  // of a list: the first of each

  const Value* get(const char* key) const {
    for (auto& [name, value] : items)
      if (name.s == key) return &value;
    return nullptr;
  }
  uint64_t number_at(const char* key, uint64_t fallback = 0) const {
    const Value* it = get(key);
    return it ? it->n : fallback;
  }
  std::string text_at(const char* key) const {
    const Value* it = get(key);
    return it ? it->s : "";
  }
};

struct Reader {
  const unsigned char* at;
  const unsigned char* end;
  int depth = 0;
  bool bad = false;

  uint64_t big(unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value = value << 8 | next();
    return value;
  }
  unsigned char next() {
    if (at >= end) {
      bad = true;
      return 0;
    }
    return *at++;
  }
  Value text(uint64_t size) {
    Value v;
    v.kind = Value::text;
    if (size > static_cast<uint64_t>(end - at)) size = 0, bad = true;
    v.s.assign(reinterpret_cast<const char*>(at), size);
    at += size;
    return v;
  }
  Value many(uint64_t count, bool map) {
    Value v;
    v.kind = map ? Value::map : Value::list;
    if (++depth > 32) bad = true;
    for (uint64_t i = 0; i < count && !bad; ++i) {
      Value first = read();
      v.items.emplace_back(first, map ? read() : Value{});
    }
    --depth;
    return v;
  }
  Value read() {
    Value v;
    v.kind = Value::number;
    unsigned c = next();
    if (c <= 0x7f) return v.n = c, v;
    if (c >= 0xe0) return v.n = static_cast<uint64_t>(static_cast<int8_t>(c)), v;
    if (c <= 0x8f) return many(c & 15, true);
    if (c <= 0x9f) return many(c & 15, false);
    if (c <= 0xbf) return text(c & 31);
    switch (c) {
      case 0xc2:
      case 0xc3:
        return v.n = c & 1, v;
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return v.n = big(1u << (c - 0xcc)), v;
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        return v.n = big(1u << (c - 0xd0)), v;
      case 0xd9:
      case 0xda:
      case 0xdb:
        return text(big(1u << (c - 0xd9)));
      case 0xdc:
      case 0xdd:
        return many(big(c == 0xdc ? 2 : 4), false);
      case 0xde:
      case 0xdf:
        return many(big(c == 0xde ? 2 : 4), true);
      default:
        v.kind = Value::other;
        bad = bad || c != 0xc0;
        return v;
    }
  }
};

template <typename T>
const T* part(const std::string& image, uint64_t at, uint64_t count = 1) {
  if (at > image.size() || count > (image.size() - at) / sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(image.data() + at);
}

// Generic targets and what they serve (LLVM's AMDGPU usage, "Generic processors").
bool serves(const std::string& target, const std::string& arch) {
  static const std::map<std::string, std::vector<std::string>> kGeneric = {
      {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
      {"gfx9-4-generic", {"gfx942", "gfx950"}},
      {"gfx10-3-generic",
       {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
      {"gfx11-generic",
       {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
      {"gfx12-generic", {"gfx1200", "gfx1201"}}};
  if (target == arch) return true;
  auto found = kGeneric.find(target);
  return found != kGeneric.end() && std::count(found->second.begin(), found->second.end(), arch);
}

// Whether code for "gfx942:sramecc+:xnack-" runs on a device that calls itself so: a feature that
// it names must agree.
bool fits(const std::string& target, const std::string& device) {
  auto split = [](const std::string& name) {
    std::vector<std::string> parts;
    std::stringstream stream(name);
    for (std::string each; std::getline(stream, each, ':');) parts.push_back(each);
    return parts;
  };
  std::vector<std::string> wanted = split(target), has = split(device);
  if (wanted.empty() || has.empty() || !serves(wanted[0], has[0])) return false;
  for (size_t i = 1; i < wanted.size(); ++i)
    if (!std::count(has.begin() + 1, has.end(), wanted[i])) return false;
  return true;
}

size_t image_size(const char* at) {
  Elf64_Ehdr header;
  memcpy(&header, at, sizeof header);
  size_t size = header.e_shoff + size_t{header.e_shentsize} * header.e_shnum;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr each;
    memcpy(&each, at + header.e_phoff + i * sizeof each, sizeof each);
    size = std::max<size_t>(size, each.p_offset + each.p_filesz);
  }
  return size;
}

hipError_t read_metadata(Module& module, Value* out) {
  const auto* header = part<Elf64_Ehdr>(module.image, 0);
  const auto* segments = part<Elf64_Phdr>(module.image, header->e_phoff, header->e_phnum);
  if (!segments) return hipErrorInvalidImage;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    for (uint64_t at = segments[i].p_offset, end = at + segments[i].p_filesz; at + 12 < end;) {
      const auto* note = part<Elf64_Nhdr>(module.image, at);
      if (!note) return hipErrorInvalidImage;
      uint64_t content = at + 12 + ((note->n_namesz + 3) & ~3u);
      const auto* bytes = part<unsigned char>(module.image, content, note->n_descsz);
      if (!bytes) return hipErrorInvalidImage;
      if (note->n_type == 32 && !strncmp(module.image.data() + at + 12, "AMDGPU", 6)) {
        Reader reader{bytes, bytes + note->n_descsz};
        *out = reader.read();
        return reader.bad ? hipErrorInvalidImage : hipSuccess;
      }
      at = content + ((note->n_descsz + 3) & ~3u);
    }
  }
  return hipErrorInvalidImage;
}

// Puts the segments into device memory and applies the relocations.
hipError_t place(Module& module) {
  const auto* header = part<Elf64_Ehdr>(module.image, 0);
  const auto* segments = part<Elf64_Phdr>(module.image, header->e_phoff, header->e_phnum);
  uint64_t size = 0;
  for (unsigned i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD)
      size = std::max<uint64_t>(size, segments[i].p_vaddr + segments[i].p_memsz);
  if (!size || size > (1 << 30)) return hipErrorInvalidImage;
  void* base = nullptr;
  if (hipError_t bad = allocate(size + 4096, Memory::device, module.device, 0, nullptr, &base))
    return bad;  // instructions are fetched ahead
  module.base = reinterpret_cast<uintptr_t>(base);
  memset(view(base), 0, size + 4096);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD) continue;
    const auto* bytes = part<char>(module.image, segments[i].p_offset, segments[i].p_filesz);
    if (!bytes) return hipErrorInvalidImage;
    memcpy(view(base) + segments[i].p_vaddr, bytes, segments[i].p_filesz);
  }
  const auto* sections = part<Elf64_Shdr>(module.image, header->e_shoff, header->e_shnum);
  if (!sections) return hipErrorInvalidImage;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type == SHT_DYNSYM) {
      const auto* symbols = part<Elf64_Sym>(module.image, sections[i].sh_offset,
                                            sections[i].sh_size / sizeof(Elf64_Sym));
      if (!symbols || sections[i].sh_link >= header->e_shnum) return hipErrorInvalidImage;
      const Elf64_Shdr& strings = sections[sections[i].sh_link];
      for (uint64_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k) {
        const char* name = part<char>(module.image, strings.sh_offset + symbols[k].st_name);
        if (!name) return hipErrorInvalidImage;
        if (ELF64_ST_TYPE(symbols[k].st_info) == STT_OBJECT)
          module.globals[name] = {module.base + symbols[k].st_value, symbols[k].st_size};
        if (!symbols[k].st_shndx && k) return hipErrorSharedObjectSymbolNotFound;
      }
    }
    if (sections[i].sh_type != SHT_RELA) continue;
    const auto* all = part<Elf64_Rela>(module.image, sections[i].sh_offset,
                                       sections[i].sh_size / sizeof(Elf64_Rela));
    for (uint64_t k = 0; all && k < sections[i].sh_size / sizeof(Elf64_Rela); ++k) {
      if (ELF64_R_TYPE(all[k].r_info) != 13 || all[k].r_offset + 8 > size)
        return hipErrorInvalidImage;  // R_AMDGPU_RELATIVE64
      uint64_t value = module.base + static_cast<uint64_t>(all[k].r_addend);
      memcpy(view(base) + all[k].r_offset, &value, 8);
    }
  }
  return hipSuccess;
}

hipError_t load(const char* image, Module** out) {
  // A bundle of code objects: the entry for this device is taken.
  static const char kBundle[] = "__CLANG_OFFLOAD_BUNDLE__";
  Device* device = current_device();
  if (!memcmp(image, kBundle, 24)) {
    uint64_t count;
    memcpy(&count, image + 24, 8);
    const char* at = image + 32;
    for (uint64_t i = 0; i < count && i < 64; ++i) {
      uint64_t entry[3];
      memcpy(entry, at, 24);
      std::string triple(at + 24, entry[2]);
      at += 24 + entry[2];
      size_t dash = triple.rfind("--");
      if (entry[1] && dash != std::string::npos && fits(triple.substr(dash + 2), device->name))
        return load(image + entry[0], out);
    }
    return hipErrorNoBinaryForGpu;
  }
  if (memcmp(image, ELFMAG, 4)) return hipErrorInvalidImage;
  auto made = std::make_unique<Module>();
  made->device = device;
  made->image.assign(image, image_size(image));
  const auto* header = part<Elf64_Ehdr>(made->image, 0);
  if (!header || header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != 224 ||
      header->e_type != ET_DYN)
    return hipErrorInvalidImage;
  if (header->e_ident[EI_OSABI] != 64 || header->e_ident[EI_ABIVERSION] < 2)
    return hipErrorInvalidImage;  // HSA, code object 4 and later
  Value metadata;
  if (hipError_t bad = read_metadata(*made, &metadata)) return bad;
  std::string target = metadata.text_at("amdhsa.target");
  size_t dash = target.rfind("--");
  made->target = dash == std::string::npos ? "" : target.substr(dash + 2);
  if (!fits(made->target, device->name)) return hipErrorNoBinaryForGpu;
  if (hipError_t bad = place(*made)) return bad;
  const Value* kernels = metadata.get("amdhsa.kernels");
  for (size_t i = 0; kernels && i < kernels->items.size(); ++i) {
    const Value& each = kernels->items[i].first;
    auto* function = create<Function>("function");
    KernelFacts& facts = function->facts;
    facts.name = each.text_at(".name");
    facts.symbol = each.text_at(".symbol");
    facts.kernarg = static_cast<uint32_t>(each.number_at(".kernarg_segment_size"));
    facts.lds = static_cast<uint32_t>(each.number_at(".group_segment_fixed_size"));
    facts.scratch = static_cast<uint32_t>(each.number_at(".private_segment_fixed_size"));
    facts.max_threads = static_cast<uint32_t>(each.number_at(".max_flat_workgroup_size", 1024));
    facts.wave = static_cast<uint32_t>(each.number_at(".wavefront_size"));
    facts.vgprs = static_cast<uint32_t>(each.number_at(".vgpr_count"));
    facts.sgprs = static_cast<uint32_t>(each.number_at(".sgpr_count"));
    facts.agprs = static_cast<uint32_t>(each.number_at(".agpr_count"));
    if (const Value* arguments = each.get(".args"))
      for (auto& [argument, nothing] : arguments->items)
        facts.arguments.push_back({static_cast<uint32_t>(argument.number_at(".offset")),
                                   static_cast<uint32_t>(argument.number_at(".size")),
                                   argument.text_at(".value_kind")});
    auto symbol = made->globals.find(facts.symbol);
    if (symbol == made->globals.end() || symbol->second.second != 64) return hipErrorInvalidImage;
    facts.descriptor = symbol->second.first;
    function->module = made.get();
    made->functions[facts.name] = function;
  }
  Module* kept = made.release();
  enter(kept, "module");
  note("\"loaded\":%llu,\"target\":\"%s\",\"kernels\":%zu",
       static_cast<unsigned long long>(kept->number), kept->target.c_str(), kept->functions.size());
  *out = kept;
  return hipSuccess;
}

std::string hex(const std::string& bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (unsigned char c : bytes) (out += digits[c >> 4]) += digits[c & 15];
  return out;
}

hipError_t gather(Launch& launch, void** parameters, void** extra) {
  const KernelFacts& facts = launch.function->facts;
  uint32_t explicit_end = 0;
  for (const auto& each : facts.arguments)
    if (each.kind.rfind("hidden_", 0))
      explicit_end = std::max(explicit_end, each.offset + each.size);
  if (extra) {
    if (parameters) return hipErrorInvalidValue;
    const void* buffer = nullptr;
    size_t size = 0;
    for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == HIP_LAUNCH_PARAM_BUFFER_POINTER)
        buffer = extra[1];
      else if (*extra == HIP_LAUNCH_PARAM_BUFFER_SIZE)
        size = *static_cast<size_t*>(extra[1]);
      else
        return hipErrorInvalidValue;
    }
    if (size != facts.kernarg && size != explicit_end) {
      fault("kernel %s takes %u bytes of arguments (%u of them its own) and was given %zu",
            facts.name.c_str(), facts.kernarg, explicit_end, size);
      return hipErrorInvalidValue;
    }
    launch.kernarg.assign(static_cast<const char*>(buffer), size);
    launch.kernarg.resize(facts.kernarg);
    return hipSuccess;
  }
  if (explicit_end && !parameters) return hipErrorInvalidValue;
  launch.kernarg.assign(facts.kernarg, '\0');
  size_t place = 0;
  for (const auto& each : facts.arguments) {
    if (!each.kind.rfind("hidden_", 0)) continue;
    if (!parameters[place]) return hipErrorInvalidValue;
    memcpy(launch.kernarg.data() + each.offset, parameters[place++], each.size);
  }
  return hipSuccess;
}

}  // namespace

hipError_t check_launch(Launch& launch, Stream* stream, void** parameters, void** extra) {
  const KernelFacts& facts = launch.function->facts;
  const Card& card = stream->device->card;
  if (!launch.function->module->alive) {
    fault("kernel %s of an unloaded module is launched", facts.name.c_str());
    return hipErrorInvalidHandle;
  }
  if (launch.function->module->device != stream->device) {
    fault("kernel %s was loaded on device %d and is launched on %d", facts.name.c_str(),
          launch.function->module->device->ordinal, stream->device->ordinal);
    return hipErrorInvalidHandle;
  }
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (!launch.grid[i] || !launch.block[i]) return hipErrorInvalidValue;
    threads *= launch.block[i];
  }
  if (threads > 1024 || threads > facts.max_threads) return hipErrorInvalidValue;
  if (launch.grid[1] > 65535 || launch.grid[2] > 65535) return hipErrorInvalidValue;
  if (uint64_t{launch.grid[0]} * launch.block[0] > 0xffffffffull) return hipErrorInvalidValue;
  if (uint64_t{facts.lds} + launch.shared > static_cast<uint64_t>(card.lds))
    return hipErrorInvalidValue;
  return gather(launch, parameters, extra);
}

void note_launch(const Launch& launch, Stream* stream, uint64_t work, const char* how) {
  if (!recording()) return;
  const Launch& l = launch;
  std::string kernarg = hex(l.kernarg);
  note(
      "\"%s\":\"%s\",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%u,\"lds\":%u,"
      "\"cooperative\":%d,\"device\":%d,\"stream\":%llu,\"work\":%llu,\"kernarg\":\"%s\"",
      how, l.function->facts.name.c_str(), l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1],
      l.block[2], l.shared, l.function->facts.lds, l.cooperative ? 1 : 0,
      l.function->module->device->ordinal,
      stream ? static_cast<unsigned long long>(stream->number) : 0ull,
      static_cast<unsigned long long>(work), kernarg.c_str());
}

void perform(const Launch& launch) {
  if (emulating()) emulate(launch);
}

static hipError_t launch_kernel(hipFunction_t handle, const unsigned (&grid)[3],
                                const unsigned (&block)[3], unsigned shared, hipStream_t where,
                                void** parameters, void** extra, bool cooperative) {
  WorkRef work;
  {
    hipError_t status;
    Lock lock = lock_world();
    Stream* stream = stream_of(where, &status);
    if (!stream) return done(status);
    Launch launch;
    launch.function = find<Function>(handle, "function");
    if (!launch.function) return done(hipErrorInvalidHandle);
    std::copy_n(grid, 3, launch.grid);
    std::copy_n(block, 3, launch.block);
    launch.shared = shared;
    launch.cooperative = cooperative;
    if ((status = check_launch(launch, stream, parameters, extra)) != hipSuccess)
      return done(status);
    if (cooperative) {
      int most = 0;
      impl_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
          &most, handle, static_cast<int>(block[0] * block[1] * block[2]), shared);
      if (uint64_t{grid[0]} * grid[1] * grid[2] >
          static_cast<uint64_t>(most) * static_cast<unsigned>(stream->device->card.units))
        return done(hipErrorCooperativeLaunchTooLarge);
    }
    if (broken(stream) && !cooperative) return done(hipErrorStreamCaptureInvalidated);
    if (capturing(stream) && !cooperative) {  // CLR 6.0.0: a cooperative launch runs at once
      Captured what;
      what.type = hipGraphNodeTypeKernel;
      what.launch = launch;
      what.run = [launch] { perform(launch); };
      capture(stream, what);
      note_launch(launch, stream, 0, "captured");
      return done(hipSuccess);
    }
    work = submit(stream, "kernel", [launch] { perform(launch); });
    work->module = launch.function->module;
    note_launch(launch, stream, work->number, "launch");
  }
  follow(work);
  return done(hipSuccess);
}

}  // namespace fake

using namespace fake;

HIP(hipModuleLoadData)(hipModule_t* out, const void* image) {
  Lock lock = lock_world();
  if (ready_world() != hipSuccess) return done(ready_world());
  if (!out || !image) return done(hipErrorInvalidValue);
  Module* made = nullptr;
  hipError_t status = load(static_cast<const char*>(image), &made);
  if (status == hipSuccess) *out = reinterpret_cast<hipModule_t>(made);
  return done(status);
}
HIP(hipModuleLoadDataEx)(hipModule_t* out, const void* image, unsigned count, hipJitOption* options,
                         void** values) {
  if (count && (!options || !values)) return done(hipErrorInvalidValue);
  return impl_hipModuleLoadData(out, image);
}
HIP(hipModuleLoad)(hipModule_t* out, const char* path) {
  if (!path) return done(hipErrorInvalidValue);
  std::ifstream file(path, std::ios::binary);
  if (!file) return done(hipErrorFileNotFound);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 64) return done(hipErrorInvalidImage);
  return impl_hipModuleLoadData(out, bytes.data());
}
HIP(hipModuleUnload)(hipModule_t handle) {
  Lock lock = lock_world();
  auto* module = find<Module>(handle, "module");
  if (!module) return done(hipErrorInvalidHandle);
  if (forbidden_by_capture()) return done(hipErrorStreamCaptureUnsupported);
  for (const WorkRef& each : pending())
    if (each->module == module)
      fault("module %llu is unloaded while its kernel waits to run",
            static_cast<unsigned long long>(module->number));
  module->alive = false;
  for (auto& [name, function] : module->functions) function->alive = false;
  if (Allocation* code = containing(reinterpret_cast<void*>(module->base))) release(code);
  return done(hipSuccess);
}
HIP(hipModuleGetFunction)(hipFunction_t* out, hipModule_t handle, const char* name) {
  Lock lock = lock_world();
  if (!out || !name) return done(hipErrorInvalidValue);
  auto* module = find<Module>(handle, "module");
  if (!module) return done(hipErrorInvalidHandle);
  auto found = module->functions.find(name);
  if (found == module->functions.end()) return done(hipErrorNotFound);
  *out = reinterpret_cast<hipFunction_t>(found->second);
  return done(hipSuccess);
}
HIP(hipModuleGetFunctionCount)(unsigned* out, hipModule_t handle) {
  Lock lock = lock_world();
  auto* module = find<Module>(handle, "module");
  if (!out || !module) return done(hipErrorInvalidValue);
  *out = static_cast<unsigned>(module->functions.size());
  return done(hipSuccess);
}
HIP(hipModuleGetGlobal)(hipDeviceptr_t* address, size_t* size, hipModule_t handle,
                        const char* name) {
  Lock lock = lock_world();
  if ((!address && !size) || !name) return done(hipErrorInvalidValue);
  auto* module = find<Module>(handle, "module");
  if (!module) return done(hipErrorInvalidHandle);
  auto found = module->globals.find(name);
  if (found == module->globals.end()) return done(hipErrorNotFound);
  if (address) *address = reinterpret_cast<hipDeviceptr_t>(found->second.first);
  if (size) *size = found->second.second;
  return done(hipSuccess);
}
HIP(hipModuleLaunchKernel)(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                           unsigned by, unsigned bz, unsigned shared, hipStream_t s,
                           void** parameters, void** extra) {
  return launch_kernel(f, {gx, gy, gz}, {bx, by, bz}, shared, s, parameters, extra, false);
}
HIP(hipModuleLaunchCooperativeKernel)(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz,
                                      unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                      hipStream_t s, void** parameters) {
  return launch_kernel(f, {gx, gy, gz}, {bx, by, bz}, shared, s, parameters, nullptr, true);
}
HIP(hipDrvLaunchKernelEx)(const HIP_LAUNCH_CONFIG* c, hipFunction_t f, void** parameters,
                          void** extra) {
  if (!c) return done(hipErrorInvalidValue);
  bool cooperative = false;
  for (unsigned i = 0; i < c->numAttrs; ++i) {
    if (c->attrs[i].id == hipLaunchAttributeCooperative)
      cooperative = c->attrs[i].val.cooperative;
    else if (c->attrs[i].id != hipLaunchAttributePriority)
      return done(hipErrorInvalidValue);
  }
  return launch_kernel(f, {c->gridDimX, c->gridDimY, c->gridDimZ},
                       {c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes, c->hStream,
                       parameters, extra, cooperative);
}
HIP(hipFuncGetAttribute)(int* out, hipFunction_attribute attribute, hipFunction_t handle) {
  Lock lock = lock_world();
  auto* it = find<Function>(handle, "function");
  if (!out || !it) return done(hipErrorInvalidValue);
  const KernelFacts& facts = it->facts;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *out = static_cast<int>(facts.max_threads);
      break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *out = static_cast<int>(facts.lds);
      break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:  // HIP 6.4.3 writes nothing
      break;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *out = 0;
      break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *out = static_cast<int>(facts.scratch);
      break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *out = static_cast<int>(facts.vgprs);
      break;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *out = it->module->device->card.major * 10 + it->module->device->card.minor;
      break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *out = it->module->device->card.lds - static_cast<int>(facts.lds);
      break;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *out = it->carveout;
      break;
    default:
      return done(hipErrorInvalidValue);
  }
  return done(hipSuccess);
}
HIP(hipFuncSetAttribute)(const void* handle, hipFuncAttribute attribute, int value) {
  Lock lock = lock_world();
  auto* it = find<Function>(handle, "function");
  if (!it || attribute >= hipFuncAttributeMax)
    return done(it ? hipErrorInvalidValue : hipErrorInvalidDeviceFunction);
  if (attribute == hipFuncAttributeMaxDynamicSharedMemorySize &&
      value + static_cast<int>(it->facts.lds) > it->module->device->card.lds)
    return done(hipErrorInvalidValue);
  return done(hipSuccess);
}
HIP(hipFuncSetCacheConfig)(const void* handle, hipFuncCache_t) {
  return done(handle ? hipSuccess : hipErrorInvalidDeviceFunction);
}
HIP(hipFuncSetSharedMemConfig)(const void* handle, hipSharedMemConfig) {
  return done(handle ? hipSuccess : hipErrorInvalidDeviceFunction);
}

// Waves that a compute unit can hold, by registers, LDS and the number of blocks.
HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor)(int* out, hipFunction_t handle, int threads,
                                                        size_t shared) {
  Lock lock = lock_world();
  auto* it = find<Function>(handle, "function");
  if (!out || !it || threads <= 0 || threads > 1024) return done(hipErrorInvalidValue);
  const Card& card = it->module->device->card;
  int waves = (threads + card.wave - 1) / card.wave;
  int simds = card.wave == 64 ? 4 : 4;
  int registers = std::max(8, static_cast<int>((it->facts.vgprs + 7) / 8 * 8));
  int by_registers = card.registers / simds / card.wave / registers * simds;
  int slots = std::min(by_registers, card.max_threads / card.wave);
  int blocks = std::min(32, slots / waves);
  size_t lds = it->facts.lds + shared;
  if (lds) blocks = std::min(blocks, static_cast<int>(static_cast<size_t>(card.lds) / lds));
  *out = blocks;
  return done(hipSuccess);
}
HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int* out, hipFunction_t handle,
                                                                 int threads, size_t shared,
                                                                 unsigned flags) {
  if (flags > hipOccupancyDisableCachingOverride) return done(hipErrorInvalidValue);
  return impl_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(out, handle, threads, shared);
}
HIP(hipModuleOccupancyMaxPotentialBlockSize)(int* grid, int* block, hipFunction_t handle,
                                             size_t shared, int limit) {
  if (!grid || !block) return done(hipErrorInvalidValue);
  int best = 0, most = 0;
  for (int threads = 64; threads <= (limit > 0 ? limit : 1024); threads += 64) {
    int blocks = 0;
    if (hipError_t bad = impl_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, handle,
                                                                                 threads, shared))
      return bad;
    if (blocks * threads >= best * most) best = blocks, most = threads;
  }
  Lock lock = lock_world();
  *block = most;
  *grid = best * current_device()->card.units;
  return done(hipSuccess);
}
HIP(hipModuleOccupancyMaxPotentialBlockSizeWithFlags)(int* grid, int* block, hipFunction_t handle,
                                                      size_t shared, int limit, unsigned) {
  return impl_hipModuleOccupancyMaxPotentialBlockSize(grid, block, handle, shared, limit);
}

// From the bytes that a program passes to modules and functions of a context.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/activity_resources.h"
#include "core/report.h"
#include "core/settings.h"
#include "core/watched_memory.h"
#include "cuda/library.h"
#include "cuda/limits.h"
#include "cuda/memory.h"
#include "cuda/module.h"

namespace aw {
namespace {

constexpr uint32_t kFatbinMagic = 0xba55ed50, kWrapperMagic = 0x466243b1;
constexpr uint64_t kLargestImage = 1ull << 30;

// The wrapper that nvcc puts around a fatbin (fatbinary_section.h of the CUDA toolkit). In version
// 2, which separate compilation makes, the last member is an array, ended by a null, of the fatbins
// of the objects that were linked: what holds PTX when the linked image has machine code only.
struct FatbinWrapper {
  uint32_t magic, version;
  const void* data;
  const void* file_or_objects;
};

struct FatbinHeader {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t size;
};

// Copies what a program says is an image. A damaged header may claim more than there is to read, so
// the kernel does the reading, which answers with an error where the processor would fault.
std::string copy_image(const void* image, size_t size) {
  int file = memfd_create("anywarp image", MFD_CLOEXEC);
  require(file >= 0, CUDA_ERROR_OUT_OF_MEMORY);
  auto* bytes = static_cast<const char*>(image);
  size_t done = 0;
  while (done < size) {
    ssize_t taken = write(file, bytes + done, size - done);
    if (taken <= 0) break;
    done += static_cast<size_t>(taken);
  }
  std::string copy(done == size ? size : 0, 0);
  size_t at = 0;
  while (at < copy.size()) {
    ssize_t got = pread(file, copy.data() + at, copy.size() - at, static_cast<off_t>(at));
    if (got <= 0) break;
    at += static_cast<size_t>(got);
  }
  close(file);
  if (done < size || at < size) {
    throw Failure(CUDA_ERROR_INVALID_IMAGE,
                  "the header of an image claims " + std::to_string(size) +
                      " bytes, and fewer can be read\nhelp: the file may be damaged");
  }
  return copy;
}

template <class T>
T read_at(const void* image) {
  T value;
  memcpy(&value, copy_image(image, sizeof value).data(), sizeof value);
  return value;
}

// Which architecture a cubin is for; its ELF flags hold it (low byte before CUDA 13's format,
// second byte from then on).
std::string cubin_architecture(const void* image) {
  uint32_t flags = read_at<uint32_t>(static_cast<const char*>(image) + 48);
  uint8_t version = read_at<uint8_t>(static_cast<const char*>(image) + 8);
  unsigned sm = version >= 8 ? flags >> 8 & 0xff : flags & 0xff;
  return "sm_" + std::to_string(sm);
}

constexpr uint32_t kLinkedWrapper = 2;
constexpr size_t kMostObjects = 1 << 14;

std::string copy_fatbin(const void* fatbin) {
  auto header = read_at<FatbinHeader>(fatbin);
  require(header.magic == kFatbinMagic && header.size <= kLargestImage, CUDA_ERROR_INVALID_IMAGE);
  return copy_image(fatbin, header.header_bytes + header.size);
}

// The linked fatbin and those of the objects, as runtime/modules.py takes them apart: a magic, then
// each with its length before it.
std::string with_objects(const FatbinWrapper& wrapper) {
  std::string all = "AWLINKED";
  auto add = [&](const void* fatbin) {
    std::string bytes = copy_fatbin(fatbin);
    uint64_t size = bytes.size();
    require(all.size() + size <= kLargestImage, CUDA_ERROR_INVALID_IMAGE);
    all.append(reinterpret_cast<const char*>(&size), sizeof size).append(bytes);
  };
  add(wrapper.data);
  auto* objects = static_cast<const char*>(wrapper.file_or_objects);
  for (size_t i = 0; i < kMostObjects; ++i) {
    auto* object = read_at<const void*>(objects + i * sizeof(void*));
    if (!object) return all;
    add(object);
  }
  throw Failure(CUDA_ERROR_INVALID_IMAGE, "more objects are linked than can be");
}

uint32_t first_word(const void* image) {
  auto* bytes = static_cast<const uint8_t*>(image);
  uint32_t word = 0;
  // Byte by byte, because a text may be shorter than a magic number.
  for (int i = 0; i < 4 && (i == 0 || bytes[i - 1]); ++i) word |= uint32_t{bytes[i]} << 8 * i;
  return word;
}

}  // namespace

std::shared_ptr<const Image> read_image(const void* image) {
  require(image != nullptr);
  if (first_word(image) == kWrapperMagic) {
    auto wrapper = read_at<FatbinWrapper>(image);
    image = wrapper.data;
    require(image != nullptr, CUDA_ERROR_INVALID_IMAGE);
    if (wrapper.version == kLinkedWrapper && wrapper.file_or_objects)
      return std::make_shared<Image>(with_objects(wrapper));
  }
  uint32_t magic = first_word(image);
  auto* bytes = static_cast<const char*>(image);
  if (magic == kFatbinMagic) return std::make_shared<Image>(copy_fatbin(image));
  if (magic == 0x464c457f) {
    throw Failure(CUDA_ERROR_NO_BINARY_FOR_GPU,
                  "a cubin for " + cubin_architecture(image) +
                      " holds machine code of NVIDIA processors and no PTX\nhelp: build with PTX "
                      "in it (nvcc -gencode "
                      "arch=compute_80,code=compute_80)");
  }
  size_t size = strnlen(bytes, kLargestImage + 1);
  require(size > 0 && size <= kLargestImage, CUDA_ERROR_INVALID_IMAGE);
  return std::make_shared<Image>(std::string(bytes, size));
}

std::shared_ptr<const ModuleDescription> describe(std::shared_ptr<const Image> image) {
  return std::make_shared<ModuleDescription>(
      describe_image(std::move(image), device_info().identity));
}

std::shared_ptr<Module> load_module(std::shared_ptr<const ModuleDescription> description,
                                    const std::shared_ptr<Context>& context) {
  auto module = std::make_shared<Module>();
  module->context = context;
  module->data = std::make_shared<ModuleData>(*description, context->device);
  module->description = description;
  module->handle = modules().add(module);
  tell_of(AW_RESOURCE_MODULE, module->handle, false, context->handle);
  for (auto& entry : description->entries) {
    auto function = std::make_shared<Function>();
    function->context = context;
    function->module_handle = module->handle;
    function->description = description;
    function->data = module->data;
    function->entry = &entry;
    function->handle = functions().add(function);
    module->functions[entry.name] = std::move(function);
  }
  return module;
}

Handles<Module>& modules() {
  static auto& instance = *new Handles<Module>;
  return instance;
}

Handles<Function>& functions() {
  static auto& instance = *new Handles<Function>;
  return instance;
}

std::shared_ptr<Module> module_of(CUmodule handle) {
  auto module = modules().find(handle);
  require(module != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return module;
}

std::shared_ptr<Function> function_of(CUfunction handle) {
  if (auto function = functions().find(handle)) return function;
  if (auto function = function_of_kernel(reinterpret_cast<uintptr_t>(handle))) return function;
  throw Failure(CUDA_ERROR_INVALID_HANDLE);
}

std::shared_ptr<Function> find_function(Module& module, const std::string& name) {
  auto it = module.functions.find(name);
  require(it != module.functions.end(), CUDA_ERROR_NOT_FOUND);
  return it->second;
}

}  // namespace aw

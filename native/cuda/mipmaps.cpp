// Driver API reference: memory management, CUDA mipmapped arrays.
#include "cuda/mipmaps.h"

#include <algorithm>
#include <bit>

#include "cuda/visible.h"

namespace aw {

Handles<MipmappedArray>& mipmapped_arrays() {
  static auto& instance = *new Handles<MipmappedArray>;
  return instance;
}

}  // namespace aw

using namespace aw;

namespace {

// Every level begins on such a boundary, as memory of its own would.
constexpr uint64_t kLevelAlign = 512;

// Layers stay; what is an extent of the picture is halved, down to 1, and 0 stays 0.
CUDA_ARRAY3D_DESCRIPTOR level_shape(CUDA_ARRAY3D_DESCRIPTOR s, unsigned level) {
  auto halved = [&](size_t extent) { return extent ? std::max<size_t>(extent >> level, 1) : 0; };
  s.Width = halved(s.Width), s.Height = halved(s.Height);
  if ((s.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0) s.Depth = halved(s.Depth);
  return s;
}

// As documented: all three extents count, layers too.
unsigned level_count(const CUDA_ARRAY3D_DESCRIPTOR& s, unsigned wanted) {
  unsigned most = std::bit_width(std::max({s.Width, s.Height, s.Depth}));
  return std::clamp(wanted, 1u, most);
}

std::shared_ptr<MipmappedArray> make(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned count) {
  std::vector<uint64_t> offsets;
  uint64_t bytes = 0;
  for (unsigned level = 0; level < count; ++level) {
    offsets.push_back(bytes);
    bytes += (array_bytes(level_shape(shape, level)) + kLevelAlign - 1) / kLevelAlign * kLevelAlign;
  }
  auto made = std::make_shared<MipmappedArray>();
  made->context = current_context();
  made->shape = shape;
  auto memory = std::make_shared<ArrayMemory>(bytes);
  for (unsigned level = 0; level < count; ++level) {
    auto array = array_over(level_shape(shape, level), memory, offsets[level]);
    array->is_level = true;
    array->handle = arrays().add(array);
    made->levels.push_back(std::move(array));
  }
  return made;
}

std::shared_ptr<MipmappedArray> mipmapped_of(CUmipmappedArray handle) {
  auto found = mipmapped_arrays().find(handle);
  require(found != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return found;
}

}  // namespace

AW_EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray* out,
                                          const CUDA_ARRAY3D_DESCRIPTOR* shape, unsigned levels) {
  return api<"cuMipmappedArrayCreate">([&] {
    require(out && shape);
    current_context();
    check_shape(*shape, true);
    auto made = make(*shape, level_count(*shape, levels));
    *out = as_handle<CUmipmappedArray>(mipmapped_arrays().add(made));
  });
}

AW_EXPORT CUresult cuMipmappedArrayGetLevel(CUarray* out, CUmipmappedArray handle, unsigned level) {
  return api<"cuMipmappedArrayGetLevel">([&] {
    current_context();
    require(out);
    auto found = mipmapped_of(handle);
    require(level < found->levels.size());
    *out = as_handle<CUarray>(found->levels[level]->handle);
  });
}

AW_EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return api<"cuMipmappedArrayDestroy">([&] {
    auto context = current_context();
    auto owner = mipmapped_of(handle)->context.lock();
    (owner ? owner : context)->wait_for_streams();
    auto gone = mipmapped_arrays().remove(handle);
    require(gone != nullptr, CUDA_ERROR_INVALID_HANDLE);
    for (auto& level : gone->levels) arrays().remove(as_handle<CUarray>(level->handle));
  });
}

// The next two answer for arrays that are mapped later or sparse, which cannot be created here; for
// all others INVALID_VALUE is the documented answer.
AW_EXPORT CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out,
                                                         CUmipmappedArray handle, CUdevice dev) {
  return api<"cuMipmappedArrayGetMemoryRequirements">([&] {
    require(out);
    check_device(dev);
    mipmapped_of(handle);
    throw Failure(CUDA_ERROR_INVALID_VALUE);
  });
}

AW_EXPORT CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* out,
                                                       CUmipmappedArray handle) {
  return api<"cuMipmappedArrayGetSparseProperties">([&] {
    require(out);
    mipmapped_of(handle);
    throw Failure(CUDA_ERROR_INVALID_VALUE);
  });
}

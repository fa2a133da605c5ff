// Driver API reference: memory management, copies and prefetches in batches.
#include "cuda/context.h"
#include "cuda/copy_order.h"
#include "cuda/driver.h"

using namespace aw;

namespace {

CUresult copy_batch(const CUdeviceptr* to, const CUdeviceptr* from, const size_t* sizes,
                    size_t count, const CUmemcpyAttributes* attributes, const size_t* indices,
                    size_t attribute_count, CUstream stream) {
  require(to && from && sizes && count > 0);
  require(attributes && indices && attribute_count > 0 && attribute_count <= count &&
          indices[0] == 0);
  require(!is_legacy_stream(stream));  // as documented: batches take no legacy null stream
  for (size_t i = 0; i < attribute_count; ++i) {
    bool last = i + 1 == attribute_count;
    require(indices[i] < count && (last || indices[i] < indices[i + 1]));
    check_order(attributes[i].srcAccessOrder, attributes[i].flags);
  }
  for (size_t i = 0; i < count; ++i) check_copy(to[i], from[i], sizes[i], Direction::any);
  for (size_t i = 0, k = 0; i < count; ++i) {
    if (k + 1 < attribute_count && indices[k + 1] == i) ++k;
    copy_in_order(linear_copy(to[i], from[i], sizes[i]), attributes[k].srcAccessOrder, stream);
  }
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes,
                                      size_t count, CUmemcpyAttributes* attributes, size_t* indices,
                                      size_t attribute_count, size_t* failed, CUstream stream) {
  return api<"cuMemcpyBatchAsync">([&] {
    if (failed) *failed = SIZE_MAX;
    return copy_batch(to, from, sizes, count, attributes, indices, attribute_count, stream);
  });
}

AW_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes,
                                         size_t count, CUmemcpyAttributes* attributes,
                                         size_t* indices, size_t attribute_count, CUstream stream) {
  return api<"cuMemcpyBatchAsync_v2">([&] {
    return copy_batch(to, from, sizes, count, attributes, indices, attribute_count, stream);
  });
}

AW_EXPORT CUresult cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                               const CUmemcpyAttributes* attributes,
                                               CUstream stream) {
  return api<"cuMemcpyWithAttributesAsync">([&] {
    require(attributes);
    check_order(attributes->srcAccessOrder, attributes->flags);
    check_copy(to, from, bytes, Direction::any);
    copy_in_order(linear_copy(to, from, bytes), attributes->srcAccessOrder, stream);
  });
}

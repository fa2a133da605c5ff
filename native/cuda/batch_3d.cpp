// Driver API reference: memory management, three-dimensional copies with attributes, alone and in
// batches.
#include <algorithm>

#include "cuda/arrays.h"
#include "cuda/copy_order.h"
#include "cuda/copy_shapes.h"
#include "cuda/driver.h"

using namespace aw;

namespace {

constexpr uint64_t kLargestLength = 1ull << 40;  // of lengths, so that none overflows in bytes

// Bytes of what an operand counts in: those of an array's elements, or 0 for pointers, which go by
// the other operand.
uint64_t element_of(const CUmemcpy3DOperand& o) {
  if (o.type == CU_MEMCPY_OPERAND_TYPE_POINTER) return 0;
  require(o.type == CU_MEMCPY_OPERAND_TYPE_ARRAY);
  return array_of(o.op.array.array)->element;
}

// One side of a CUDA_MEMCPY3D.
struct BatchSide {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  CUdeviceptr address = 0;
  CUarray array = nullptr;
  size_t x = 0, y = 0, z = 0, pitch = 0, height = 0;
};

// Lengths of 0 stand for no gaps.
BatchSide side_of(const CUmemcpy3DOperand& o, const CUDA_MEMCPY3D_BATCH_OP& op, uint64_t element) {
  BatchSide s;
  if (o.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    const CUoffset3D& at = o.op.array.offset;
    require(at.x < kLargestLength);
    s.type = CU_MEMORYTYPE_ARRAY, s.array = o.op.array.array;
    s.x = at.x * element, s.y = at.y, s.z = at.z;
    return s;
  }
  const auto& p = o.op.ptr;
  size_t row = p.rowLength ? p.rowLength : op.extent.width;
  s.address = p.ptr;
  s.height = p.layerHeight ? p.layerHeight : op.extent.height;
  require(row >= op.extent.width && row < kLargestLength && s.height >= op.extent.height);
  s.pitch = row * element;
  return s;
}

CopyWork plan_box(const CUDA_MEMCPY3D_BATCH_OP& op) {
  const CUextent3D& box = op.extent;
  check_order(op.srcAccessOrder, op.flags);
  require(box.width > 0 && box.height > 0 && box.depth > 0 && box.width < kLargestLength);
  uint64_t of_source = element_of(op.src), of_target = element_of(op.dst);
  uint64_t element = std::max<uint64_t>({of_source, of_target, 1});
  require((!of_source || of_source == element) && (!of_target || of_target == element));
  BatchSide from = side_of(op.src, op, element), to = side_of(op.dst, op, element);
  CUDA_MEMCPY3D shape = {};
  shape.srcMemoryType = from.type, shape.dstMemoryType = to.type;
  shape.srcDevice = from.address, shape.dstDevice = to.address;
  shape.srcArray = from.array, shape.dstArray = to.array;
  shape.srcXInBytes = from.x, shape.srcY = from.y, shape.srcZ = from.z;
  shape.dstXInBytes = to.x, shape.dstY = to.y, shape.dstZ = to.z;
  shape.srcPitch = from.pitch, shape.srcHeight = from.height;
  shape.dstPitch = to.pitch, shape.dstHeight = to.height;
  shape.WidthInBytes = box.width * element, shape.Height = box.height, shape.Depth = box.depth;
  return plan_copy(&shape);
}

CUresult copy_boxes(const CUDA_MEMCPY3D_BATCH_OP* ops, size_t count, uint64_t flags,
                    CUstream stream) {
  require(ops && count > 0 && flags == 0);
  require(!is_legacy_stream(stream));  // as documented: batches take no legacy null stream
  for (size_t i = 0; i < count; ++i) plan_box(ops[i]);  // all are good, or none is done
  for (size_t i = 0; i < count; ++i) copy_in_order(plan_box(ops[i]), ops[i].srcAccessOrder, stream);
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuMemcpy3DWithAttributesAsync(const CUDA_MEMCPY3D_BATCH_OP* op,
                                                 unsigned long long flags, CUstream stream) {
  return api<"cuMemcpy3DWithAttributesAsync">([&] {
    require(op && flags == 0);
    copy_in_order(plan_box(*op), op->srcAccessOrder, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3DBatchAsync(size_t count, const CUDA_MEMCPY3D_BATCH_OP* ops,
                                        size_t* failed, unsigned long long flags, CUstream stream) {
  return api<"cuMemcpy3DBatchAsync">([&] {
    if (failed) *failed = SIZE_MAX;  // which of them cannot be told
    return copy_boxes(ops, count, flags, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t count, const CUDA_MEMCPY3D_BATCH_OP* ops,
                                           unsigned long long flags, CUstream stream) {
  return api<"cuMemcpy3DBatchAsync_v2">([&] { return copy_boxes(ops, count, flags, stream); });
}

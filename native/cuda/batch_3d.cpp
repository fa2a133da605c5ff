// Driver API reference: memory management, three-dimensional copies with attributes, alone and in
// batches.
#include <algorithm>

#include "cuda/arrays.h"
#include "cuda/copy_order.h"
#include "cuda/copy_shapes.h"
#include "cuda/driver.h"

using namespace aw;

namespace {

enum OperandType { kPointer = 1, kArray = 2 };
constexpr uint64_t kLargestLength = 1ull << 40;  // of lengths, so that none overflows in bytes

// CUmemcpy3DOperand.
struct Operand {
  int type;
  union {
    struct {
      CUdeviceptr address;
      size_t row_length, layer_height;
      CUmemLocation hint;
    } pointer;
    struct {
      CUarray array;
      size_t x, y, z;
    } array;
  };
};

// CUDA_MEMCPY3D_BATCH_OP.
struct BoxCopy {
  Operand from, to;
  size_t width, height, depth;
  int order;
  unsigned flags;
};
static_assert(sizeof(Operand) == 40 && sizeof(BoxCopy) == 112);

// Bytes of what an operand counts in: those of an array's elements, or 0 for pointers, which go by
// the other operand.
uint64_t element_of(const Operand& o) {
  require(o.type == kPointer || o.type == kArray);
  return o.type == kArray ? array_of(o.array.array)->element : 0;
}

// One side of a CUDA_MEMCPY3D.
struct BatchSide {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  CUdeviceptr address = 0;
  CUarray array = nullptr;
  size_t x = 0, y = 0, z = 0, pitch = 0, height = 0;
};

// Lengths of 0 stand for no gaps.
BatchSide side_of(const Operand& o, const BoxCopy& op, uint64_t element) {
  BatchSide s;
  if (o.type == kArray) {
    require(o.array.x < kLargestLength);
    s.type = CU_MEMORYTYPE_ARRAY, s.array = o.array.array;
    s.x = o.array.x * element, s.y = o.array.y, s.z = o.array.z;
    return s;
  }
  size_t row = o.pointer.row_length ? o.pointer.row_length : op.width;
  s.address = o.pointer.address;
  s.height = o.pointer.layer_height ? o.pointer.layer_height : op.height;
  require(row >= op.width && row < kLargestLength && s.height >= op.height);
  s.pitch = row * element;
  return s;
}

CopyWork plan_box(const BoxCopy& op) {
  check_order(op.order, op.flags);
  require(op.width > 0 && op.height > 0 && op.depth > 0 && op.width < kLargestLength);
  uint64_t of_source = element_of(op.from), of_target = element_of(op.to);
  uint64_t element = std::max<uint64_t>({of_source, of_target, 1});
  require((!of_source || of_source == element) && (!of_target || of_target == element));
  BatchSide from = side_of(op.from, op, element), to = side_of(op.to, op, element);
  CUDA_MEMCPY3D shape = {};
  shape.srcMemoryType = from.type, shape.dstMemoryType = to.type;
  shape.srcDevice = from.address, shape.dstDevice = to.address;
  shape.srcArray = from.array, shape.dstArray = to.array;
  shape.srcXInBytes = from.x, shape.srcY = from.y, shape.srcZ = from.z;
  shape.dstXInBytes = to.x, shape.dstY = to.y, shape.dstZ = to.z;
  shape.srcPitch = from.pitch, shape.srcHeight = from.height;
  shape.dstPitch = to.pitch, shape.dstHeight = to.height;
  shape.WidthInBytes = op.width * element, shape.Height = op.height, shape.Depth = op.depth;
  return plan_copy(&shape);
}

CUresult copy_boxes(const BoxCopy* ops, size_t count, uint64_t flags, CUstream stream) {
  require(ops && count > 0 && flags == 0);
  require(!is_legacy_stream(stream));  // as documented: batches take no legacy null stream
  for (size_t i = 0; i < count; ++i) plan_box(ops[i]);  // all are good, or none is done
  for (size_t i = 0; i < count; ++i) copy_in_order(plan_box(ops[i]), ops[i].order, stream);
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuMemcpy3DWithAttributesAsync(const BoxCopy* op, unsigned long long flags,
                                                 CUstream stream) {
  return api<"cuMemcpy3DWithAttributesAsync">([&] {
    require(op && flags == 0);
    copy_in_order(plan_box(*op), op->order, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3DBatchAsync(size_t count, const BoxCopy* ops, size_t* failed,
                                        unsigned long long flags, CUstream stream) {
  return api<"cuMemcpy3DBatchAsync">([&] {
    if (failed) *failed = SIZE_MAX;  // which of them cannot be told
    return copy_boxes(ops, count, flags, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t count, const BoxCopy* ops,
                                           unsigned long long flags, CUstream stream) {
  return api<"cuMemcpy3DBatchAsync_v2">([&] { return copy_boxes(ops, count, flags, stream); });
}

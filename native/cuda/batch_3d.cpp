// Driver API reference: memory management, three-dimensional copies with attributes, alone and in
// batches.
#include "cuda/copy_order.h"
#include "cuda/copy_shapes.h"

using namespace aw;

namespace {

enum OperandType { kPointer = 1, kArray = 2 };

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

void check_operand(const Operand& o, const BoxCopy& op) {
  require(o.type == kPointer || o.type == kArray);
  if (o.type == kArray) {
    throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                  "copies with attributes do not reach CUDA arrays yet; cuMemcpy3DAsync does");
  }
  require(o.pointer.row_length == 0 || o.pointer.row_length >= op.width);
  require(o.pointer.layer_height == 0 || o.pointer.layer_height >= op.height);
}

// Between pointers an element is a byte; lengths of 0 stand for no gaps.
CopyWork plan(const BoxCopy& op) {
  check_order(op.order, op.flags);
  require(op.width > 0 && op.height > 0 && op.depth > 0);
  check_operand(op.from, op);
  check_operand(op.to, op);
  auto or_else = [](size_t given, size_t otherwise) { return given ? given : otherwise; };
  CUDA_MEMCPY3D shape = {};
  shape.srcMemoryType = shape.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  shape.srcDevice = op.from.pointer.address, shape.dstDevice = op.to.pointer.address;
  shape.srcPitch = or_else(op.from.pointer.row_length, op.width);
  shape.dstPitch = or_else(op.to.pointer.row_length, op.width);
  shape.srcHeight = or_else(op.from.pointer.layer_height, op.height);
  shape.dstHeight = or_else(op.to.pointer.layer_height, op.height);
  shape.WidthInBytes = op.width, shape.Height = op.height, shape.Depth = op.depth;
  return plan_copy(&shape);
}

CUresult copy_boxes(const BoxCopy* ops, size_t count, uint64_t flags, CUstream stream) {
  require(ops && count > 0 && flags == 0);
  auto target = stream_of(stream);
  require(!target->is_legacy);  // as documented: batches take no legacy null stream
  for (size_t i = 0; i < count; ++i) plan(ops[i]);  // all are good, or none is done
  for (size_t i = 0; i < count; ++i) copy_in_order(plan(ops[i]), ops[i].order, *target);
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuMemcpy3DWithAttributesAsync(const BoxCopy* op, unsigned long long flags,
                                                 CUstream stream) {
  return api<"cuMemcpy3DWithAttributesAsync">([&] {
    require(op && flags == 0);
    auto target = stream_of(stream);
    copy_in_order(plan(*op), op->order, *target);
  });
}

AW_EXPORT CUresult cuMemcpy3DWithAttributesAsync_ptsz(const BoxCopy* op, unsigned long long flags,
                                                      CUstream stream) {
  return api<"cuMemcpy3DWithAttributesAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpy3DWithAttributesAsync(op, flags, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3DBatchAsync(size_t count, const BoxCopy* ops, size_t* failed,
                                        unsigned long long flags, CUstream stream) {
  return api<"cuMemcpy3DBatchAsync">([&] {
    if (failed) *failed = SIZE_MAX;  // which of them cannot be told
    return copy_boxes(ops, count, flags, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, const BoxCopy* ops, size_t* failed,
                                             unsigned long long flags, CUstream stream) {
  return api<"cuMemcpy3DBatchAsync_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpy3DBatchAsync(count, ops, failed, flags, stream);
  });
}

AW_EXPORT CUresult cuMemcpy3DBatchAsync_v2(size_t count, const BoxCopy* ops,
                                           unsigned long long flags, CUstream stream) {
  return api<"cuMemcpy3DBatchAsync_v2">([&] { return copy_boxes(ops, count, flags, stream); });
}

AW_EXPORT CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, const BoxCopy* ops,
                                                unsigned long long flags, CUstream stream) {
  return api<"cuMemcpy3DBatchAsync_v2_ptsz">([&] {
    PerThreadDefault scope;
    return cuMemcpy3DBatchAsync_v2(count, ops, flags, stream);
  });
}

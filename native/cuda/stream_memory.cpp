// Driver API reference: stream memory operations, and the attributes of streams.
#include <cstring>

#include "cuda/context.h"
#include "cuda/stream.h"

using namespace aw;

namespace {

void wait_value(CUstream handle, CUdeviceptr address, uint64_t value, unsigned flags, bool wide) {
  auto stream = stream_of(handle);
  require(address && address % (wide ? 8 : 4) == 0 && (flags & ~(3u | 1u << 30)) == 0);
  stream->submit(WaitValueWork{address, value, flags, wide});
}

void write_value(CUstream handle, CUdeviceptr address, uint64_t value, unsigned flags, bool wide) {
  auto stream = stream_of(handle);
  require(address && address % (wide ? 8 : 4) == 0 && flags <= 1);
  stream->submit(WriteValueWork{address, value, wide});
}

}  // namespace

AW_EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                          unsigned flags) {
  return api<"cuStreamWaitValue32_v2">([&] { wait_value(stream, address, value, flags, false); });
}

AW_EXPORT CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                          unsigned flags) {
  return api<"cuStreamWaitValue64_v2">([&] { wait_value(stream, address, value, flags, true); });
}

AW_EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                           unsigned flags) {
  return api<"cuStreamWriteValue32_v2">([&] { write_value(stream, address, value, flags, false); });
}

AW_EXPORT CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                           unsigned flags) {
  return api<"cuStreamWriteValue64_v2">([&] { write_value(stream, address, value, flags, true); });
}

AW_EXPORT CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                                       unsigned flags) {
  return api<"cuStreamWaitValue32">([&] { wait_value(stream, address, value, flags, false); });
}

AW_EXPORT CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, uint64_t value,
                                       unsigned flags) {
  return api<"cuStreamWaitValue64">([&] { wait_value(stream, address, value, flags, true); });
}

AW_EXPORT CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                                        unsigned flags) {
  return api<"cuStreamWriteValue32">([&] { write_value(stream, address, value, flags, false); });
}

AW_EXPORT CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, uint64_t value,
                                        unsigned flags) {
  return api<"cuStreamWriteValue64">([&] { write_value(stream, address, value, flags, true); });
}

namespace {

// CUstreamBatchMemOpParams: an operation in 48 bytes.
struct BatchOperation {
  int operation;  // 1 wait 32, 2 write 32, 3 flush remote writes, 4 wait 64, 5 write 64, 6 barrier
  int pad;
  CUdeviceptr address;
  uint64_t value;
  unsigned flags;
  unsigned pad2;
  uint64_t alias[2];
};
static_assert(sizeof(BatchOperation) == 48);

CUresult batch(CUstream stream, unsigned count, const BatchOperation* operations, unsigned flags) {
  require(operations && count > 0 && count <= 256 && flags == 0);
  for (unsigned i = 0; i < count; ++i)
    require(operations[i].operation >= 1 && operations[i].operation <= 6);
  for (unsigned i = 0; i < count; ++i) {
    const BatchOperation& o = operations[i];
    bool wide = o.operation >= 4;
    if (o.operation == 1 || o.operation == 4) wait_value(stream, o.address, o.value, o.flags, wide);
    if (o.operation == 2 || o.operation == 5)
      write_value(stream, o.address, o.value, o.flags, wide);
  }
  return CUDA_SUCCESS;
}

// CUstreamAttrID: 1 access policy, 3 synchronisation policy, 8 priority, 9 and 10 memory
// synchronisation domains.
bool is_stream_attribute(int id) { return id == 1 || id == 3 || id == 8 || id == 9 || id == 10; }

}  // namespace

AW_EXPORT CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, void* operations,
                                         unsigned flags) {
  return api<"cuStreamBatchMemOp_v2">(
      [&] { return batch(stream, count, static_cast<BatchOperation*>(operations), flags); });
}

AW_EXPORT CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, void* operations,
                                      unsigned flags) {
  return api<"cuStreamBatchMemOp">(
      [&] { return batch(stream, count, static_cast<BatchOperation*>(operations), flags); });
}

AW_EXPORT CUresult cuStreamGetAttribute(CUstream handle, int id, CUlaunchAttributeValue* value) {
  return api<"cuStreamGetAttribute">([&] {
    require(value && is_stream_attribute(id));
    auto stream = stream_of(handle);
    *value = stream->attribute(id);
    if (id == 8) value->flag = stream->priority;
  });
}

AW_EXPORT CUresult cuStreamSetAttribute(CUstream handle, int id,
                                        const CUlaunchAttributeValue* value) {
  return api<"cuStreamSetAttribute">([&] {
    require(value && is_stream_attribute(id) && id != 8);
    stream_of(handle)->set_attribute(id, *value);  // hints, which change no result
  });
}

AW_EXPORT CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return api<"cuStreamCopyAttributes">([&] {
    auto target = stream_of(to), source = stream_of(from);
    for (int id : {1, 3, 9, 10}) target->set_attribute(id, source->attribute(id));
  });
}

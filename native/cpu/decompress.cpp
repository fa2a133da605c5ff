// Driver API reference: memory management, decompression in batches.
#include "core/watched_memory.h"
#include "cpu/decompress_formats.h"
#include "cpu/stream.h"
#include "cuda/context.h"

using namespace aw;

namespace {

uint64_t decompress(const CUmemDecompressParams& p) {
  Bytes from = {static_cast<const uint8_t*>(p.src), p.srcNumBytes};
  auto* to = static_cast<uint8_t*>(p.dst);
  switch (p.algo) {
    case CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE:
      return inflate(from, to, p.dstNumBytes);
    case CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY:
      return decode_snappy(from, to, p.dstNumBytes);
    default:
      return decode_lz4(from, to, p.dstNumBytes);
  }
}

struct DecompressTask : SpecialTask {
  std::vector<CUmemDecompressParams> list;
  void perform(Context&) const override {
    for (auto& p : list) {
      uint64_t bytes = decompress(p);
      note_written(reinterpret_cast<uint64_t>(p.dst), bytes);
      if (p.dstActBytes) *p.dstActBytes = static_cast<uint32_t>(bytes);
    }
  }
  CUgraphNodeType type() const override { throw Failure(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED); }
};

bool is_known(CUmemDecompressAlgorithm algorithm) {
  return algorithm == CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE ||
         algorithm == CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY ||
         algorithm == CU_MEM_DECOMPRESS_ALGORITHM_LZ4;
}

}  // namespace

AW_EXPORT CUresult cuMemBatchDecompressAsync(CUmemDecompressParams* list, size_t count,
                                             unsigned flags, size_t* failed, CUstream stream) {
  return api<"cuMemBatchDecompressAsync">([&] {
    require(list && count > 0 && flags == 0);
    auto task = std::make_shared<DecompressTask>();
    for (size_t i = 0; i < count; ++i) {
      if (failed) *failed = i;
      const CUmemDecompressParams& p = list[i];
      require(p.src && p.dst && p.srcNumBytes > 0 && p.dstNumBytes > 0 && is_known(p.algo));
      task->list.push_back(p);
    }
    if (failed) *failed = SIZE_MAX;
    stream_of(stream)->submit(SpecialWork{std::move(task)});
  });
}

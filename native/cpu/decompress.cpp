// Driver API reference: memory management, decompression in batches.
#include "core/watched_memory.h"
#include "cpu/decompress_formats.h"
#include "cpu/stream.h"
#include "cuda/context.h"

using namespace aw;

namespace {

enum { kDeflate = 1, kSnappy = 2, kLz4 = 4 };  // CUmemDecompressAlgorithm

struct DecompressParams {
  size_t from_bytes, to_bytes;
  uint32_t* actual;
  const void* from;
  void* to;
  int algorithm;
  uint8_t padding[20];
};
static_assert(sizeof(DecompressParams) == 64);

uint64_t decompress(const DecompressParams& p) {
  Bytes from = {static_cast<const uint8_t*>(p.from), p.from_bytes};
  auto* to = static_cast<uint8_t*>(p.to);
  switch (p.algorithm) {
    case kDeflate:
      return inflate(from, to, p.to_bytes);
    case kSnappy:
      return decode_snappy(from, to, p.to_bytes);
    default:
      return decode_lz4(from, to, p.to_bytes);
  }
}

struct DecompressTask : SpecialTask {
  std::vector<DecompressParams> list;
  void perform(Context&) const override {
    for (auto& p : list) {
      uint64_t bytes = decompress(p);
      note_written(reinterpret_cast<uint64_t>(p.to), bytes);
      if (p.actual) *p.actual = static_cast<uint32_t>(bytes);
    }
  }
  CUgraphNodeType type() const override { throw Failure(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED); }
};

bool is_known(int algorithm) {
  return algorithm == kDeflate || algorithm == kSnappy || algorithm == kLz4;
}

}  // namespace

AW_EXPORT CUresult cuMemBatchDecompressAsync(DecompressParams* list, size_t count, unsigned flags,
                                             size_t* failed, CUstream stream) {
  return api<"cuMemBatchDecompressAsync">([&] {
    require(list && count > 0 && flags == 0);
    auto task = std::make_shared<DecompressTask>();
    for (size_t i = 0; i < count; ++i) {
      if (failed) *failed = i;
      const DecompressParams& p = list[i];
      require(p.from && p.to && p.from_bytes > 0 && p.to_bytes > 0 && is_known(p.algorithm));
      task->list.push_back(p);
    }
    if (failed) *failed = SIZE_MAX;
    stream_of(stream)->submit(SpecialWork{std::move(task)});
  });
}

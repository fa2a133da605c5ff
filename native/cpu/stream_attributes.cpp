// Driver API reference: stream management, attributes.
#include <algorithm>

#include "cpu/stream.h"
#include "cuda/context.h"

using namespace aw;

namespace {

// Those that can be set; the priority is given when a stream is made.
constexpr CUlaunchAttributeID kHints[] = {
    CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
    CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN};

bool is_hint(int id) {
  return std::find(std::begin(kHints), std::end(kHints), id) != std::end(kHints);
}

}  // namespace

AW_EXPORT CUresult cuStreamGetAttribute(CUstream handle, int id, CUlaunchAttributeValue* value) {
  return api<"cuStreamGetAttribute">([&] {
    require(value && (is_hint(id) || id == CU_STREAM_ATTRIBUTE_PRIORITY));
    auto stream = stream_of(handle);
    *value = stream->attribute(id);
    if (id == CU_STREAM_ATTRIBUTE_PRIORITY) value->priority = stream->priority;
  });
}

AW_EXPORT CUresult cuStreamSetAttribute(CUstream handle, int id,
                                        const CUlaunchAttributeValue* value) {
  return api<"cuStreamSetAttribute">([&] {
    require(value && is_hint(id));
    stream_of(handle)->set_attribute(id, *value);  // hints, which change no result
  });
}

AW_EXPORT CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return api<"cuStreamCopyAttributes">([&] {
    auto target = stream_of(to), source = stream_of(from);
    for (int id : kHints) target->set_attribute(id, source->attribute(id));
  });
}

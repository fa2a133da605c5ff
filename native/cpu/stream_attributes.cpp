// Driver API reference: stream management, attributes.
#include "cpu/stream.h"
#include "cuda/context.h"

using namespace aw;

namespace {

// CUstreamAttrID: 1 access policy, 3 synchronisation policy, 8 priority, 9 and 10 memory
// synchronisation domains.
bool is_stream_attribute(int id) { return id == 1 || id == 3 || id == 8 || id == 9 || id == 10; }

}  // namespace

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

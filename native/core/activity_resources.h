// Telling of contexts, streams, modules and graphs that come to be and are about to go.
#pragma once

#include "core/activity_hub.h"

namespace aw {

// `owner`: of a node or an executable graph, its graph; `type`: of a node, its CUgraphNodeType.
inline void tell_of(AwResourceKind kind, uint64_t handle, bool gone, uint64_t owner = 0,
                    uint32_t type = 0) {
  if (!listening(AW_LISTEN_RESOURCES)) [[likely]]
    return;
  AwResource resource{};
  resource.kind = kind, resource.gone = gone, resource.handle = handle;
  resource.owner = owner, resource.type = type;
  tell_resource(resource);
}

}  // namespace aw

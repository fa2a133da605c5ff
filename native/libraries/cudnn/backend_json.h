// Graphs as text, which programs keep instead of plans.
#pragma once

#include "libraries/cudnn/backend.h"

namespace aw::dnn {

std::string to_json(const Content& graph);
// Throws BAD_PARAM for what to_json did not write.
Shared from_json(const std::string& text);

}  // namespace aw::dnn

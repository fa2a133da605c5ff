// Reads the on-disk cache that the compile service fills, and keeps beside its code what launches
// have shown of it (docs/contracts.md, section 2).
#pragma once

#include <optional>
#include <string>

#include "core/container.h"

namespace aw {

// Returns the container stored under `key`; nothing when absent. A damaged one counts as absent and
// is removed.
std::optional<Container> cached(const std::string& key);

// Stores lines under `key`, whole or not at all, if there is a cache that takes entries.
void keep(const std::string& key, const std::vector<Line>& lines);

// Stores nothing itself: tells where the entry of `key` lives.
std::string cache_path(const std::string& key);

}  // namespace aw

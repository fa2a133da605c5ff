// Nodes of memory (NUMA): where the pages of device memory lie on a machine that has several.
#pragma once

#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

namespace aw {

// A set of nodes as Linux takes it: node n is bit n % 64 of word n / 64.
using NodeSet = std::vector<uint64_t>;

// The nodes with memory of their own on which `processors` may run, as `folder`
// (/sys/devices/system/node) has them. Empty where it says nothing.
NodeSet memory_nodes(const std::string& folder, const cpu_set_t& processors);

unsigned count(const NodeSet& nodes);

// Has the pages of untouched memory come from all nodes in turn, a huge page or a page from each.
// The thread that copies an array touches all of it first, and blocks run on any thread: on one
// node they would all wait for one memory. Nothing is done where the program has a policy of its
// own (numactl), or Linux refuses.
void spread(void* memory, uint64_t bytes, const NodeSet& nodes);

}  // namespace aw

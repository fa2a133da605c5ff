#include "devices/memory_nodes.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <fstream>
#include <string_view>

namespace aw {
namespace {

// Numbers of a list as Linux writes it: `0-3,8,10-11`.
template <typename Each>
void each_of(std::string_view list, Each each) {
  const char *at = list.data(), *end = at + list.size();
  while (at < end) {
    unsigned first = 0, last = 0;
    auto [behind, wrong] = std::from_chars(at, end, first);
    if (wrong != std::errc()) return;
    last = first;
    if (behind < end && *behind == '-') {
      auto [next, bad] = std::from_chars(behind + 1, end, last);
      if (bad != std::errc()) return;
      behind = next;
    }
    for (unsigned number = first; number <= last && last < CPU_SETSIZE; ++number) each(number);
    at = behind < end && *behind == ',' ? behind + 1 : end;
  }
}

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

NodeSet memory_nodes(const std::string& folder, const cpu_set_t& processors) {
  NodeSet out;
  each_of(line_of(folder + "/has_memory"), [&](unsigned node) {
    bool here = false;
    each_of(line_of(folder + "/node" + std::to_string(node) + "/cpulist"),
            [&](unsigned cpu) { here |= CPU_ISSET(cpu, &processors) != 0; });
    if (!here) return;
    if (out.size() <= node / 64) out.resize(node / 64 + 1);
    out[node / 64] |= uint64_t{1} << node % 64;
  });
  return out;
}

unsigned count(const NodeSet& nodes) {
  unsigned sum = 0;
  for (uint64_t word : nodes) sum += static_cast<unsigned>(std::popcount(word));
  return sum;
}

void spread(void* memory, uint64_t bytes, const NodeSet& nodes) {
  int policy = MPOL_DEFAULT;
  if (syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) != 0 || policy != MPOL_DEFAULT)
    return;
  // Linux takes the number of bits, and one more (mbind(2), BUGS).
  syscall(SYS_mbind, memory, bytes, MPOL_INTERLEAVE, nodes.data(), nodes.size() * 64 + 1, 0);
}

}  // namespace aw

// What threads share, for tests: the numbers of a grid (devices/claims.h) and nodes of memory
// (devices/memory_nodes.h).
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "devices/claims.h"
#include "devices/memory_nodes.h"

namespace {

uint64_t number(const char* text) { return strtoull(text, nullptr, 10); }

// Prints each piece that was claimed by so many threads at once: first number, how many.
void claim(uint64_t total, uint64_t largest, uint64_t smallest, unsigned threads) {
  aw::Claims claims(total, largest, smallest, threads);
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> got(threads);
  std::vector<std::thread> running;
  for (auto& mine : got)
    running.emplace_back([&] {
      uint64_t first = 0;
      while (uint64_t count = claims.claim(&first)) mine.push_back({first, count});
    });
  for (auto& each : running) each.join();
  for (auto& mine : got)
    for (auto& [first, count] : mine) printf("%lu %lu\n", first, count);
}

// Prints the nodes found in a folder for these processors.
void find_nodes(const char* folder, int count, char** numbers) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  for (int i = 0; i < count; ++i) CPU_SET(number(numbers[i]), &processors);
  aw::NodeSet nodes = aw::memory_nodes(folder, processors);
  for (unsigned node = 0; node < nodes.size() * 64; ++node)
    if (nodes[node / 64] >> node % 64 & 1) printf("%u ", node);
  printf("%u\n", aw::count(nodes));
}

// Prints Linux's policy for memory that was spread over node 0; `own`: of a process that has one of
// its own.
void show_policy(bool own) {
  constexpr size_t kBytes = 4 << 20;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(1);
  unsigned long node = 1;
  if (own && syscall(SYS_set_mempolicy, MPOL_PREFERRED, &node, 65) != 0) exit(1);
  aw::spread(memory, kBytes, {1});
  memset(memory, 1, kBytes);
  char place[32];
  snprintf(place, sizeof place, "%lx", reinterpret_cast<unsigned long>(memory));
  std::ifstream maps("/proc/self/numa_maps");
  std::string address, policy, rest;
  while (maps >> address >> policy && std::getline(maps, rest))
    if (address.ends_with(place)) puts(policy.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::string part = argc > 1 ? argv[1] : "";
  if (part == "claim" && argc == 6)
    claim(number(argv[2]), number(argv[3]), number(argv[4]),
          static_cast<unsigned>(number(argv[5])));
  else if (part == "nodes" && argc > 2)
    find_nodes(argv[2], argc - 3, argv + 3);
  else if (part == "policy")
    show_policy(argc > 2);
  else
    return 2;
  return 0;
}

#include "libraries/nccl/links.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "libraries/nccl/nccl_internal.h"

namespace aw::nccl {
namespace {

// Not a hash against enemies: the user stands in it, and who connects is asked for the user again.
void digest(const std::string& text, uint8_t* to) {
  uint64_t words[2] = {0xcbf29ce484222325, 0x84222325cbf29ce4};
  for (unsigned char c : text)
    for (auto& word : words) word = (word ^ c) * 0x100000001b3, word ^= word >> 29;
  memcpy(to, words, sizeof words);
}

// Memory can be shared within one boot, one network namespace (where abstract sockets live) and one
// user.
void this_machine(uint8_t* to) {
  std::string text;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
  char link[128] = {};
  if (readlink("/proc/self/ns/net", link, sizeof link - 1) > 0) text += link;
  text += std::to_string(geteuid());
  digest(text, to);
}

// Of this process, not of one that was forked from it.
void this_process(uint8_t* to) {
  static const uint64_t random = [] {
    uint64_t value;
    random_bytes(&value, sizeof value);
    return value;
  }();
  digest(std::to_string(random) + " " + std::to_string(getpid()), to);
}

}  // namespace

bool is_set(const char* name) {
  const char* value = getenv(name);
  return value && atoi(value) != 0;
}

uint64_t Ring::free_bytes() const {
  return size - (state->head.load(std::memory_order_relaxed) -
                 state->tail.load(std::memory_order_acquire));
}
uint64_t Ring::used_bytes() const {
  return state->head.load(std::memory_order_acquire) - state->tail.load(std::memory_order_relaxed);
}
uint64_t Ring::room(char** at) const {
  uint64_t offset = state->head.load(std::memory_order_relaxed) % size;
  *at = data + offset;
  return std::min(free_bytes(), size - offset);
}
uint64_t Ring::filled(char** at) const {
  uint64_t offset = state->tail.load(std::memory_order_relaxed) % size;
  *at = data + offset;
  return std::min(used_bytes(), size - offset);
}

std::unique_ptr<Links> connect_ranks(const ncclUniqueId& given, int rank, int count,
                                     const Patience& patience) {
  Id id = read_id(given);
  Bootstrap bootstrap(id, rank, count, patience);
  Introduction mine = {};
  this_machine(mine.machine);
  this_process(mine.process);
  random_bytes(mine.session, sizeof mine.session);
  // As NCCL's setting says: then the network is used, also within a machine.
  if (is_set("NCCL_SHM_DISABLE")) random_bytes(mine.machine, sizeof mine.machine);
  Socket listening;
  mine.place = own_address();
  memset(mine.place.bytes + 2, 0, 2);
  listening = listen_at(mine.place);
  auto all = bootstrap.gather(mine);
  bool together = std::all_of(all.begin(), all.end(), [&](auto& other) {
    return memcmp(other.machine, all[0].machine, sizeof other.machine) == 0;
  });
  if (count == 1 || together)
    return shared_links(rank, all, bootstrap, bootstrap.watched(patience));
  return socket_links(rank, all, std::move(listening), bootstrap, bootstrap.watched(patience));
}

}  // namespace aw::nccl

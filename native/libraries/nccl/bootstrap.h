// How the ranks of a communicator find each other: one of them (or whoever made the unique id) has
// a thread, the root, that gathers what each says and tells all. Over TCP, in the machine's byte
// order: a rank connects to the address in the id and sends a hello (magic, the id's secret, rank
// and count); then, in rounds, u32 bytes and as many bytes, equally many from each rank; the answer
// is what all said, in the order of ranks. Ranks close the connection when they are done, and the
// root ends.
#pragma once

#include <nccl.h>

#include <string>
#include <vector>

#include "libraries/nccl/sockets.h"

namespace aw::nccl {

// What ncclUniqueId holds. Who does not know `secret` is sent away.
struct Id {
  uint64_t magic;
  uint8_t secret[16];
  Address root;
  uint32_t named;  // by NCCL_COMM_ID: rank 0 listens
};
static_assert(sizeof(Id) <= sizeof(ncclUniqueId));

ncclUniqueId make_id();  // and starts the thread
Id read_id(const ncclUniqueId& id);
std::string hexadecimal(const uint8_t* bytes, size_t count);
void random_bytes(void* to, size_t bytes);

class Bootstrap {
 public:
  Bootstrap(const Id& id, int rank, int count, const Patience& patience);
  // `patience`, which ends with the root as well.
  Patience watched(Patience patience) const;
  // What every rank said, in the order of ranks; all say equally much.
  template <class T>
  std::vector<T> gather(const T& mine) {
    std::vector<T> all(static_cast<size_t>(count_));
    exchange(&mine, sizeof mine, all.data());
    return all;
  }

 private:
  void exchange(const void* mine, size_t bytes, void* all);
  Socket socket_;
  int count_;
  Patience patience_;
};

}  // namespace aw::nccl

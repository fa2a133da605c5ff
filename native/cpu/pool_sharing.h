// The memory of pools that processes share: one file per pool, of which allocations are parts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "cpu/memory.h"

namespace aw {

struct PoolFile {
  int file = -1;
  bool imported = false;  // another process's: nothing is allocated in it
  uint64_t device = 0, inode = 0;

  explicit PoolFile(int opened) : file(opened) {}
  PoolFile(const PoolFile&) = delete;
  PoolFile& operator=(const PoolFile&) = delete;
  ~PoolFile();

  // Takes a part of the file, maps it, and returns the address. Throws OUT_OF_MEMORY.
  uint64_t allocate(uint64_t bytes);
  // Unmaps a part; gives its memory back unless it is another process's.
  void release(uint64_t address, uint64_t bytes);

  // Maps a part that its owner told of; throws INVALID_VALUE for what lies outside of the file.
  uint64_t open_part(uint64_t offset, uint64_t bytes);
  uint64_t offset_of(uint64_t address);  // throws INVALID_VALUE for what is none of its parts

 private:
  uint64_t map(uint64_t offset, uint64_t bytes);
  uint64_t take_part(uint64_t bytes);

  std::mutex mutex_;
  uint64_t end_ = 0;
  std::multimap<uint64_t, uint64_t> unused_;  // offsets of parts that were given back, by size
  std::map<uint64_t, uint64_t> parts_;        // offsets by address
};

std::shared_ptr<PoolFile> new_pool_file();

}  // namespace aw

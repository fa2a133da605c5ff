// Which processes of this user use a device, and how much of its memory: one small file each,
// mapped by the process itself, read by the management library (native/nvml).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace aw {

constexpr int kPresenceDevices = 64;

// Makes this process known; nothing when there is no place for it. It ends with the process, and a
// file that a killed process left is removed by who reads it.
void announce_presence();

// Bytes that this process has in use on a device, by the machine's number of it.
void note_memory(int machine_number, uint64_t bytes);

struct Presence {
  pid_t pid = 0;
  uint64_t bytes[kPresenceDevices] = {};
};

// The processes that use a device now, in order of their numbers.
std::vector<Presence> present_processes();

// Time that a process has computed for since it began, in nanoseconds over all processors; 0 when
// it is gone.
uint64_t processor_time(pid_t pid);

}  // namespace aw

// The interface of amdsmi as far as NVML is answered from it: libamd_smi.so.26 (ROCm 7) and .27
// (10); of older ones what all versions since 6.1 lay out alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aw::smi {

using Socket = void*;
using Processor = void*;

constexpr int kSuccess = 0, kInvalid = 1, kNotSupported = 2, kTimeout = 8, kNoPermission = 10,
              kNoMemory = 15, kNotFound = 31, kNoDriver = 34;
constexpr uint64_t kInitGpus = 1 << 1;
constexpr unsigned kTypeGpu = 1;
constexpr unsigned kClockGraphics = 0, kClockMemory = 4, kClockVideo = 6;
constexpr unsigned kTemperatureEdge = 0, kTemperatureHotspot = 1, kTemperatureMemory = 2;
constexpr unsigned kTemperatureNow = 0, kTemperatureCritical = 5, kTemperatureEmergency = 7;
constexpr unsigned kMemoryVisible = 1;
constexpr unsigned kLinkXgmi = 2;

struct VramUsage {  // MiB
  uint32_t total, used, reserved[2];
};
struct Activity {  // percent; 0xFFFF or more: not known
  uint32_t graphics, memory, media, reserved[13];
};
struct PowerCap {  // microwatts
  uint64_t cap, default_cap, dpm_cap, least, most, reserved[3];
};
struct ErrorCount {
  uint64_t correctable, uncorrectable, deferred, reserved[5];
};
struct Clock {  // MHz; the three words are first in all versions
  uint32_t now, least, most, rest[8];
};
struct Pcie {
  struct {
    uint16_t width;
    uint32_t speed, interface_version, slot, more[20];  // MT/s
  } most;
  struct {
    uint16_t width;
    uint32_t speed, bandwidth;
    uint64_t replays, recoveries, rollovers, naks_sent, naks_received, more[13];
  } now;
  uint64_t reserved[32];
};
static_assert(sizeof(Pcie::most) == 96 && sizeof(Pcie) == 96 + 160 + 256);
struct Power {  // watts; since version 26
  uint64_t socket;
  uint32_t now, average;
  uint64_t graphics_mv, soc_mv, memory_mv;
  uint32_t limit, rest;
  uint64_t reserved[18];
};
struct Process {  // since version 26
  char name[256];
  uint32_t pid;
  uint64_t bytes;
  uint64_t graphics, encoder;
  uint32_t reserved_engine[12];
  uint64_t gtt_bytes, cpu_bytes, vram_bytes;
  uint32_t reserved_memory[10];
  char container[256];
  uint32_t occupancy, reserved[11];
};
static_assert(sizeof(Process) == 256 + 16 + 64 + 64 + 256 + 48);
// Structures of which only the text that they begin with is read: as large as any version's, and
// more.
struct Text {
  char text[256];
  char rest[4096];
};
struct Enumeration {  // since version 26
  uint32_t render, card, hsa, hip;
  char hip_uuid[256];
  uint32_t rest[16];
};

// X(name without amdsmi_, parameters)
#define AW_AMDSMI_FUNCTIONS(X)                                                          \
  X(init, (uint64_t flags))                                                             \
  X(shut_down, ())                                                                      \
  X(get_socket_handles, (uint32_t* count, Socket* sockets))                             \
  X(get_processor_handles, (Socket socket, uint32_t* count, Processor* processors))     \
  X(get_processor_type, (Processor, unsigned* type))                                    \
  X(get_gpu_device_bdf, (Processor, uint64_t* bdf))                                     \
  X(get_gpu_device_uuid, (Processor, unsigned* length, char* uuid))                     \
  X(get_gpu_asic_info, (Processor, Text*))                                              \
  X(get_gpu_driver_info, (Processor, Text*))                                            \
  X(get_gpu_vbios_info, (Processor, Text*))                                             \
  X(get_gpu_enumeration_info, (Processor, Enumeration*))                                \
  X(get_gpu_vram_usage, (Processor, VramUsage*))                                        \
  X(get_gpu_memory_total, (Processor, unsigned kind, uint64_t* bytes))                  \
  X(get_gpu_memory_usage, (Processor, unsigned kind, uint64_t* bytes))                  \
  X(get_gpu_activity, (Processor, Activity*))                                           \
  X(get_temp_metric, (Processor, unsigned sensor, unsigned metric, int64_t* celsius))   \
  X(get_power_info, (Processor, Power*))                                                \
  X(get_power_cap_info, (Processor, uint32_t sensor, PowerCap*))                        \
  X(get_energy_count, (Processor, uint64_t* ticks, float* microjoules, uint64_t* time)) \
  X(get_clock_info, (Processor, unsigned kind, Clock*))                                 \
  X(get_gpu_fan_speed, (Processor, uint32_t sensor, int64_t* speed))                    \
  X(get_gpu_fan_speed_max, (Processor, uint32_t sensor, uint64_t* speed))               \
  X(get_gpu_fan_rpms, (Processor, uint32_t sensor, int64_t* rpm))                       \
  X(get_gpu_process_list, (Processor, uint32_t* count, Process*))                       \
  X(get_pcie_info, (Processor, Pcie*))                                                  \
  X(topo_get_link_type, (Processor, Processor, uint64_t* hops, unsigned* type))         \
  X(topo_get_numa_node_number, (Processor, uint32_t* node))                             \
  X(is_P2P_accessible, (Processor, Processor, bool*))                                   \
  X(get_gpu_total_ecc_count, (Processor, ErrorCount*))

struct Functions {
#define AW_MEMBER(name, parameters) int(*name) parameters = nullptr;
  AW_AMDSMI_FUNCTIONS(AW_MEMBER)
#undef AW_MEMBER
  int version = 0;  // of the soname: 26, 27; 0: without one
};

struct Device {
  Processor processor;
  uint64_t bdf;  // function 3 bits, device 5, bus 8, domain
  unsigned function() const { return bdf & 7; }
  unsigned slot() const { return bdf >> 3 & 31; }
  unsigned bus() const { return bdf >> 8 & 255; }
  unsigned domain() const { return static_cast<unsigned>(bdf >> 16); }
};

// Opens the library and begins; throws an NVML code: LIBRARY_NOT_FOUND, DRIVER_NOT_LOADED.
void begin();
void end();
const Functions& functions();
// GPUs in the order of their places on the bus, as NVML orders them.
const std::vector<Device>& devices();

// Throws the NVML code for amdsmi's.
void check(int status);

}  // namespace aw::smi

// Calls a function of amdsmi, which this version must have: NOT_SUPPORTED else.
#define AW_SMI(name, ...)                                                                \
  do {                                                                                   \
    auto aw_function = ::aw::smi::functions().name;                                      \
    ::aw::smi::check(aw_function ? aw_function(__VA_ARGS__) : ::aw::smi::kNotSupported); \
  } while (false)

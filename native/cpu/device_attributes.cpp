#include "cuda/device_attributes.h"

#include <algorithm>
#include <iterator>

#include "cuda/driver.h"

namespace aw {
namespace {

// Attributes by number (CUdevice_attribute). Sizes of blocks, grids and CUDA arrays are those of
// compute capability 8.0 (CUDA C++ Programming Guide, technical specifications); what the device
// does not do says 0.
struct Attribute {
  int number, value;
};

constexpr int kLastAttribute = 147;

constexpr Attribute kFixed[] = {
    {1, kMaxThreadsPerBlock},
    {2, static_cast<int>(kMaxBlock[0])},
    {3, static_cast<int>(kMaxBlock[1])},
    {4, static_cast<int>(kMaxBlock[2])},
    {5, static_cast<int>(kMaxGrid[0])},
    {6, static_cast<int>(kMaxGrid[1])},
    {7, static_cast<int>(kMaxGrid[2])},
    {8, kMaxSharedDefault},
    {9, 65536},        // constant memory
    {10, 32},          // warp size
    {11, 0x7fffffff},  // largest pitch
    {12, 65536},       // registers per block
    {14, 512},         // texture alignment
    {15, 1},           // copies overlap kernels
    {18, 1},           // integrated: device memory is host memory
    {19, 1},           // host memory can be mapped
    {21, 131072},      // textures: 1D width
    {22, 131072},      // 2D
    {23, 65536},
    {24, 16384},  // 3D
    {25, 16384},
    {26, 16384},
    {27, 32768},  // 2D layered, layers
    {28, 32768},
    {29, 2048},
    {31, 1},    // kernels run at once
    {33, 0},    // PCI bus
    {34, 0},    // PCI device
    {37, 128},  // memory bus width in bits
    {39, kMaxThreadsPerProcessor},
    {40, 1},      // copy engines
    {41, 1},      // unified addressing
    {42, 32768},  // textures: 1D layered, layers
    {43, 2048},
    {45, 32768},  // 2D gather
    {46, 32768},
    {47, 8192},  // 3D, alternate
    {48, 8192},
    {49, 32768},
    {51, 32},     // texture pitch alignment
    {52, 32768},  // cubemap; cubemap layered, layers
    {53, 32768},
    {54, 2046},
    {55, 32768},   // surfaces: 1D width
    {56, 131072},  // 2D
    {57, 65536},
    {58, 16384},  // 3D
    {59, 16384},
    {60, 16384},
    {61, 32768},  // 1D layered, layers
    {62, 2048},
    {63, 32768},  // 2D layered, layers
    {64, 32768},
    {65, 2048},
    {66, 32768},  // cubemap; cubemap layered, layers
    {67, 32768},
    {68, 2046},
    {69, 1 << 28},  // textures over linear memory: 1D; 2D, pitch
    {70, 131072},
    {71, 65000},
    {72, 2097120},
    {73, 32768},  // mipmapped: 2D; 1D is 77
    {74, 32768},
    {77, 32768},
    {75, kCapabilityMajor},
    {76, kCapabilityMinor},
    {78, 1},  // stream priorities
    {79, 1},  // L1 caches globals
    {80, 1},  // L1 caches locals
    {81, kMaxSharedPerProcessor},
    {82, 65536},  // registers per multiprocessor
    {83, 1},      // managed memory
    {86, 1},      // native atomics with the host
    {87, 2},      // single to double precision speed
    {88, 1},      // pageable memory can be accessed
    {89, 1},      // managed memory is accessed by both at once
    {90, 1},      // kernels can be preempted
    {91, 1},      // registered memory at the host's address
    {92, 1},      // stream memory operations
    {93, 1},
    {94, 1},
    {95, 1},  // cooperative launch
    {97, kMaxSharedOptIn},
    {99, 1},   // host memory can be registered
    {100, 1},  // pageable memory through the host's page tables
    {101, 1},  // the host accesses managed memory directly
    {102, 1},  // virtual memory management
    {103, 1},  // shareable by file descriptors
    {106, kMaxBlocksPerProcessor},
    {111, kReservedShared},
    {113, 1},  // host memory can be registered read-only
    {115, 1},  // memory pools
    {119, 1},  // which are shared by file descriptors
    {122, 1},  // stream memory operations of 64 bits
    {123, 1},
    {126, 1},   // memory synchronisation domains
    {144, 1},   // memory pools of the host
    {145, 1},   // virtual memory management of the host
    {131, -1},  // no NUMA node of its own
    {134, -1},
    {136, 7},           // deflate, Snappy and LZ4 are decompressed
    {137, 0x7fffffff},  // bytes at once
};

}  // namespace

bool device_attribute(int number, int* value) {
  const DeviceInfo& info = device_info();
  if (number < 1 || number > kLastAttribute) return false;
  *value = 0;
  if (number == 16) *value = static_cast<int>(info.multiprocessors);
  if (number == 13 || number == 36) *value = static_cast<int>(info.clock_khz);
  if (number == 38) *value = static_cast<int>(info.cache_bytes);
  for (auto& fixed : kFixed) {
    if (fixed.number == number) *value = fixed.value;
  }
  return true;
}

}  // namespace aw

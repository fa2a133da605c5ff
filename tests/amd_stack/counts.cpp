// Counts what the emulator executes: for each dispatch a line of JSON with its instructions by mnemonic. RJ_COUNTS=1 asks for it, RJ_SINKS=file and
// RJ_SINK_DIR say where (counts.log). Built into the emulator by corrections.py, against its interface for plugins (docs/plugins.md of rocjitsu).

#include "rocjitsu/vm/amdgpu/mem_state.h"
#include "rocjitsu/vm/plugins/execution_plugin.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <format>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace {

using rocjitsu::Instruction;
using rocjitsu::KernelDispatchInfo;
namespace amdgpu = rocjitsu::amdgpu;

constexpr uint64_t line_bytes = 128; // of the vector caches of CDNA 3 and RDNA 3

struct Entry {
  uint64_t executed = 0, lanes = 0; // by waves; by lanes that were on
  uint64_t bytes = 0, lines = 0;    // asked for; lines of memory touched, counted for each instruction by itself
};

struct Dispatch {
  KernelDispatchInfo info;
  std::map<std::string, Entry, std::less<>> instructions;
};

class Counts : public rocjitsu::ExecutionPlugin {
public:
  Counts() : ExecutionPlugin("counts") {}

  void onAmdgpuDispatchPacketProcessed(const KernelDispatchInfo &info) override {
    std::lock_guard lock(mutex_);
    dispatches_[info.dispatch_id].info = info;
  }

  void onAmdgpuBeforeExecuteInstruction(uint64_t, const Instruction &inst, amdgpu::Wavefront &wave) override {
    std::lock_guard lock(mutex_);
    Entry &entry = of(wave, inst);
    entry.executed++;
    entry.lanes += std::popcount(wave.exec());
  }

  void onAmdgpuRouteMemoryInstruction(const Instruction &inst, amdgpu::Wavefront &wave) override {
    std::lock_guard lock(mutex_);
    Entry &entry = of(wave, inst);
    if (inst.data()->tag() == amdgpu::SCALAR_MEM) {
      const auto &asked = static_cast<const amdgpu::ScalarMemState &>(*inst.data());
      const uint64_t bytes = asked.num_dwords ? asked.num_dwords * 4 : asked.elem_size;
      entry.bytes += bytes;
      entry.lines += bytes ? (asked.addr + bytes - 1) / line_bytes - asked.addr / line_bytes + 1 : 0;
      return;
    }
    const auto &asked = static_cast<const amdgpu::VectorMemState &>(*inst.data());
    const uint64_t bytes = uint64_t(asked.elem_size) * std::max(asked.num_elems, 1u);
    std::array<uint64_t, 256> lines;
    size_t count = 0;
    for (uint32_t lane = 0; lane < wave.wf_size(); ++lane) {
      if (!(wave.exec() >> lane & 1))
        continue;
      entry.bytes += asked.ds2_active ? 2 * bytes : bytes;
      const uint64_t first = asked.per_lane_addr[lane];
      for (uint64_t line = first / line_bytes; bytes && line <= (first + bytes - 1) / line_bytes && count < lines.size(); ++line)
        lines[count++] = line;
    }
    std::sort(lines.begin(), lines.begin() + count);
    entry.lines += std::unique(lines.begin(), lines.begin() + count) - lines.begin();
  }

  void onAmdgpuDispatchExecutionEnd(uint32_t id) override {
    std::lock_guard lock(mutex_);
    auto found = dispatches_.find(id);
    if (found == dispatches_.end())
      return;
    const auto &[info, instructions] = found->second;
    std::string text = std::format(R"({{"kernel": "{}", "groups": {}, "waves": {}, "sgprs": {}, "vgprs": {}, "instructions": {{)", info.kernel_name,
                                   info.workgroup_count, info.workgroup_count * info.wfs_per_workgroup, info.sgprs_per_wf, info.vgprs_per_wf);
    const char *comma = "";
    for (const auto &[name, entry] : instructions) {
      text += std::format(R"({}"{}": [{}, {}, {}, {}])", comma, name, entry.executed, entry.lanes, entry.bytes, entry.lines);
      comma = ", ";
    }
    sink().write(text + "}}\n");
    dispatches_.erase(found);
  }

private:
  Entry &of(amdgpu::Wavefront &wave, const Instruction &inst) {
    auto &instructions = dispatches_[wave.dispatch_id()].instructions;
    auto found = instructions.find(inst.mnemonic());
    return found != instructions.end() ? found->second : instructions[std::string(inst.mnemonic())];
  }

  std::mutex mutex_;
  std::map<uint32_t, Dispatch> dispatches_;
};

} // namespace

extern "C" rocjitsu::ExecutionPlugin *create_counts() { return new Counts; }

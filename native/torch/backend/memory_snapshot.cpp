// Blocks, segments and history as JSON, from which Python builds torch's snapshot.
#include <algorithm>

#include "device_memory.h"
#include "streams.h"

namespace awt {
namespace {

void quote(std::string& out, const std::string& text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (byte < 0x20) {
      out += "\\u00", out += kHex[byte >> 4], out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

template <class T>
void field(std::string& out, const char* name, T value) {
  out += '"', out += name, out += "\":", out += std::to_string(value), out += ',';
}

void end(std::string& out, char bracket) {
  if (out.back() == ',') out.pop_back();
  out += bracket;
}

int state_of(const Block* block) { return block->allocated ? 2 : block->pending ? 1 : 0; }

void write_segment(std::string& out, const Segment& segment, c10::DeviceIndex device) {
  size_t requested = 0, allocated = 0, active = 0;
  for (const Block* at = segment.first; at; at = at->after) {
    requested += at->requested;
    if (at->allocated) allocated += at->size;
    if (at->allocated || at->pending) active += at->size;
  }
  const Arena& arena = *segment.arena;
  out += '{';
  field(out, "device", int{device});
  field(out, "address", reinterpret_cast<uint64_t>(segment.address));
  field(out, "total_size", segment.size);
  field(out, "allocated_size", allocated);
  field(out, "active_size", active);
  field(out, "requested_size", requested);
  field(out, "stream", reinterpret_cast<uint64_t>(native_stream(arena.stream)));
  field(out, "small", int{segment.small});
  field(out, "pool0", arena.pool->id.first);
  field(out, "pool1", arena.pool->id.second);
  field(out, "stack", segment.stack);
  out += "\"blocks\":[";
  for (const Block* at = segment.first; at; at = at->after) {
    out += '[' + std::to_string(reinterpret_cast<uint64_t>(at->address)) + ',' +
           std::to_string(at->size) + ',' + std::to_string(at->requested) + ',' +
           std::to_string(state_of(at)) + ',' + std::to_string(at->stack) + "],";
  }
  end(out, ']');
  out += "},";
}

void write_entry(std::string& out, const TraceEntry& entry) {
  out += "{\"action\":\"", out += trace_action_name(entry.action), out += "\",";
  field(out, "address", entry.address);
  field(out, "size", entry.size);
  field(out, "stream", reinterpret_cast<uint64_t>(entry.stream));
  field(out, "pool0", entry.pool.first);
  field(out, "pool1", entry.pool.second);
  field(out, "time_us", entry.microseconds);
  field(out, "stack", entry.stack);
  out += "\"user_metadata\":", quote(out, entry.metadata);
  out += "},";
}

}  // namespace

void DeviceMemory::write_snapshot(std::string& out, PoolId pool, bool traces) {
  Lock lock(mutex_);
  std::vector<const Segment*> found;
  for (auto& item : segments_)
    if (pool == PoolId{0, 0} || item.second->arena->pool->id == pool)
      found.push_back(item.second.get());
  std::sort(found.begin(), found.end(),
            [](const Segment* a, const Segment* b) { return a->address < b->address; });
  out += "{\"segments\":[";
  for (const Segment* segment : found) write_segment(out, *segment, device_);
  end(out, ']');
  out += ",\"trace\":[";
  if (traces)
    for (const TraceEntry& entry : trace_.in_order()) write_entry(out, entry);
  end(out, ']');
  out += '}';
}

void DeviceMemory::trace(TraceAction action, uint64_t address, size_t size, c10::Stream stream,
                         PoolId pool, int64_t stack) {
  const auto& settings = history_settings();
  if (settings.skipped.load() >> static_cast<int>(action) & 1) return;
  trace_.add({action, address, size, native_stream(stream), pool, now_in_microseconds(), stack,
              trace_metadata()},
             settings.most_entries.load());
}

void DeviceMemory::snapshot_taken(int64_t stack) {
  if (!history_settings().recording) return;
  Lock lock(mutex_);
  trace(TraceAction::snapshot, 0, static_cast<size_t>(stats_.reserved_bytes.all.current),
        default_stream(device_), {0, 0}, stack);
}

void DeviceMemory::clear_trace() {
  Lock lock(mutex_);
  trace_.clear();
}

}  // namespace awt

// libnvToolsExt: ranges and marks that a program puts around its work, for the trace of a run.
//
// Two ways lead here: programs linked to NVTX 2 call the functions; the header-only NVTX 3 opens
// the library that NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2.
#include <algorithm>
#include <cwchar>
#include <string>

#include "core/activity.h"
#include "nvtx/nvtx_api.h"
#include "nvtx/roctx.h"

// Both live until the program ends: others may hold them.
struct nvtxString {
  std::string text;
};
struct nvtxDomain {
  std::string name;
};

namespace {

std::string narrow(const wchar_t* wide) {
  std::string out;
  for (; wide && *wide; ++wide) {
    auto c = static_cast<uint32_t>(*wide);
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
    } else if (c < 0x10000) {
      out += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
              static_cast<char>(0x80 | (c & 63))};
    } else {
      out += {static_cast<char>(0xF0 | (c >> 18 & 7)), static_cast<char>(0x80 | (c >> 12 & 63)),
              static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
    }
  }
  return out;
}

// What an event says, in a form that the hub takes. Attributes may be those of an older version,
// which ends earlier.
struct Event {
  std::string made;
  const char* text = nullptr;
  uint32_t color = 0;

  explicit Event(const nvtxEventAttributes* a) {
    constexpr size_t kWithMessage = offsetof(nvtxEventAttributes, message) + sizeof(nvtxMessage);
    if (!a || a->size < kWithMessage) return;
    if (a->color_type == kColorArgb) color = a->color;
    if (a->message_type == kMessageAscii) text = a->message.ascii;
    if (a->message_type == kMessageWide) text = (made = narrow(a->message.wide)).c_str();
    if (a->message_type == kMessageRegistered && a->message.registered)
      text = a->message.registered->text.c_str();
  }
};

const char* name_of(const nvtxDomain* domain) { return domain ? domain->name.c_str() : nullptr; }

bool listened() {
  static const std::atomic<uint32_t>& wanted = *anywarp_activity_wanted();
  return wanted.load(std::memory_order_relaxed) & AW_LISTEN_RANGES;
}

void mark(const nvtxDomain* domain, const nvtxEventAttributes* a) {
  const aw::Roctx* amd = aw::roctx();
  if (!listened() && !amd) return;
  Event event(a);
  if (amd) amd->mark(event.text ? event.text : "");
  if (!listened()) return;
  anywarp_activity_mark(name_of(domain), event.text, event.color);
}

uint64_t start(const nvtxDomain* domain, const nvtxEventAttributes* a) {
  const aw::Roctx* amd = aw::roctx();
  if (!listened() && !amd) return 0;
  Event event(a);
  uint64_t ours =
      listened() ? anywarp_activity_range_start(name_of(domain), event.text, event.color) : 0;
  return amd ? aw::pair_ranges(ours, amd->start(event.text ? event.text : "")) : ours;
}

void finish(uint64_t range) {
  if (const aw::Roctx* amd = aw::roctx()) {
    aw::RangePair pair = aw::unpair_ranges(range);
    if (pair.known) amd->stop(pair.amd);
    range = pair.known ? pair.ours : range;
  }
  if (range) anywarp_activity_range_end(range);
}

int push(const nvtxDomain* domain, const nvtxEventAttributes* a) {
  const aw::Roctx* amd = aw::roctx();
  if (!listened() && !amd) return kNoTracking;
  Event event(a);
  int depth = amd ? amd->push(event.text ? event.text : "") : kNoTracking;
  if (!listened()) return depth;
  return anywarp_activity_range_push(name_of(domain), event.text, event.color);
}

int pop(const nvtxDomain* domain) {
  const aw::Roctx* amd = aw::roctx();
  const int depth = amd ? amd->pop() : kNoTracking;
  return listened() ? anywarp_activity_range_pop(name_of(domain)) : depth;
}

nvtxEventAttributes ascii(const char* text) {
  nvtxEventAttributes a{};
  a.size = sizeof a, a.message_type = kMessageAscii, a.message.ascii = text;
  return a;
}
nvtxEventAttributes wide(const wchar_t* text) {
  nvtxEventAttributes a{};
  a.size = sizeof a, a.message_type = kMessageWide, a.message.wide = text;
  return a;
}

}  // namespace

AW_EXPORT void nvtxInitialize(const void*) {}

AW_EXPORT void nvtxMarkEx(const nvtxEventAttributes* a) { mark(nullptr, a); }
AW_EXPORT void nvtxMarkA(const char* text) {
  auto a = ascii(text);
  mark(nullptr, &a);
}
AW_EXPORT void nvtxMarkW(const wchar_t* text) {
  auto a = wide(text);
  mark(nullptr, &a);
}

AW_EXPORT uint64_t nvtxRangeStartEx(const nvtxEventAttributes* a) { return start(nullptr, a); }
AW_EXPORT uint64_t nvtxRangeStartA(const char* text) {
  auto a = ascii(text);
  return start(nullptr, &a);
}
AW_EXPORT uint64_t nvtxRangeStartW(const wchar_t* text) {
  auto a = wide(text);
  return start(nullptr, &a);
}
AW_EXPORT void nvtxRangeEnd(uint64_t range) { finish(range); }

AW_EXPORT int nvtxRangePushEx(const nvtxEventAttributes* a) { return push(nullptr, a); }
AW_EXPORT int nvtxRangePushA(const char* text) {
  auto a = ascii(text);
  return push(nullptr, &a);
}
AW_EXPORT int nvtxRangePushW(const wchar_t* text) {
  auto a = wide(text);
  return push(nullptr, &a);
}
AW_EXPORT int nvtxRangePop() { return pop(nullptr); }

AW_EXPORT nvtxDomain* nvtxDomainCreateA(const char* name) {
  return new nvtxDomain{name ? name : ""};
}
AW_EXPORT nvtxDomain* nvtxDomainCreateW(const wchar_t* name) {
  return new nvtxDomain{narrow(name)};
}
// Ranges of the domain may still be open, and its name is told at their end.
AW_EXPORT void nvtxDomainDestroy(nvtxDomain*) {}
AW_EXPORT nvtxString* nvtxDomainRegisterStringA(nvtxDomain*, const char* text) {
  return new nvtxString{text ? text : ""};
}
AW_EXPORT nvtxString* nvtxDomainRegisterStringW(nvtxDomain*, const wchar_t* text) {
  return new nvtxString{narrow(text)};
}
AW_EXPORT void nvtxDomainMarkEx(nvtxDomain* domain, const nvtxEventAttributes* a) {
  mark(domain, a);
}
AW_EXPORT uint64_t nvtxDomainRangeStartEx(nvtxDomain* domain, const nvtxEventAttributes* a) {
  return start(domain, a);
}
AW_EXPORT void nvtxDomainRangeEnd(nvtxDomain*, uint64_t range) { nvtxRangeEnd(range); }
AW_EXPORT int nvtxDomainRangePushEx(nvtxDomain* domain, const nvtxEventAttributes* a) {
  return push(domain, a);
}
AW_EXPORT int nvtxDomainRangePop(nvtxDomain* domain) { return pop(domain); }

// Names for threads, categories and handles, which a trace here does not show; NVTX says that a
// tool may leave them out.
#define AW_NAMES(name, ...)                           \
  AW_EXPORT void name##A(__VA_ARGS__, const char*) {} \
  AW_EXPORT void name##W(__VA_ARGS__, const wchar_t*) {}
AW_NAMES(nvtxNameCategory, uint32_t)
AW_NAMES(nvtxNameOsThread, uint32_t)
AW_NAMES(nvtxDomainNameCategory, nvtxDomain*, uint32_t)
AW_NAMES(nvtxNameCuDevice, int)
AW_NAMES(nvtxNameCuContext, void*)
AW_NAMES(nvtxNameCuStream, void*)
AW_NAMES(nvtxNameCuEvent, void*)
AW_NAMES(nvtxNameCudaDevice, int)
AW_NAMES(nvtxNameCudaStream, void*)
AW_NAMES(nvtxNameCudaEvent, void*)
AW_NAMES(nvtxNameClDevice, void*)
AW_NAMES(nvtxNameClContext, void*)
AW_NAMES(nvtxNameClCommandQueue, void*)
AW_NAMES(nvtxNameClMemObject, void*)
AW_NAMES(nvtxNameClSampler, void*)
AW_NAMES(nvtxNameClProgram, void*)
AW_NAMES(nvtxNameClEvent, void*)

// Resources and locks of the program's own: null handles, as without a tool.
AW_EXPORT void* nvtxDomainResourceCreate(nvtxDomain*, void*) { return nullptr; }
AW_EXPORT void nvtxDomainResourceDestroy(void*) {}
AW_EXPORT void* nvtxDomainSyncUserCreate(nvtxDomain*, const void*) { return nullptr; }
AW_EXPORT void nvtxDomainSyncUserDestroy(void*) {}
AW_EXPORT void nvtxDomainSyncUserAcquireStart(void*) {}
AW_EXPORT void nvtxDomainSyncUserAcquireFailed(void*) {}
AW_EXPORT void nvtxDomainSyncUserAcquireSuccess(void*) {}
AW_EXPORT void nvtxDomainSyncUserReleasing(void*) {}

namespace {

using Function = void (*)();

template <class F>
Function plain(F* function) {
  return reinterpret_cast<Function>(function);
}

void fill(const nvtxCallbacks* callbacks, int module, std::initializer_list<Function> own) {
  nvtxFunctions table = nullptr;
  unsigned count = 0;
  if (!callbacks->table_of(module, &table, &count) || !table) return;
  unsigned number = 1;
  for (Function function : own) {
    if (number < count && table[number]) *table[number] = function;
    ++number;
  }
}

}  // namespace

// Called once by each copy of header-only NVTX in the process; 1: the tool is there.
AW_EXPORT int InitializeInjectionNvtx2(nvtxExportTable table) {
  auto* callbacks = table ? static_cast<const nvtxCallbacks*>(table(kCallbacks)) : nullptr;
  if (!callbacks || callbacks->struct_size < sizeof *callbacks || !callbacks->table_of) return 0;
  // In the order of nvtxCallbackIdCore and nvtxCallbackIdCore2.
  fill(callbacks, kModuleCore,
       {plain(nvtxMarkEx), plain(nvtxMarkA), plain(nvtxMarkW), plain(nvtxRangeStartEx),
        plain(nvtxRangeStartA), plain(nvtxRangeStartW), plain(nvtxRangeEnd), plain(nvtxRangePushEx),
        plain(nvtxRangePushA), plain(nvtxRangePushW), plain(nvtxRangePop)});
  fill(callbacks, kModuleCore2,
       {plain(nvtxDomainMarkEx), plain(nvtxDomainRangeStartEx), plain(nvtxDomainRangeEnd),
        plain(nvtxDomainRangePushEx), plain(nvtxDomainRangePop), plain(nvtxDomainResourceCreate),
        plain(nvtxDomainResourceDestroy), plain(nvtxDomainNameCategoryA),
        plain(nvtxDomainNameCategoryW), plain(nvtxDomainRegisterStringA),
        plain(nvtxDomainRegisterStringW), plain(nvtxDomainCreateA), plain(nvtxDomainCreateW),
        plain(nvtxDomainDestroy), plain(nvtxInitialize)});
  return 1;
}

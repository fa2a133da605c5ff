#include "memory_settings.h"

#include <c10/util/Exception.h>

#include <cctype>
#include <cstdlib>
#include <map>

#include "versions.h"

#if AWT_TORCH >= 209
#include <c10/core/AllocatorConfig.h>
#endif

namespace awt {

std::atomic<const MemorySettings*> memory_settings_in_force{nullptr};

namespace {

// "a:1,b:[2,3]" as words: a : 1 , b : [ 2 , 3 ]
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (char c : text) {
    if (std::string_view(",:[]").find(c) != std::string_view::npos) {
      flush();
      words.emplace_back(1, c);
    } else if (!std::isspace(static_cast<unsigned char>(c))) {
      word += c;
    }
  }
  flush();
  return words;
}

class Parser {
 public:
  explicit Parser(const std::string& text) : words_(words_of(text)) {}

  bool done() const { return at_ >= words_.size(); }
  const std::string& next() {
    TORCH_CHECK_VALUE(!done(), "Error parsing CachingAllocator settings, it ends too early");
    return words_[at_++];
  }
  bool take(const char* word) {
    if (done() || words_[at_] != word) return false;
    return ++at_, true;
  }
  void expect(const char* word) {
    TORCH_CHECK_VALUE(take(word), "Error parsing CachingAllocator settings, expected '", word, "'");
  }
  size_t number(const std::string& key) {
    const std::string& word = next();
    char* end = nullptr;
    const unsigned long long value = std::strtoull(word.c_str(), &end, 10);
    TORCH_CHECK_VALUE(!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) && !*end,
                      "Error parsing CachingAllocator settings, ", key, " is not a number: ", word);
    return value;
  }
  double share(const std::string& key) {
    const std::string& word = next();
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    TORCH_CHECK_VALUE(!word.empty() && !*end, "Error parsing CachingAllocator settings, ", key,
                      " is not a number: ", word);
    return value;
  }
  bool flag(const std::string& key) {
    const std::string& word = next();
    TORCH_CHECK_VALUE(word == "True" || word == "False",
                      "Expected a single True/False argument for ", key);
    return word == "True";
  }

 private:
  std::vector<std::string> words_;
  size_t at_ = 0;
};

constexpr size_t kMegabyte = 1 << 20, kIntervals = 16;

size_t megabytes(Parser& parser, const std::string& key, size_t least) {
  const size_t value = parser.number(key);
  TORCH_CHECK_VALUE(value >= least && value < (size_t{1} << 40), "CachingAllocator option ", key,
                    " too small, must be >= ", least);
  return value * kMegabyte;
}

bool is_power_of_two(size_t value) { return value && !(value & (value - 1)); }

// One number for all sizes, or [256:1,512:2,>:4]: megabytes up to which so many parts are taken.
std::vector<size_t> divisions(Parser& parser, const std::string& key) {
  if (!parser.take("[")) {
    const size_t parts = parser.number(key);
    TORCH_CHECK_VALUE(is_power_of_two(parts), "For roundups, the divisions has to be power of 2 ");
    return std::vector<size_t>(kIntervals, parts);
  }
  std::vector<size_t> found(kIntervals, 0);
  size_t first = 0, last = 1;
  while (!parser.take("]")) {
    const bool rest = parser.take(">");
    const size_t border = rest ? 0 : parser.number(key);
    parser.expect(":");
    const size_t parts = parser.number(key);
    TORCH_CHECK_VALUE(rest || is_power_of_two(border),
                      "For roundups, the intervals have to be power of 2 ");
    TORCH_CHECK_VALUE(is_power_of_two(parts), "For roundups, the divisions has to be power of 2 ");
    size_t place = 0;
    while (!rest && (size_t{1} << place) < border) ++place;
    const size_t end = rest ? kIntervals : std::min(place, kIntervals - 1) + 1;
    for (size_t i = first; i < end; ++i) found[i] = parts;
    first = std::max(first, end), last = parts;
    parser.take(",");
  }
  for (size_t i = first; i < kIntervals; ++i) found[i] = last;
  return found;
}

void parse_one(MemorySettings& s, Parser& parser, const std::string& key) {
  if (key == "max_split_size_mb") {
    // 20 MiB is the largest segment that requests share.
    s.max_split_size = megabytes(parser, key, 20);
  } else if (key == "max_non_split_rounding_mb") {
    s.max_non_split_rounding = megabytes(parser, key, 20);
  } else if (key == "large_segment_size_mb") {
    s.large_segment = megabytes(parser, key, 20);
  } else if (key == "garbage_collection_threshold") {
    s.garbage_collection_threshold = parser.share(key);
    TORCH_CHECK_VALUE(s.garbage_collection_threshold > 0,
                      "garbage_collect_threshold too small, set it 0.0~1.0");
    TORCH_CHECK_VALUE(s.garbage_collection_threshold < 1,
                      "garbage_collect_threshold too big, set it 0.0~1.0");
  } else if (key == "roundup_power2_divisions") {
    s.roundup_divisions = divisions(parser, key);
  } else if (key == "expandable_segments") {
    s.expandable_segments = parser.flag(key);
  } else if (key == "per_process_memory_fraction") {
    s.memory_fraction = parser.share(key);
    TORCH_CHECK_VALUE(s.memory_fraction >= 0 && s.memory_fraction <= 1,
                      "per_process_memory_fraction is invalid, set it in [0.0, 1.0]");
  } else if (key == "throw_on_cudamalloc_oom") {
    s.throw_on_oom = parser.flag(key);
  } else if (key == "pinned_max_round_threshold_mb") {
    s.pinned_max_round = megabytes(parser, key, 1);
  } else if (key == "pinned_max_cached_size_mb") {
    s.pinned_max_cached = megabytes(parser, key, 1);
  } else if (key == "backend") {
    const std::string& backend = parser.next();
    TORCH_CHECK_VALUE(backend == "native" || backend == "cudaMallocAsync",
                      "Unknown allocator backend, options are native and cudaMallocAsync");
    TORCH_CHECK_VALUE(backend == "native",
                      "backend:cudaMallocAsync is not served by anywarp; use backend:native");
  } else if (key == "release_lock_on_cudamalloc" || key == "pinned_use_cuda_host_register" ||
             key == "graph_capture_record_stream_reuse" || key == "pinned_free_catch_all" ||
             key == "pinned_use_background_threads") {
    parser.flag(key);  // how CUDA's allocator goes about it: without an effect that is seen here
  } else if (key == "pinned_num_register_threads" || key == "pinned_reserve_segment_size_mb") {
    parser.number(key);
  } else {
    TORCH_CHECK_VALUE(false, "Unrecognized key '", key, "' in CUDA allocator config.");
  }
}

MemorySettings parsed(MemorySettings settings, const std::string& text) {
  Parser parser(text);
  while (!parser.done()) {
    const std::string key = parser.next();
    parser.expect(":");
    parse_one(settings, parser, key);
    if (!parser.done()) parser.expect(",");
  }
  settings.text = text;
  return settings;
}

// Readers of before may still hold the old ones: they are kept.
const MemorySettings& put_in_force(MemorySettings settings) {
  const auto* made = new MemorySettings(std::move(settings));
  memory_settings_in_force.store(made, std::memory_order_release);
  return *made;
}

}  // namespace

const MemorySettings& read_memory_settings() {
  MemorySettings settings;
  const char* disabled = std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING");
  settings.disabled = disabled != nullptr;
  const char* text = std::getenv("PYTORCH_CUDA_ALLOC_CONF");
  if (!text) text = std::getenv("PYTORCH_ALLOC_CONF");
  return put_in_force(text ? parsed(settings, text) : settings);
}

void set_memory_settings(const std::string& text) { put_in_force(parsed(memory_settings(), text)); }

void set_caching(bool on) {
  MemorySettings settings = memory_settings();
  settings.disabled = !on;
  put_in_force(std::move(settings));
}

#if AWT_TORCH >= 209
// torch._C._accelerator_setAllocatorSettings parses its own options and then tells us. The keys are
// those that a CUDA build adds to it.
namespace {
const c10::CachingAllocator::DeviceConfigParserHookRegistry registration(
    [](const std::string& text) { set_memory_settings(text); },
    {"backend", "release_lock_on_cudamalloc", "pinned_use_cuda_host_register",
     "release_lock_on_hipmalloc", "pinned_use_hip_host_register",
     "graph_capture_record_stream_reuse", "pinned_reserve_segment_size_mb",
     "pinned_num_register_threads", "per_process_memory_fraction", "pinned_free_catch_all",
     "throw_on_cudamalloc_oom"});
}  // namespace
#endif

}  // namespace awt

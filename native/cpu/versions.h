// The versions of a kernel's code for one block shape: one that serves every launch, at first
// perhaps compiled soon rather than well, and one for parameters that are convenient multiples.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/artifacts.h"
#include "devices/processor.h"

namespace aw {

class Versions : public std::enable_shared_from_this<Versions> {
 public:
  // Obtains code that serves every launch of the request's shape, compiled if need be; throws
  // Failure with what the compiler said. `text_bytes`: how much PTX it is; 0: not known.
  static std::shared_ptr<Versions> obtain(KernelRequest request, uint64_t text_bytes);

  // Code that serves every launch; what it says of memory and parameters holds for all versions.
  std::shared_ptr<KernelCode> general() const;

  // The code for a launch, and whether the caller shall measure it and tell `ran`.
  struct Choice {
    std::shared_ptr<KernelCode> code;
    bool measured = false;
  };
  Choice choose(const std::vector<uint8_t>& params, uint64_t blocks);
  void ran(const Choice& choice, uint64_t blocks, uint64_t nanoseconds);

 private:
  // Launches of one size: in use, variant.
  struct Times {
    std::array<uint64_t, 2> best{UINT64_MAX, UINT64_MAX};  // nanoseconds
    std::array<unsigned, 2> runs{};
    bool settled() const;
    bool better() const;
  };

  // A version that may become better than the one in use, and how far that has come.
  struct Variant {
    enum class State { unasked, asked, trial, adopted, dropped } state = State::unasked;
    CompileOptions options;
    std::shared_ptr<KernelCode> code;
    std::map<uint64_t, Times> times;  // by the number of blocks
    bool sought = false;
    Times* of(uint64_t blocks);
  };

  Versions(KernelRequest request, std::shared_ptr<KernelCode> general, bool quick,
           uint64_t text_bytes);
  void enter(Variant& variant, std::shared_ptr<KernelCode> code);
  void look_for(Variant& variant);
  bool find(Variant& variant, const KernelRequest& wanted);
  Choice pick(Variant& variant, uint64_t blocks);
  void decide(Variant& variant, uint64_t blocks);
  void settle(Variant& variant, bool better);
  KernelRequest request_for(const Variant& variant) const;

  const KernelRequest request_;
  const uint64_t text_bytes_;  // 0: not known
  mutable std::mutex mutex_;
  std::shared_ptr<KernelCode> general_;
  bool quick_;  // `general_` was compiled soon; `full_` is to replace it
  uint64_t spent_ns_ = 0;
  Variant full_, special_;
};

}  // namespace aw

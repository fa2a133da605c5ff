// Bytes of one operation on their way to and from other ranks, a piece at a time, so that many are
// under way at once.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "libraries/nccl/arithmetic.h"
#include "libraries/nccl/links.h"

namespace aw::nccl {

// In front of every message, so that calls that do not fit together are an error and not a mixture.
struct Header {
  uint64_t magic, kind, bytes, direct, unused[4];
};
static_assert(sizeof(Header) == kLine);

// What stands in a direct message in the place of bytes: where they lie in the sender's memory. Who
// receives it reads them there and then takes it out of the ring, which is how the sender knows
// that its memory is free.
struct Piece {
  const char* at;
  uint64_t bytes, unused[6];
};
static_assert(sizeof(Piece) == kLine);

constexpr uint64_t kHeaderMagic = 0x6567'6173'7365'6d61;

// What a step has found: whether anything moved, and what does not fit.
struct Step {
  bool moved = false;
  std::string wrong;
};

// Sends `bytes` from a place to a rank.
class Out {
 public:
  Out(int peer, int lane, const void* from, size_t bytes, uint64_t kind)
      : peer_(peer),
        lane_(lane),
        from_(static_cast<const char*>(from)),
        bytes_(bytes),
        kind_(kind) {}
  // No further than what *ready says.
  Out& behind(const size_t* ready) {
    ready_ = ready;
    return *this;
  }
  // Every element times the factor.
  Out& scaled(Scale scale, const void* factor, size_t element) {
    scale_ = scale, factor_ = factor, element_ = element;
    return *this;
  }
  bool done() const { return padded_; }
  int peer() const { return peer_; }
  void step(Links& links, Step& step);

 private:
  bool post(Links& links, size_t limit);
  bool write(Links& links, size_t limit);
  int peer_, lane_;
  const char* from_;
  size_t bytes_, done_ = 0;
  uint64_t kind_;
  const size_t* ready_ = nullptr;
  Scale scale_ = nullptr;
  const void* factor_ = nullptr;
  size_t element_ = 1;
  bool headed_ = false, direct_ = false, padded_ = false;
};

// The reading end of a message.
class In {
 public:
  In(int peer, int lane, size_t bytes, uint64_t kind)
      : peer_(peer), lane_(lane), bytes_(bytes), kind_(kind) {}
  bool done() const { return padded_; }
  int peer() const { return peer_; }
  size_t left() const { return bytes_ - done_; }
  // Contiguous bytes of the message that are there; 0 when there are none yet.
  size_t ready(Links& links, const char** at, Step& step);
  void took(Links& links, size_t bytes, Step& step);
  // Copies what is there, at most `most`, to a place; the bytes copied.
  size_t copy(Links& links, char* to, size_t most, Step& step);

 private:
  bool begun(Links& links, Step& step);
  // Bytes of the piece at the end of the ring.
  size_t piece(Links& links);
  size_t read(Links& links, void* to, size_t bytes, Step& step);
  int peer_, lane_;
  size_t bytes_, done_ = 0;
  uint64_t kind_;
  bool headed_ = false, direct_ = false, padded_ = false;
  const char* piece_ = nullptr;  // what is left of it
  size_t piece_bytes_ = 0;
  std::vector<char> read_;  // of a piece in another process
  size_t read_first_ = 0, read_bytes_ = 0;
};

// Receives into a place.
class Copy {
 public:
  Copy(int peer, int lane, void* to, size_t bytes, uint64_t kind)
      : in_(peer, lane, bytes, kind), to_(static_cast<char*>(to)) {}
  bool done() const { return in_.done(); }
  int peer() const { return in_.peer(); }
  void step(Links& links, Step& step);

 private:
  In in_;
  char* to_;
};

// Folds what all ranks send, in the order of ranks, with the part of this one.
class Reduction {
 public:
  Reduction(Fold fold, size_t element, size_t elements, void* to)
      : fold_(fold), element_(element), bytes_(element * elements), to_(static_cast<char*>(to)) {}
  void add(In in) { ins_.push_back(std::move(in)), own_.push_back(nullptr); }
  void add(const void* own) {
    ins_.emplace_back(-1, 0, 0, 0), own_.push_back(static_cast<const char*>(own));
  }
  // This rank's own part is scaled first.
  void scale(Scale scale, const void* factor) { scale_ = scale, factor_ = factor; }
  bool done() const;
  const size_t* progress() const { return &done_; }
  const std::vector<In>& ins() const { return ins_; }
  void step(Links& links, Step& step);

 private:
  Fold fold_;
  size_t element_, bytes_, done_ = 0;
  char* to_;
  std::vector<In> ins_;
  std::vector<const char*> own_;  // null for what comes from others
  Scale scale_ = nullptr;
  const void* factor_ = nullptr;
  std::vector<char> scaled_;
};

}  // namespace aw::nccl

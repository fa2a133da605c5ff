#include "libraries/nccl/flows.h"

#include <algorithm>

namespace aw::nccl {
namespace {

// After which the other side is told, so that it reads while we write on.
constexpr uint64_t kPiece = 32 << 10;
// A message of so many bytes is read where it lies, and what becomes ready of it is told of in
// pieces of so many.
constexpr size_t kDirect = 64 << 10, kPosted = 512 << 10;
constexpr size_t kRead = 128 << 10;  // at once from another process, to be folded from a cache

size_t padding(size_t bytes) { return (kLine - bytes % kLine) % kLine; }

// Reads a byte in each part of what another rank is about to read, so that a wild address is the
// fault of whoever gave it.
void touch(const char* from, size_t bytes) {
  constexpr size_t kPart = 64 << 10;
  for (size_t at = 0; at < bytes; at += kPart) static_cast<const volatile char*>(from)[at];
  static_cast<const volatile char*>(from)[bytes - 1];
}

}  // namespace

void Out::step(Links& links, Step& step) {
  if (padded_) return;
  Ring& ring = links.out(peer_, lane_);
  bool wrote = false;
  if (!headed_) {
    if (ring.free_bytes() < sizeof(Header)) return;
    direct_ = bytes_ >= kDirect && !scale_ && links.is_read(peer_);
    char* at;
    ring.room(&at);
    Header header = {kHeaderMagic, kind_, bytes_, direct_, {}};
    memcpy(at, &header, sizeof header);
    ring.wrote(sizeof header);
    headed_ = wrote = true;
  }
  size_t limit = ready_ ? std::min(*ready_, bytes_) : bytes_;
  wrote |= direct_ ? post(links, limit) : write(links, limit);
  if (done_ == bytes_) {
    if (direct_)
      padded_ = ring.free_bytes() == ring.size, step.moved |= padded_;
    else if (ring.free_bytes() >= padding(bytes_))
      ring.wrote(padding(bytes_)), padded_ = wrote = true;
  }
  if (wrote) links.notify(peer_, lane_), step.moved = true;
}

// Says where the bytes lie.
bool Out::post(Links& links, size_t limit) {
  Ring& ring = links.out(peer_, lane_);
  size_t n = limit - done_;
  if (!n || (n < kPosted && limit < bytes_) || ring.free_bytes() < sizeof(Piece)) return false;
  touch(from_ + done_, n);
  Piece piece = {from_ + done_, n, {}};
  char* at;
  ring.room(&at);
  memcpy(at, &piece, sizeof piece);
  ring.wrote(sizeof piece);
  done_ += n;
  return true;
}

// Puts the bytes into the ring.
bool Out::write(Links& links, size_t limit) {
  Ring& ring = links.out(peer_, lane_);
  bool wrote = false;
  while (done_ < limit) {
    char* at;
    size_t n = std::min({ring.room(&at), kPiece, limit - done_});
    n -= n % element_;
    if (!n) break;
    if (scale_)
      scale_(at, from_ + done_, factor_, n / element_);
    else
      memcpy(at, from_ + done_, n);
    ring.wrote(n);
    done_ += n;
    wrote = true;
    if (done_ < bytes_) links.notify(peer_, lane_);
  }
  return wrote;
}

// Whether there is more of the message to come, whose beginning is known.
bool In::begun(Links& links, Step& step) {
  if (padded_) return false;
  if (!headed_) {
    Ring& ring = links.in(peer_, lane_);
    if (ring.used_bytes() < sizeof(Header)) return false;
    char* at;
    ring.filled(&at);
    Header header;
    memcpy(&header, at, sizeof header);
    if (header.magic != kHeaderMagic || header.kind != kind_ || header.bytes != bytes_) {
      step.wrong = "rank " + std::to_string(peer_) + " called something else: it sends " +
                   std::to_string(header.bytes) + " bytes of kind " + std::to_string(header.kind) +
                   ", here " + std::to_string(bytes_) + " of kind " + std::to_string(kind_) +
                   " are awaited";
      return false;
    }
    ring.took(sizeof header);
    headed_ = true, direct_ = header.direct != 0;
    step.moved = true;
  }
  if (done_ == bytes_) took(links, 0, step);
  return done_ < bytes_;
}

size_t In::piece(Links& links) {
  Ring& ring = links.in(peer_, lane_);
  if (piece_bytes_ || ring.used_bytes() < sizeof(Piece)) return piece_bytes_;
  char* at;
  ring.filled(&at);
  Piece piece;
  memcpy(&piece, at, sizeof piece);
  piece_ = piece.at;
  return piece_bytes_ = std::min<size_t>(piece.bytes, bytes_ - done_);
}

size_t In::read(Links& links, void* to, size_t bytes, Step& step) {
  int64_t done = links.read(peer_, to, piece_, bytes);
  if (done >= 0) return static_cast<size_t>(done);
  step.wrong = "the memory of rank " + std::to_string(peer_) + " cannot be read";
  return 0;
}

size_t In::ready(Links& links, const char** at, Step& step) {
  if (!begun(links, step)) return 0;
  if (!direct_) {
    char* there;
    size_t n = std::min<size_t>(links.in(peer_, lane_).filled(&there), bytes_ - done_);
    *at = there;
    return n;
  }
  size_t n = piece(links);
  if (links.same_memory(peer_)) {
    *at = piece_;
    return n;
  }
  if (n && !read_bytes_) {
    read_.resize(kRead);
    read_first_ = 0, read_bytes_ = read(links, read_.data(), std::min(n, kRead), step);
  }
  *at = read_.data() + read_first_;
  return std::min(n, read_bytes_);
}

void In::took(Links& links, size_t bytes, Step& step) {
  Ring& ring = links.in(peer_, lane_);
  done_ += bytes;
  bool freed = !direct_;
  if (bytes && direct_) {
    piece_ += bytes, piece_bytes_ -= bytes;
    if (read_bytes_) read_first_ += bytes, read_bytes_ -= bytes;
    freed = piece_bytes_ == 0;
    if (freed) ring.took(sizeof(Piece));
    step.moved = true;
  } else if (bytes) {
    ring.took(bytes), step.moved = true;
  }
  size_t rest = direct_ ? 0 : padding(bytes_);
  if (done_ == bytes_ && ring.used_bytes() >= rest) {
    ring.took(rest);
    padded_ = step.moved = true;
  }
  if (step.moved && freed) links.notify(peer_, lane_);
}

size_t In::copy(Links& links, char* to, size_t most, Step& step) {
  if (!begun(links, step)) return 0;
  char* at;
  size_t n = direct_ ? piece(links) : links.in(peer_, lane_).filled(&at);
  n = std::min({n, bytes_ - done_, most});
  if (!n) return 0;
  if (direct_) {
    // A wild address of this rank is not to be taken for one of the other.
    for (size_t page = 0; page < n; page += 4096) static_cast<volatile char*>(to)[page] = 0;
    static_cast<volatile char*>(to)[n - 1] = 0;
    n = read(links, to, n, step);
  } else {
    memcpy(to, at, n);
  }
  if (n) took(links, n, step);
  return n;
}

void Copy::step(Links& links, Step& step) {
  while (size_t n = in_.copy(links, to_, kPiece, step)) to_ += n;
}

bool Reduction::done() const {
  return done_ == bytes_ &&
         std::all_of(ins_.begin(), ins_.end(), [](auto& in) { return in.peer() < 0 || in.done(); });
}

void Reduction::step(Links& links, Step& step) {
  std::vector<const void*> parts(ins_.size());
  for (;;) {
    size_t n = std::min<size_t>(bytes_ - done_, kPiece);
    for (size_t i = 0; i < ins_.size(); ++i) {
      if (ins_[i].peer() < 0) {
        parts[i] = own_[i] + done_;
        continue;
      }
      const char* at = nullptr;
      n = std::min(n, ins_[i].ready(links, &at, step));
      parts[i] = at;
    }
    n -= n % element_;
    if (!n || !step.wrong.empty()) return;
    if (scale_) {
      scaled_.resize(kPiece);
      for (size_t i = 0; i < ins_.size(); ++i)
        if (ins_[i].peer() < 0)
          scale_(scaled_.data(), parts[i], factor_, n / element_), parts[i] = scaled_.data();
    }
    fold_(to_ + done_, parts.data(), static_cast<int>(parts.size()), n / element_);
    done_ += n;
    step.moved = true;
    for (auto& in : ins_)
      if (in.peer() >= 0) in.took(links, n, step);
  }
}

}  // namespace aw::nccl

#include "libraries/nccl/flows.h"

#include <algorithm>

namespace aw::nccl {
namespace {

// After which the other side is told, so that it reads while we write on.
constexpr uint64_t kPiece = 32 << 10;

size_t padding(size_t bytes) { return (kLine - bytes % kLine) % kLine; }

}  // namespace

void Out::step(Links& links, Step& step) {
  if (padded_) return;
  Ring& ring = links.out(peer_, lane_);
  bool wrote = false;
  char* at;
  if (!headed_) {
    if (ring.free_bytes() < sizeof(Header)) return;
    ring.room(&at);
    Header header = {kHeaderMagic, kind_, bytes_, {}};
    memcpy(at, &header, sizeof header);
    ring.wrote(sizeof header);
    headed_ = wrote = true;
  }
  size_t limit = ready_ ? std::min(*ready_, bytes_) : bytes_;
  while (done_ < limit) {
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
  if (done_ == bytes_ && ring.free_bytes() >= padding(bytes_)) {
    ring.wrote(padding(bytes_));
    padded_ = wrote = true;
  }
  if (wrote) links.notify(peer_, lane_), step.moved = true;
}

size_t In::ready(Links& links, char** at, Step& step) {
  if (padded_) return 0;
  Ring& ring = links.in(peer_, lane_);
  if (!headed_) {
    if (ring.used_bytes() < sizeof(Header)) return 0;
    ring.filled(at);
    Header header;
    memcpy(&header, *at, sizeof header);
    if (header.magic != kHeaderMagic || header.kind != kind_ || header.bytes != bytes_) {
      step.wrong = "rank " + std::to_string(peer_) + " called something else: it sends " +
                   std::to_string(header.bytes) + " bytes of kind " + std::to_string(header.kind) +
                   ", here " + std::to_string(bytes_) + " of kind " + std::to_string(kind_) +
                   " are awaited";
      return 0;
    }
    ring.took(sizeof header);
    headed_ = true;
    step.moved = true;
    if (!bytes_) took(links, 0, step);
  }
  if (done_ == bytes_) {
    took(links, 0, step);
    return 0;
  }
  return std::min<size_t>(ring.filled(at), bytes_ - done_);
}

void In::took(Links& links, size_t bytes, Step& step) {
  Ring& ring = links.in(peer_, lane_);
  done_ += bytes;
  if (bytes) ring.took(bytes), step.moved = true;
  if (done_ == bytes_ && ring.used_bytes() >= padding(bytes_)) {
    ring.took(padding(bytes_));
    padded_ = step.moved = true;
  }
  if (step.moved) links.notify(peer_, lane_);
}

void Copy::step(Links& links, Step& step) {
  char* at;
  while (size_t n = std::min<size_t>(in_.ready(links, &at, step), kPiece)) {
    memcpy(to_, at, n);
    to_ += n;
    in_.took(links, n, step);
  }
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
      char* at = nullptr;
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

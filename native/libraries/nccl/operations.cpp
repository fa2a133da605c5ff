#include "libraries/nccl/operations.h"

#include <algorithm>
#include <cstring>

namespace aw::nccl {
namespace {

constexpr size_t kSmall =
    16 << 10;  // bytes that every rank sends to all instead of reducing a share

uint64_t kind_of(const Operation& operation) {
  return static_cast<uint64_t>(operation.kind) | static_cast<uint64_t>(operation.type) << 8;
}

class Collective final : public Exchange {
 public:
  Collective(const Communicator& comm, const Operation& what)
      : what_(what), me_(comm.rank), ranks_(comm.count), element_(size_of(what.type)) {
    if (what.op >= ncclNumOps) {
      factor_ = what.factor.device ? what.factor.device : what_.factor.bytes;
      scale_ = scale_of(what.type);
    }
    build();
  }
  bool done() const override {
    return std::all_of(outs_.begin(), outs_.end(), [](auto& out) { return out.done(); }) &&
           std::all_of(copies_.begin(), copies_.end(), [](auto& copy) { return copy.done(); }) &&
           (!reduction_ || reduction_->done());
  }
  void step(Links& links, Step& step) override {
    bool sent = true;
    for (auto& out : outs_) out.step(links, step), sent &= out.done();
    if (reduction_ && (!sends_first_ || sent)) {
      reduction_->step(links, step);
      for (auto& out : outs_) out.step(links, step);
    }
    for (auto& copy : copies_) copy.step(links, step);
  }
  std::vector<int> awaited() const override {
    std::vector<int> out;
    for (auto& it : outs_)
      if (!it.done()) out.push_back(it.peer());
    for (auto& it : copies_)
      if (!it.done()) out.push_back(it.peer());
    if (reduction_)
      for (auto& in : reduction_->ins())
        if (in.peer() >= 0 && !in.done()) out.push_back(in.peer());
    return out;
  }

 private:
  const char* from(size_t element) const {
    return static_cast<const char*>(what_.from) + element * element_;
  }
  char* to(size_t element) const { return static_cast<char*>(what_.to) + element * element_; }

  void send(int peer, size_t first, size_t count) {
    Out out(peer, kMain, from(first), count * element_, kind_of(what_));
    if (scale_) out.scaled(scale_, factor_, element_);
    outs_.push_back(out);
  }
  void receive(int peer, int lane, size_t first, size_t count) {
    copies_.emplace_back(peer, lane, to(first), count * element_, kind_of(what_));
  }
  void keep(size_t first_to, size_t first_from, size_t count) {
    if (to(first_to) != from(first_from)) memmove(to(first_to), from(first_from), count * element_);
  }
  // The ranks' parts of [first, first + count), into the place that begins with element `at`.
  void reduce(size_t first, size_t count, size_t at) {
    reduction_ =
        std::make_unique<Reduction>(fold_of(what_.type, what_.op), element_, count, to(at));
    if (scale_) reduction_->scale(scale_, factor_);
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank == me_)
        reduction_->add(from(first));
      else
        reduction_->add(In(rank, kMain, count * element_, kind_of(what_)));
    }
  }
  template <class F>
  void others(F f) {
    for (int i = 1; i < ranks_; ++i) f((me_ + i) % ranks_);  // not all at the same rank first
  }

  void all_reduce() {
    size_t n = what_.count;
    if (n * element_ <= kSmall) {
      sends_first_ = true;  // what is sent may lie where the result goes
      others([&](int peer) { send(peer, 0, n); });
      return reduce(0, n, 0);
    }
    // Each reduces its share and hands it on. Where the result lies in the place of what is sent, a
    // rank's answer for some elements comes only after they were sent.
    size_t share = (n + static_cast<size_t>(ranks_) - 1) / static_cast<size_t>(ranks_);
    share = (share + 63) / 64 * 64;
    auto first = [&](int rank) { return std::min(n, share * static_cast<size_t>(rank)); };
    auto size = [&](int rank) { return first(rank + 1) - first(rank); };
    others([&](int peer) { send(peer, first(peer), size(peer)); });
    reduce(first(me_), size(me_), first(me_));
    others([&](int peer) {
      Out out(peer, kSpread, to(first(me_)), size(me_) * element_, kind_of(what_));
      outs_.push_back(out.behind(reduction_->progress()));
      receive(peer, kSpread, first(peer), size(peer));
    });
  }

  void build() {
    size_t n = what_.count;
    auto part = [&](int rank) { return n * static_cast<size_t>(rank); };
    bool root = what_.peer == me_;
    switch (what_.kind) {
      case Kind::kAllReduce:
        return all_reduce();
      case Kind::kReduce:
        return root ? reduce(0, n, 0) : send(what_.peer, 0, n);
      case Kind::kReduceScatter:
        others([&](int peer) { send(peer, part(peer), n); });
        return reduce(part(me_), n, 0);
      case Kind::kBroadcast:
        if (!root) return receive(what_.peer, kMain, 0, n);
        others([&](int peer) { send(peer, 0, n); });
        return keep(0, 0, n);
      case Kind::kAllGather:
        keep(part(me_), 0, n);
        return others([&](int peer) { send(peer, 0, n), receive(peer, kMain, part(peer), n); });
      case Kind::kAllToAll:
        keep(part(me_), part(me_), n);
        return others(
            [&](int peer) { send(peer, part(peer), n), receive(peer, kMain, part(peer), n); });
      case Kind::kGather:
        if (!root) return send(what_.peer, 0, n);
        keep(part(me_), 0, n);
        return others([&](int peer) { receive(peer, kMain, part(peer), n); });
      case Kind::kScatter:
        if (!root) return receive(what_.peer, kMain, 0, n);
        keep(0, part(me_), n);
        return others([&](int peer) { send(peer, part(peer), n); });
      default:
        return;
    }
  }

  const Operation what_;
  const int me_, ranks_;
  const size_t element_;
  Scale scale_ = nullptr;
  const void* factor_ = nullptr;
  bool sends_first_ = false;
  std::vector<Out> outs_;
  std::vector<Copy> copies_;
  std::unique_ptr<Reduction> reduction_;
};

// Between two ranks messages come in the order in which they were sent.
class Pairs final : public Exchange {
 public:
  bool done() const override { return outs_.empty() && ins_.empty(); }
  void step(Links& links, Step& step) override {
    advance(outs_, links, step);
    advance(ins_, links, step);
  }
  std::vector<int> awaited() const override {
    std::vector<int> out;
    for (auto& [peer, queue] : outs_) out.push_back(peer);
    for (auto& [peer, queue] : ins_) out.push_back(peer);
    return out;
  }
  std::map<int, std::deque<Out>> outs_;
  std::map<int, std::deque<Copy>> ins_;

 private:
  template <class Queues>
  static void advance(Queues& queues, Links& links, Step& step) {
    for (auto it = queues.begin(); it != queues.end();) {
      auto& queue = it->second;
      while (!queue.empty()) {
        queue.front().step(links, step);
        if (!queue.front().done()) break;
        queue.pop_front();
        step.moved = true;
      }
      it = queue.empty() ? queues.erase(it) : std::next(it);
    }
  }
};

}  // namespace

std::unique_ptr<Exchange> collective(const Communicator& comm, const Operation& operation) {
  return std::make_unique<Collective>(comm, operation);
}

std::unique_ptr<Exchange> pairs(const Communicator& comm,
                                const std::vector<Operation>& operations) {
  auto out = std::make_unique<Pairs>();
  constexpr auto kind = static_cast<uint64_t>(Kind::kSend);
  std::deque<const Operation*> sent;
  for (auto& it : operations) {
    if (it.kind != Kind::kSend) continue;
    if (it.peer == comm.rank)
      sent.push_back(&it);
    else
      out->outs_[it.peer].emplace_back(it.peer, kPair, it.from, it.count * size_of(it.type), kind);
  }
  for (auto& it : operations) {
    if (it.kind != Kind::kReceive) continue;
    size_t bytes = it.count * size_of(it.type);
    if (it.peer != comm.rank) {
      out->ins_[it.peer].emplace_back(it.peer, kPair, it.to, bytes, kind);
      continue;
    }
    auto* mine = sent.front();
    sent.pop_front();
    if (it.to != mine->from) memmove(it.to, mine->from, bytes);
  }
  return out;
}

bool carry_out(Communicator& comm, std::unique_ptr<Exchange> beside,
               const std::function<std::unique_ptr<Exchange>()>& next, bool agreeing) {
  Links& links = *comm.links;
  auto current = next();
  double moved = now();
  for (;;) {
    links.pump();
    uint32_t seen = links.changes();
    Step step;
    if (beside) {
      beside->step(links, step);
      if (beside->done()) beside.reset();
    }
    if (current) {
      current->step(links, step);
      if (current->done()) current = next(), step.moved = true;
    }
    if (!step.wrong.empty()) {
      comm.fail(ncclInvalidUsage, step.wrong);
      return false;
    }
    if (!beside && !current) return true;
    if (comm.given_up || (comm.revoked && !agreeing)) return false;
    // Who is left after an error may agree upon going on without the others.
    if (links.aborted() && !(agreeing && comm.revoked)) {
      comm.watch();
      return false;
    }
    if (step.moved) {
      moved = 0;
      continue;
    }
    if (moved == 0) moved = now();
    links.sleep(seen, 100);
    if (now() - moved < 0.1) continue;
    moved = now();
    for (auto& exchange : {beside.get(), current.get()})
      for (int peer : exchange ? exchange->awaited() : std::vector<int>{})
        if (links.died(peer) || (links.left(peer) && links.changes() == seen)) {
          comm.fail(ncclRemoteError, "rank " + std::to_string(peer) + " has ended");
          return false;
        }
  }
}

bool perform(Communicator& comm, const std::vector<Operation>& operations) {
  auto at = operations.begin();
  auto next = [&]() -> std::unique_ptr<Exchange> {
    while (at != operations.end() && (at->kind == Kind::kSend || at->kind == Kind::kReceive)) ++at;
    return at == operations.end() ? nullptr : collective(comm, *at++);
  };
  return carry_out(comm, pairs(comm, operations), next);
}

std::vector<char> agree(Communicator& comm, const void* mine, size_t bytes,
                        const std::vector<int>& without) {
  std::vector<char> all(bytes * static_cast<size_t>(comm.count));
  auto here = std::make_unique<Pairs>();
  constexpr uint64_t kind = 0x61677265;
  for (int peer = 0; peer < comm.count; ++peer) {
    char* place = all.data() + bytes * static_cast<size_t>(peer);
    if (peer == comm.rank) {
      memcpy(place, mine, bytes);
      continue;
    }
    if (std::find(without.begin(), without.end(), peer) != without.end()) continue;
    here->outs_[peer].emplace_back(peer, kControl, mine, bytes, kind);
    here->ins_[peer].emplace_back(peer, kControl, place, bytes, kind);
  }
  bool fine = carry_out(comm, std::move(here), [] { return std::unique_ptr<Exchange>(); }, true);
  if (!fine) throw Failure(comm.state == ncclSuccess ? ncclInternalError : comm.state.load());
  return all;
}

}  // namespace aw::nccl

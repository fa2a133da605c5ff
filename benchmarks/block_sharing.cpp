// Simulates threads that share the blocks of a grid by devices/claims.h: prints, for each kind of
// grid and number of threads, the time until the last thread ends over the least possible, with
// pieces of one size and with those that are used.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "devices/claims.h"

namespace {

using Costs = std::vector<double>;  // nanoseconds of each block

Costs costs(const std::string& kind, size_t blocks) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> even(0.0, 1.0);
  Costs out(blocks);
  for (size_t i = 0; i < blocks; ++i) {
    double place = static_cast<double>(i) / static_cast<double>(blocks), drawn = even(random);
    if (kind == "equal") out[i] = 1000;
    if (kind == "rising") out[i] = 100 + 1800 * place;
    if (kind == "falling") out[i] = 1900 - 1800 * place;
    if (kind == "rare long ones") out[i] = drawn < 1.0 / 64 ? 30'000 : 500;
    if (kind == "heavy tail") out[i] = 300 / std::max(1e-4, 1.0 - drawn) / 2;  // Pareto, index 1
    if (kind == "long ones last") out[i] = place < 0.95 ? 500 : 10'000;
  }
  return out;
}

// The time at which the last of `threads` ends; a claim takes longer the more threads want one.
double last_end(aw::Claims& claims, const Costs& blocks, unsigned threads) {
  const double claiming = 20 + 5.0 * threads;
  using Turn = std::pair<double, unsigned>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (unsigned thread = 0; thread < threads; ++thread) turns.push({0, thread});
  double end = 0;
  while (!turns.empty()) {
    auto [now, thread] = turns.top();
    turns.pop();
    uint64_t first = 0, count = claims.claim(&first);
    if (!count) {
      end = std::max(end, now);
      continue;
    }
    now += claiming;
    for (uint64_t i = 0; i < count; ++i) now += blocks[first + i];
    turns.push({now, thread});
  }
  return end;
}

}  // namespace

int main() {
  const char* kinds[] = {"equal",          "rising",     "falling",
                         "rare long ones", "heavy tail", "long ones last"};
  for (unsigned threads : {2u, 8u, 64u, 192u}) {
    for (size_t each : {3, 40, 1000}) {  // blocks of a thread, in the mean
      for (const char* kind : kinds) {
        Costs blocks = costs(kind, each * threads + threads / 2);
        double sum = std::accumulate(blocks.begin(), blocks.end(), 0.0);
        double least = std::max(sum / threads, *std::max_element(blocks.begin(), blocks.end()));
        uint64_t total = blocks.size(),
                 largest = std::max<uint64_t>(1, total / (uint64_t{threads} * 16));
        uint64_t smallest =
            std::max<uint64_t>(1, static_cast<uint64_t>(2000 / (sum / static_cast<double>(total))));
        aw::Claims fixed(total, largest), guided(total, largest, smallest, threads);
        printf("%u\t%zu\t%s\t%.3f\t%.3f\n", threads, each, kind,
               last_end(fixed, blocks, threads) / least, last_end(guided, blocks, threads) / least);
      }
    }
  }
  return 0;
}

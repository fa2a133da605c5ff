// The game of life on a torus, 32 cells in a word: each thread counts the neighbours of a whole
// word by logic.
//
// expect: life: right
#include <utility>
#include <vector>

#include "example.h"

constexpr int kWords = 8, kRows = 128, kColumns = 32 * kWords, kSteps = 60;

__global__ void generation(const uint32_t* now, uint32_t* next) {
  const int word = threadIdx.x % kWords,
            row = blockIdx.x * (blockDim.x / kWords) + threadIdx.x / kWords;
  if (row >= kRows) return;
  const auto at = [&](int r, int w) {
    return now[(r + kRows) % kRows * kWords + (w + kWords) % kWords];
  };
  uint32_t ones = 0, twos = 0,
           fours = 0;  // a counter of three bits for each cell; eight neighbours count as none
  const auto count = [&](uint32_t cells) {
    const uint32_t carry = ones & cells;
    ones ^= cells;
    fours ^= twos & carry;
    twos ^= carry;
  };
  for (int dy = -1; dy <= 1; ++dy) {
    const uint32_t left = at(row + dy, word - 1), centre = at(row + dy, word),
                   right = at(row + dy, word + 1);
    count(__funnelshift_l(left, centre, 1));   // the cell to the left of each
    count(__funnelshift_r(centre, right, 1));  // and to the right
    if (dy != 0) count(centre);
  }
  next[row * kWords + word] = twos & ~fours & (ones | at(row, word));
}

int main() {
  std::vector<uint32_t> words(kRows * kWords);
  std::vector<char> cells(kRows * kColumns), next(kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) {
    cells[i] = noise(i) < 0.3f;
    if (cells[i]) words[i / 32] |= 1u << (i % 32);
  }
  const size_t bytes = words.size() * sizeof(uint32_t);
  uint32_t *now, *other;
  CHECK(cudaMalloc(&now, bytes));
  CHECK(cudaMalloc(&other, bytes));
  CHECK(cudaMemcpy(now, words.data(), bytes, cudaMemcpyHostToDevice));
  for (int step = 0; step < kSteps; ++step) {
    generation<<<kRows * kWords / 128, 128>>>(now, other);
    std::swap(now, other);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(words.data(), now, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(now));
  CHECK(cudaFree(other));

  for (int step = 0; step < kSteps; ++step) {
    for (int y = 0; y < kRows; ++y) {
      for (int x = 0; x < kColumns; ++x) {
        int around = -cells[y * kColumns + x];
        for (int dy = kRows - 1; dy <= kRows + 1; ++dy) {
          for (int dx = kColumns - 1; dx <= kColumns + 1; ++dx)
            around += cells[(y + dy) % kRows * kColumns + (x + dx) % kColumns];
        }
        next[y * kColumns + x] = around == 3 || (around == 2 && cells[y * kColumns + x]);
      }
    }
    std::swap(cells, next);
  }
  int alive = 0, wrong = 0;
  for (int i = 0; i < kRows * kColumns; ++i) {
    alive += cells[i];
    wrong += cells[i] != char(words[i / 32] >> (i % 32) & 1);
  }
  std::printf("%d cells alive after %d generations, %d wrong\n", alive, kSteps, wrong);
  return verdict("life", alive > 100 && wrong == 0);
}

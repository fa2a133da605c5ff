// Text on the device: upper case four bytes at a time by SIMD instructions, words counted, a
// pattern searched, a checksum.
//
// expect: text_bytes: right
#include <cctype>
#include <string>
#include <vector>

#include "example.h"

// ASCII letters to upper case; __vcmp* answer FF in every byte for which the comparison holds.
__global__ void upper(uint32_t* words, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uint32_t letters = __vcmpgeu4(words[i], 0x61616161) & __vcmpleu4(words[i], 0x7A7A7A7A);
  words[i] = __vsub4(words[i], letters & 0x20202020);
}

__device__ bool is_letter(char c) { return c >= 'A' && c <= 'Z'; }

__global__ void count_words(const char* text, int* words, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool starts = i < length && is_letter(text[i]) && (i == 0 || !is_letter(text[i - 1]));
  const int in_block = __syncthreads_count(starts);
  if (threadIdx.x == 0) atomicAdd(words, in_block);
}

__global__ void find(const char* text, int length, const char* pattern, int pattern_length,
                     int* first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + pattern_length > length) return;
  for (int k = 0; k < pattern_length; ++k) {
    if (text[i + k] != pattern[k]) return;
  }
  atomicMin(first, i);
}

// The sum of absolute differences to 'A', byte by byte.
__global__ void checksum(const uint32_t* words, unsigned* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    atomicAdd(sum, __vsadu4(words[i], 0x41414141) + __popc(__byte_perm(words[i], 0, 0x0123)));
}

int main() {
  const char* const phrases[] = {"the quick brown fox ", "jumps over, ", "the lazy dog; ",
                                 "and 42 more words! ", "Zebra[z{ "};
  std::string text;
  for (int i = 0; text.size() < 6'000; ++i) text += phrases[static_cast<int>(noise(i) * 5)];
  const std::string needle = "ZEBRA[Z{ JUMPS OVER, ZEBRA";
  text.resize(text.size() / 4 * 4);
  std::string expected = text;
  for (char& c : expected) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  int words = 0;
  unsigned sum = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    words += std::isalpha(expected[i]) && (i == 0 || !std::isalpha(expected[i - 1]));
    sum +=
        std::abs(expected[i] - 'A') + __builtin_popcount(static_cast<unsigned char>(expected[i]));
  }

  const int length = static_cast<int>(text.size()), blocks = (length + 127) / 128;
  char *device, *pattern;
  int* results;
  int got[3] = {0, length, 0};
  CHECK(cudaMalloc(&device, length));
  CHECK(cudaMalloc(&pattern, needle.size()));
  CHECK(cudaMalloc(&results, sizeof got));
  CHECK(cudaMemcpy(device, text.data(), length, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(pattern, needle.data(), needle.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(results, got, sizeof got, cudaMemcpyHostToDevice));
  upper<<<blocks, 128>>>(reinterpret_cast<uint32_t*>(device), length / 4);
  count_words<<<blocks, 128>>>(device, results, length);
  find<<<blocks, 128>>>(device, length, pattern, static_cast<int>(needle.size()), results + 1);
  checksum<<<blocks, 128>>>(reinterpret_cast<uint32_t*>(device),
                            reinterpret_cast<unsigned*>(results + 2), length / 4);
  CHECK(cudaGetLastError());
  std::string result(length, ' ');
  CHECK(cudaMemcpy(result.data(), device, length, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got, results, sizeof got, cudaMemcpyDeviceToHost));
  for (void* pointer : {(void*)device, (void*)pattern, (void*)results}) CHECK(cudaFree(pointer));

  const size_t place = expected.find(needle);
  std::printf("%d characters, %d words, the pattern at %d\n", length, got[0], got[1]);
  return verdict("text_bytes", result == expected && got[0] == words && size_t(got[1]) == place &&
                                   unsigned(got[2]) == sum);
}

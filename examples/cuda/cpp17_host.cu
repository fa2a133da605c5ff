// C++17 on the host beside kernels: variant and visit, optional, string_view, a file written and
// read, threads with a stream each.
//
// expect: cpp17_host: right
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "example.h"

namespace fs = std::filesystem;

struct Scale {
  int factor;
};
struct Shift {
  int distance;
};
struct Reverse {};
using Step = std::variant<Scale, Shift, Reverse>;

__global__ void scale(int* data, int count, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= factor;
}
__global__ void shift(int* data, int count, int distance) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] += distance;
}
__global__ void reverse(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count / 2) return;
  const int saved = data[i];
  data[i] = data[count - 1 - i];
  data[count - 1 - i] = saved;
}

std::optional<Step> parse(std::string_view line) {
  const auto space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  if (word == "reverse") return Reverse{};
  if (space == std::string_view::npos) return std::nullopt;
  const int number = std::stoi(std::string(line.substr(space + 1)));
  if (word == "scale") return Scale{number};
  if (word == "shift") return Shift{number};
  return std::nullopt;
}

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

struct Free {
  void operator()(int* memory) const { cudaFree(memory); }
};

// Runs the steps over the numbers on a stream of its own.
std::vector<int> run(const std::vector<Step>& steps, std::vector<int> numbers) {
  const int count = static_cast<int>(numbers.size()), blocks = (count + 63) / 64;
  int* memory;
  cudaStream_t stream;
  CHECK(cudaMalloc(&memory, count * sizeof(int)));
  const std::unique_ptr<int, Free> owner(memory);
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(
      cudaMemcpyAsync(memory, numbers.data(), count * sizeof(int), cudaMemcpyHostToDevice, stream));
  const Overloaded launch{
      [&](Scale s) { scale<<<blocks, 64, 0, stream>>>(memory, count, s.factor); },
      [&](Shift s) { shift<<<blocks, 64, 0, stream>>>(memory, count, s.distance); },
      [&](Reverse) { reverse<<<blocks, 64, 0, stream>>>(memory, count); }};
  for (const Step& step : steps) std::visit(launch, step);
  CHECK(cudaGetLastError());
  CHECK(
      cudaMemcpyAsync(numbers.data(), memory, count * sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
  return numbers;
}

int main() {
  std::string folder = (fs::temp_directory_path() / "steps-XXXXXX").string();
  if (!mkdtemp(folder.data())) return 1;
  const fs::path file = fs::path(folder) / "steps.txt";
  std::ofstream(file) << "scale 3\nreverse\nshift -7\nnonsense\nscale 2\n";
  std::vector<Step> steps;
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);) {
    if (const auto step = parse(line)) steps.push_back(*step);
  }
  fs::remove_all(folder);

  constexpr int threads = 4, count = 500;
  std::vector<std::vector<int>> results(threads);
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      std::vector<int> numbers(count);
      for (int i = 0; i < count; ++i) numbers[i] = i + 1000 * t;
      results[t] = run(steps, std::move(numbers));
    });
  }
  for (std::thread& worker : workers) worker.join();

  int wrong = 0;
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < count; ++i)
      wrong += results[t][i] != (3 * (count - 1 - i + 1000 * t) - 7) * 2;
  }
  std::printf("%zu steps, %d threads, %d wrong\n", steps.size(), threads, wrong);
  return verdict("cpp17_host", steps.size() == 4 && wrong == 0);
}

// Two processes share device memory and an event: the first starts the second by fork and exec and
// sends it the handles.
//
// expect: ipc: right
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "example.h"

constexpr int kCount = 4096;

struct Message {
  cudaIpcMemHandle_t memory;
  cudaIpcEventHandle_t filled;
};

__global__ void fill(int* data, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = i * factor;
}

__global__ void add_one(int* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] += 1;
}

// The second process: waits for the first one's work by its event, then writes into the first one's
// memory.
int second(int input) {
  Message message;
  if (read(input, &message, sizeof message) != sizeof message) return 1;
  cudaEvent_t filled;
  void* shared;
  CHECK(cudaIpcOpenMemHandle(&shared, message.memory, cudaIpcMemLazyEnablePeerAccess));
  CHECK(cudaIpcOpenEventHandle(&filled, message.filled));
  CHECK(cudaStreamWaitEvent(0, filled, 0));
  add_one<<<kCount / 256, 256>>>(static_cast<int*>(shared));
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventDestroy(filled));
  CHECK(cudaIpcCloseMemHandle(shared));
  std::printf("the second process wrote\n");
  return 0;
}

int main(int count, char** words) {
  if (count > 2 && !std::strcmp(words[1], "second")) return second(std::atoi(words[2]));

  int ends[2];
  if (pipe(ends)) return 1;
  const pid_t child = fork();  // before any CUDA call: a context does not survive a fork
  if (child == 0) {
    close(ends[1]);
    execl("/proc/self/exe", words[0], "second", std::to_string(ends[0]).c_str(), nullptr);
    _exit(127);
  }
  close(ends[0]);

  int* data;
  Message message;
  cudaEvent_t filled;
  CHECK(cudaMalloc(&data, kCount * sizeof(int)));
  CHECK(cudaEventCreateWithFlags(&filled, cudaEventInterprocess | cudaEventDisableTiming));
  CHECK(cudaIpcGetMemHandle(&message.memory, data));
  CHECK(cudaIpcGetEventHandle(&message.filled, filled));
  fill<<<kCount / 256, 256>>>(data, 3);
  CHECK(cudaEventRecord(filled, 0));
  if (write(ends[1], &message, sizeof message) != sizeof message) return 1;
  int status = 1;
  waitpid(child, &status, 0);

  std::vector<int> result(kCount);
  CHECK(cudaMemcpy(result.data(), data, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += result[i] != 3 * i + 1;
  CHECK(cudaEventDestroy(filled));
  CHECK(cudaFree(data));
  return verdict("ipc", status == 0 && wrong == 0);
}

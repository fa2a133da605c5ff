// Captures the work of two streams, with fork and join by events, into a graph, and replays it a
// hundred times.
//
// expect: graph_capture: right
#include <vector>

#include "example.h"

__global__ void scale(int* data, int factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= factor;
}

__global__ void add(int* sum, const int* a, const int* b, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] += a[i] - b[i];
}

int main() {
  const int count = 1'000, replays = 100;
  const size_t bytes = count * sizeof(int);
  const int blocks = (count + 127) / 128;
  std::vector<int> start(count), result(count);
  for (int i = 0; i < count; ++i) start[i] = 3 * i + 1;

  int *a, *b, *sum, *source;
  for (int** pointer : {&a, &b, &sum, &source}) CHECK(cudaMalloc(pointer, bytes));
  CHECK(cudaMemcpy(source, start.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(sum, 0, bytes));

  cudaStream_t main_stream, side;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

  CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(fork, main_stream));
  CHECK(cudaStreamWaitEvent(side, fork, 0));
  CHECK(cudaMemcpyAsync(a, source, bytes, cudaMemcpyDeviceToDevice, main_stream));
  scale<<<blocks, 128, 0, main_stream>>>(a, 5, count);
  CHECK(cudaMemcpyAsync(b, source, bytes, cudaMemcpyDeviceToDevice, side));
  scale<<<blocks, 128, 0, side>>>(b, 2, count);
  CHECK(cudaEventRecord(join, side));
  CHECK(cudaStreamWaitEvent(main_stream, join, 0));
  add<<<blocks, 128, 0, main_stream>>>(sum, a, b, count);
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(side, &status));
  const bool side_captured = status == cudaStreamCaptureStatusActive;
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(main_stream, &graph));

  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaMemcpy(result.data(), sum, bytes, cudaMemcpyDeviceToHost));
  bool right = side_captured && nodes == 5 && result[7] == 0;  // capturing does not run anything
  for (int i = 0; i < replays; ++i) CHECK(cudaGraphLaunch(executable, main_stream));
  CHECK(cudaStreamSynchronize(main_stream));
  CHECK(cudaMemcpy(result.data(), sum, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) right = right && result[i] == replays * 3 * start[i];
  std::printf("%zu nodes, %d replays\n", nodes, replays);

  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaEventDestroy(fork));
  CHECK(cudaEventDestroy(join));
  CHECK(cudaStreamDestroy(main_stream));
  CHECK(cudaStreamDestroy(side));
  for (int* pointer : {a, b, sum, source}) CHECK(cudaFree(pointer));
  return verdict("graph_capture", right);
}

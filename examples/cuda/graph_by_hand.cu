// Builds a graph node by node (memset, copies, kernels, a host function), then changes parameters
// of the executable graph.
//
// expect: graph_by_hand: right
#include <vector>

#include "example.h"

__global__ void axpy(int factor, const int* x, int* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] += factor * x[i];
}

struct Tally {
  const int* values;
  int count;
  long long sum;
};

void CUDART_CB add_up(void* argument) {
  Tally& tally = *static_cast<Tally*>(argument);
  tally.sum = 0;
  for (int i = 0; i < tally.count; ++i) tally.sum += tally.values[i];
}

int main() {
  int count = 2'000;
  const size_t bytes = count * sizeof(int);
  std::vector<int> input(count), output(count);
  long long input_sum = 0;
  for (int i = 0; i < count; ++i) input_sum += input[i] = i % 97 - 11;

  int *x, *y;
  CHECK(cudaMalloc(&x, bytes));
  CHECK(cudaMalloc(&y, bytes));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));

  cudaGraphNode_t clear, load, first, second, store, host;
  cudaMemsetParams clear_parameters = {};
  clear_parameters.dst = y;
  clear_parameters.elementSize = 4;
  clear_parameters.width = count;
  clear_parameters.height = 1;
  CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &clear_parameters));
  CHECK(cudaGraphAddMemcpyNode1D(&load, graph, nullptr, 0, x, input.data(), bytes,
                                 cudaMemcpyHostToDevice));

  int factor = 3;
  void* arguments[] = {&factor, &x, &y, &count};
  cudaKernelNodeParams kernel_parameters = {};
  kernel_parameters.func = reinterpret_cast<void*>(axpy);
  kernel_parameters.gridDim = dim3((count + 255) / 256);
  kernel_parameters.blockDim = dim3(256);
  kernel_parameters.kernelParams = arguments;
  const cudaGraphNode_t before_first[] = {clear, load};
  CHECK(cudaGraphAddKernelNode(&first, graph, before_first, 2, &kernel_parameters));
  factor = 10;
  CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel_parameters));
  CHECK(cudaGraphAddMemcpyNode1D(&store, graph, &second, 1, output.data(), y, bytes,
                                 cudaMemcpyDeviceToHost));
  Tally tally{output.data(), count, 0};
  cudaHostNodeParams host_parameters = {add_up, &tally};
  CHECK(cudaGraphAddHostNode(&host, graph, &store, 1, &host_parameters));

  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaStreamSynchronize(0));
  bool right = tally.sum == 13 * input_sum;
  std::printf("6 nodes: %lld\n", tally.sum);

  // Another factor for one node of the executable graph; the graph it came from keeps its own.
  factor = -1;
  CHECK(cudaGraphExecKernelNodeSetParams(executable, second, &kernel_parameters));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaStreamSynchronize(0));
  right = right && tally.sum == 2 * input_sum;
  std::printf("with a changed node: %lld\n", tally.sum);

  // A whole update, from a clone that differs in the other kernel.
  cudaGraph_t clone;
  cudaGraphNode_t first_of_clone;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphNodeFindInClone(&first_of_clone, first, clone));
  factor = 100;
  CHECK(cudaGraphKernelNodeSetParams(first_of_clone, &kernel_parameters));
  cudaGraphExecUpdateResultInfo info = {};
  CHECK(cudaGraphExecUpdate(executable, clone, &info));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaStreamSynchronize(0));
  right = right && info.result == cudaGraphExecUpdateSuccess && tally.sum == 110 * input_sum;
  std::printf("updated: %lld\n", tally.sum);

  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  return verdict("graph_by_hand", right);
}

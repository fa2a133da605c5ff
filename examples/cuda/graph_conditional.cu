// Conditional nodes: a graph that loops until a kernel says so (the Collatz sequence), and one
// branch taken or not.
//
// expect: graph_conditional: right
#include "example.h"

__global__ void collatz(unsigned* state, cudaGraphConditionalHandle handle) {
  const unsigned n = state[0];
  state[0] = n % 2 ? 3 * n + 1 : n / 2;
  ++state[1];
  cudaGraphSetConditional(handle, state[0] != 1);
}

__global__ void choose(const unsigned* state, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, state[1] > 100);
}

__global__ void mark(unsigned* state) { state[2] = 1; }

cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t* after, void* function,
                           void** arguments) {
  cudaKernelNodeParams parameters = {};
  parameters.func = function;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &parameters));
  return node;
}

// Adds a conditional node and returns it; `body` is the graph to fill.
cudaGraphNode_t add_conditional(cudaGraph_t graph, const cudaGraphNode_t* after,
                                cudaGraphConditionalHandle handle,
                                cudaGraphConditionalNodeType type, cudaGraph_t& body) {
  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = 1;
  cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
  CHECK(cudaGraphAddNode(&node, graph, after, nullptr, after ? 1 : 0, &parameters));
#else
  CHECK(cudaGraphAddNode(&node, graph, after, after ? 1 : 0, &parameters));
#endif
  body = parameters.conditional.phGraph_out[0];
  return node;
}

int main() {
  unsigned* state;
  CHECK(cudaMalloc(&state, 3 * sizeof(unsigned)));
  cudaGraph_t graph, loop, branch;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle again, many;
  CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
  CHECK(cudaGraphConditionalHandleCreate(&many, graph, 0, cudaGraphCondAssignDefault));

  const cudaGraphNode_t looping =
      add_conditional(graph, nullptr, again, cudaGraphCondTypeWhile, loop);
  void* collatz_arguments[] = {&state, &again};
  add_kernel(loop, nullptr, reinterpret_cast<void*>(collatz), collatz_arguments);
  void* choose_arguments[] = {&state, &many};
  const cudaGraphNode_t chosen =
      add_kernel(graph, &looping, reinterpret_cast<void*>(choose), choose_arguments);
  add_conditional(graph, &chosen, many, cudaGraphCondTypeIf, branch);
  void* mark_arguments[] = {&state};
  add_kernel(branch, nullptr, reinterpret_cast<void*>(mark), mark_arguments);

  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  bool right = true;
  for (const unsigned start : {6u, 27u, 97u}) {
    unsigned values[3] = {start, 0, 0};
    CHECK(cudaMemcpy(state, values, sizeof values, cudaMemcpyHostToDevice));
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaMemcpy(values, state, sizeof values, cudaMemcpyDeviceToHost));
    unsigned n = start, steps = 0;
    for (; n != 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
    right = right && values[0] == 1 && values[1] == steps && values[2] == (steps > 100);
    std::printf("from %u: %u steps%s\n", start, values[1],
                values[2] ? ", more than a hundred" : "");
  }
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(state));
  return verdict("graph_conditional", right);
}

// look-ups in a binary search tree of nodes with links; a key that is not there gives -1
struct Node {
  int key, left, right, value;
};
extern "C" __global__ void tree_search(const Node* nodes, const int* keys, int* out, int root, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int key = keys[i], at = root, found = -1;
  while (at >= 0) {
    Node node = nodes[at];
    if (node.key == key) {
      found = node.value;
      break;
    }
    at = key < node.key ? node.left : node.right;
  }
  out[i] = found;
}

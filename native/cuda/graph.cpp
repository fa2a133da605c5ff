#include "cuda/graph.h"
namespace aw {
Graph::~Graph() = default;
}

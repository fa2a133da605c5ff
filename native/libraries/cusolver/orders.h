// Orders of rows and columns in which a sparse matrix is factored: order[new] = old.
#pragma once

#include <vector>

namespace aw::cusolver {

// For each node those that it has a number with in the matrix or its transpose, in order, itself
// left out.
using Graph = std::vector<std::vector<int>>;

// The pattern of a square matrix in rows first[i] ... last[i], all of whose places lie in it;
// numbers begin at `base`.
Graph graph_of(int n, int base, const int* first, const int* last, const int* column);

// Few numbers between the first one of a row and its diagonal: the order of Cuthill and McKee,
// reversed.
std::vector<int> narrow_order(const Graph& neighbours);

// The node of least degree next, on the quotient graph. Degrees are counted, or bounded from above
// (Amestoy, Davis, Duff, An approximate minimum degree ordering algorithm).
std::vector<int> minimum_degree(const Graph& neighbours, bool approximate);

// Separators last, those of either half before (George, Nested dissection of a regular finite
// element mesh); a separator is a level of the distances from a node on the outside.
std::vector<int> nested_dissection(const Graph& neighbours);

}  // namespace aw::cusolver

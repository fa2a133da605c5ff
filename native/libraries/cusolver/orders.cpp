// Orders of sparse matrices.
#include "libraries/cusolver/orders.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace aw::cusolver {

Graph graph_of(int n, int base, const int* first, const int* last, const int* column) {
  Graph neighbours(n);
  for (int i = 0; i < n; ++i)
    for (int at = first[i] - base; at < last[i] - base; ++at)
      if (int j = column[at] - base; j != i) neighbours[i].push_back(j), neighbours[j].push_back(i);
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}

std::vector<int> narrow_order(const Graph& neighbours) {
  int n = static_cast<int>(neighbours.size());
  auto fewer = [&](int a, int b) {
    return std::pair(neighbours[a].size(), a) < std::pair(neighbours[b].size(), b);
  };
  std::vector<int> starts(n), order;
  for (int i = 0; i < n; ++i) starts[i] = i;
  std::sort(starts.begin(), starts.end(), fewer);
  std::vector<int> level(n, -1);
  // By distance from `start`, of what has no place yet; those of one distance that have few
  // neighbours first.
  auto walk = [&](int start) {
    std::vector<int> found{start};
    level[start] = 0;
    for (size_t at = 0; at < found.size(); ++at) {
      size_t before = found.size();
      for (int j : neighbours[found[at]])
        if (level[j] < 0) level[j] = level[found[at]] + 1, found.push_back(j);
      std::sort(found.begin() + before, found.end(), fewer);
    }
    return found;
  };
  for (int start : starts) {
    if (level[start] >= 0) continue;
    std::vector<int> found = walk(start);
    // Once more from the far end, which is near to the outside of the graph.
    int far = found.back();
    for (int i : found) level[i] = -1;
    found = walk(far);
    order.insert(order.end(), found.begin(), found.end());
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<int> minimum_degree(const Graph& neighbours, bool approximate) {
  int n = static_cast<int>(neighbours.size());
  // A node that is gone is an element: it stands for the clique of those that it was next to.
  Graph nodes = neighbours, elements(n), members(n);
  std::vector<int> order, mark(n, -1), outside(n), counted(n);
  int stamp = 0;  // of the degree that is counted
  std::vector<bool> gone(n);
  std::vector<size_t> degree(n);
  std::set<std::pair<size_t, int>> next;
  for (int i = 0; i < n; ++i) next.emplace(degree[i] = nodes[i].size(), i);
  while (!next.empty()) {
    int p = next.begin()->second;
    next.erase(next.begin());
    gone[p] = true;
    order.push_back(p);
    auto& clique = members[p];
    mark[p] = p;
    auto join = [&](const std::vector<int>& list) {
      for (int i : list)
        if (!gone[i] && mark[i] != p) mark[i] = p, clique.push_back(i);
    };
    join(nodes[p]);
    for (int e : elements[p]) join(members[e]), members[e].clear();
    // What an element has outside of the clique: as many as are not found in it.
    std::vector<int> touched;
    for (int i : clique)
      for (int e : elements[i])
        if (!members[e].empty()) {
          if (mark[e] != p)
            mark[e] = p, outside[e] = static_cast<int>(members[e].size()), touched.push_back(e);
          --outside[e];
        }
    for (int e : touched)
      if (outside[e] == 0) members[e].clear();  // the clique has all of it
    for (int i : clique) {
      std::erase_if(nodes[i], [&](int j) { return gone[j] || mark[j] == p; });
      std::erase_if(elements[i], [&](int e) { return members[e].empty(); });
      size_t found = nodes[i].size() + clique.size() - 1;
      if (approximate) {
        for (int e : elements[i]) found += outside[e];
        found = std::min({found, degree[i] + clique.size() - 1, next.size() - 1});
      } else {
        ++stamp;
        for (int j : nodes[i]) counted[j] = stamp;
        for (int e : elements[i])
          for (int j : members[e])
            if (mark[j] != p && counted[j] != stamp) counted[j] = stamp, ++found;
      }
      elements[i].push_back(p);
      next.erase({degree[i], i});
      next.emplace(degree[i] = found, i);
    }
  }
  return order;
}

std::vector<int> nested_dissection(const Graph& neighbours) {
  constexpr size_t kSmall = 32;  // halves of no more are not divided
  int n = static_cast<int>(neighbours.size());
  std::vector<int> order(n), inside(n, 0), level(n, -1);
  struct Part {
    std::vector<int> nodes;
    int first;
  };
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  std::vector<Part> parts{{all, 0}};
  int number = 0;
  while (!parts.empty()) {
    Part part = std::move(parts.back());
    parts.pop_back();
    ++number;
    for (int i : part.nodes) inside[i] = number, level[i] = -1;
    auto walk = [&](int start) {
      std::vector<int> found{start};
      level[start] = 0;
      for (size_t at = 0; at < found.size(); ++at)
        for (int j : neighbours[found[at]])
          if (inside[j] == number && level[j] < 0)
            level[j] = level[found[at]] + 1, found.push_back(j);
      return found;
    };
    std::vector<int> found;
    if (part.nodes.size() > kSmall) found = walk(part.nodes.front());
    if (!found.empty() && found.size() < part.nodes.size()) {  // it hangs together no more
      std::vector<int> rest;
      for (int i : part.nodes)
        if (level[i] < 0) rest.push_back(i);
      int second = part.first + static_cast<int>(found.size());
      parts.push_back({std::move(found), part.first});
      parts.push_back({std::move(rest), second});
      continue;
    }
    if (!found.empty()) {
      int far = found.back();
      for (int i : found) level[i] = -1;
      found = walk(far);
    }
    int last = found.empty() ? 0 : level[found.back()];
    if (last < 2) {  // few nodes, or all next to one: there is no level between
      std::copy(part.nodes.begin(), part.nodes.end(), order.begin() + part.first);
      continue;
    }
    int middle = std::clamp(level[found[found.size() / 2]], 1, last - 1);
    std::vector<int> halves[2], separator;
    for (int i : found) (level[i] == middle ? separator : halves[level[i] > middle]).push_back(i);
    int second = part.first + static_cast<int>(halves[0].size());
    int end = second + static_cast<int>(halves[1].size());
    std::copy(separator.begin(), separator.end(), order.begin() + end);
    parts.push_back({std::move(halves[0]), part.first});
    parts.push_back({std::move(halves[1]), second});
  }
  return order;
}

}  // namespace aw::cusolver

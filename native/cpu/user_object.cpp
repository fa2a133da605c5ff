// Driver API reference: graph management, user objects.
#include "cpu/user_object.h"

#include <algorithm>

#include "cpu/graph.h"

namespace aw {
namespace {

// References that the program itself holds, per object; the object goes when the last of these and
// of the graphs' is given back.
struct Held {
  std::shared_ptr<UserObject> object;
  uint64_t count = 0;
};

struct Table {
  std::mutex mutex;
  std::map<uintptr_t, std::weak_ptr<UserObject>> all;
  std::map<uintptr_t, Held> by_program;
};

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

std::shared_ptr<UserObject> find_object(CUuserObject handle) {
  auto it = table().all.find(reinterpret_cast<uintptr_t>(handle));
  auto object = it == table().all.end() ? nullptr : it->second.lock();
  require(object != nullptr);
  return object;
}

// Gives back references of the program; returns the object so that it ends outside the lock.
std::shared_ptr<UserObject> give_back(CUuserObject handle, uint64_t count) {
  std::lock_guard lock(table().mutex);
  auto it = table().by_program.find(reinterpret_cast<uintptr_t>(handle));
  require(it != table().by_program.end() && it->second.count >= count);
  it->second.count -= count;
  auto object = it->second.object;
  if (it->second.count == 0) table().by_program.erase(it);
  return object;
}

}  // namespace
}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuUserObjectCreate(CUuserObject* out, void* object, CUhostFn destroy,
                                      unsigned count, unsigned flags) {
  return api<"cuUserObjectCreate">([&] {
    require(out && destroy && count > 0 && count <= 0x7fffffff &&
            flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    auto made = std::make_shared<UserObject>();
    made->object = object, made->destroy = destroy, made->handle = new_handle();
    std::lock_guard lock(table().mutex);
    table().all[made->handle] = made;
    table().by_program[made->handle] = {made, count};
    *out = as_handle<CUuserObject>(made->handle);
  });
}

AW_EXPORT CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  return api<"cuUserObjectRetain">([&] {
    require(count > 0 && count <= 0x7fffffff);
    std::lock_guard lock(table().mutex);
    auto object = find_object(handle);
    Held& held = table().by_program[object->handle];
    held.object = object;
    held.count += count;
  });
}

AW_EXPORT CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  return api<"cuUserObjectRelease">([&] {
    require(count > 0);
    give_back(handle, count);
  });
}

AW_EXPORT CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject handle, unsigned count,
                                           unsigned flags) {
  return api<"cuGraphRetainUserObject">([&] {
    require(count > 0 && count <= 0x7fffffff && (flags & ~CU_GRAPH_USER_OBJECT_MOVE) == 0);
    auto owner = graph_of(graph);
    std::shared_ptr<UserObject> object;
    {
      std::lock_guard lock(table().mutex);
      object = find_object(handle);
    }
    if (flags & CU_GRAPH_USER_OBJECT_MOVE)
      give_back(handle, count);  // the program's references move to the graph
    std::lock_guard lock(owner->mutex);
    owner->held.insert(owner->held.end(), count, object);
  });
}

AW_EXPORT CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject handle, unsigned count) {
  return api<"cuGraphReleaseUserObject">([&] {
    require(count > 0);
    auto owner = graph_of(graph);
    std::vector<std::shared_ptr<UserObject>> gone;
    std::lock_guard lock(owner->mutex);
    auto is_it = [&](auto& object) {
      return object->handle == reinterpret_cast<uintptr_t>(handle);
    };
    require(std::count_if(owner->held.begin(), owner->held.end(), is_it) >=
            static_cast<ptrdiff_t>(count));
    for (auto it = owner->held.begin(); it != owner->held.end() && count;) {
      if (!is_it(*it)) {
        ++it;
        continue;
      }
      gone.push_back(std::move(*it));
      it = owner->held.erase(it);
      --count;
    }
  });
}

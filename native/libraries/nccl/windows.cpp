// Windows: memory that the ranks of a communicator have registered together. Every address can be
// sent from as it is, so that a window is a name for it; nothing is put into it by other ranks.
#include "libraries/nccl/nccl_internal.h"

using namespace aw::nccl;

namespace {

struct Window {
  uintptr_t owner;  // the communicator's handle, which no other has later
  void* place;
};

aw::Handles<Window>& windows() {
  static auto& it = *new aw::Handles<Window>;
  return it;
}

std::shared_ptr<Window> use_window(ncclComm_t comm, ncclWindow_t handle) {
  auto out = windows().find(handle);
  require(out && out->owner == use(comm)->handle);
  return out;
}

}  // namespace

AW_EXPORT ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* place, size_t bytes,
                                              ncclWindow_t* out, int flags) {
  return api<"ncclCommWindowRegister">([&] {
    auto owner = use_awake(comm);
    constexpr int kKnown = NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING | NCCL_WIN_GIN_ONLY |
                           NCCL_WIN_CFT_COUNTED;
    require(out && place && bytes && !(flags & ~kKnown));
    *out = aw::as_handle<ncclWindow_t>(
        windows().add(std::make_shared<Window>(Window{owner->handle, place})));
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommWindowRegister);

AW_EXPORT ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  return api<"ncclCommWindowDeregister">([&] {
    use_window(comm, window);
    windows().remove(window);
    return ncclSuccess;
  });
}
AW_PROFILED(ncclCommWindowDeregister);

AW_EXPORT ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t window, void** place) {
  return api<"ncclWinGetUserPtr">([&] {
    require(place);
    *place = use_window(comm, window)->place;
    return ncclSuccess;
  });
}
AW_PROFILED(ncclWinGetUserPtr);

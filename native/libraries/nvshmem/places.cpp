// NVSHMEM is not initialised in any process, so that none is a processing element: what it answers
// then.
#include "libraries/api.h"

namespace {

template <aw::Name Function>
int no_place() {
  aw::lib::absent(Function.text, "NVSHMEM is not there yet on the device cpu");
  return -1;
}

}  // namespace

AW_EXPORT int nvshmem_my_pe() { return no_place<"nvshmem_my_pe">(); }
AW_EXPORT int nvshmem_n_pes() { return no_place<"nvshmem_n_pes">(); }
AW_EXPORT int nvshmem_team_my_pe(int) { return no_place<"nvshmem_team_my_pe">(); }
AW_EXPORT int nvshmem_team_n_pes(int) { return no_place<"nvshmem_team_n_pes">(); }

// NVSHMEM_STATUS_NOT_INITIALIZED
AW_EXPORT int nvshmemid_init_status() { return 0; }

// How devices reach each other without the host: NVSHMEMI_DEVICE_TRANSPORT_TYPE_PROXY, the one
// that no transport stands behind. PyTorch links it.
extern "C" {
__attribute__((visibility("default"))) int nvshmem_selected_device_transport = 0;
}

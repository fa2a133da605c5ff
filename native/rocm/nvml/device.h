// What the functions of NVML share on amdsmi.
#pragma once

#include "nvml/api.h"
#include "rocm/nvml/amdsmi.h"

namespace aw::nvml {

const smi::Device& device_of(nvmlDevice device);  // throws INVALID_ARGUMENT
nvmlReturn pci_info(nvmlDevice device, nvmlPciInfo* pci);

inline nvmlReturn begin_using() {
  smi::begin();
  users().fetch_add(1);
  return NVML_SUCCESS;
}

}  // namespace aw::nvml

#include "cuda/device_list.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>

namespace aw {
namespace {

using Uuids = std::vector<std::vector<std::string>>;

bool begins(const std::vector<std::string>& ways, const std::string& wanted) {
  auto fits = [&](const std::string& way) { return plain_uuid(way).starts_with(wanted); };
  return std::any_of(ways.begin(), ways.end(), fits);
}

// -1 when there is no such device. A UUID may be cut short as long as one device alone has it.
int number_of(const DeviceName& name, const Uuids& uuids) {
  if (name.uuid.empty())
    return name.number < static_cast<long>(uuids.size()) ? static_cast<int>(name.number) : -1;
  int found = -1;
  for (size_t i = 0; i < uuids.size(); ++i) {
    if (!begins(uuids[i], name.uuid)) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

}  // namespace

std::string plain_uuid(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c != '-') out += static_cast<char>(tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// Numbers are read as strtol does: 2x is 2. The guide does not say so; programs rely on it, and
// PyTorch, which counts devices without the driver, reads them in this way to agree with NVIDIA's
// (torch/cuda/__init__.py, _parse_visible_devices).
std::vector<DeviceName> device_names(const std::string& list) {
  std::vector<DeviceName> out;
  std::stringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    entry.erase(0, entry.find_first_not_of(" \t"));
    DeviceName name;
    char* end = nullptr;
    long number = strtol(entry.c_str(), &end, 10);
    if (entry.starts_with("GPU-"))
      name.uuid = plain_uuid(entry.substr(4));
    else if (end != entry.c_str() && number >= 0)
      name.number = number;
    out.push_back(std::move(name));
  }
  return out;
}

// Devices before the first invalid entry are visible. For a device that is named twice the guide
// has no word; by the same function of PyTorch NVIDIA's driver shows none then.
std::vector<int> listed_devices(const char* list, const Uuids& uuids) {
  std::vector<int> out;
  if (!list) {
    out.resize(uuids.size());
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  for (const DeviceName& name : device_names(list)) {
    int number = number_of(name, uuids);
    if (number < 0) break;
    if (std::find(out.begin(), out.end(), number) != out.end()) return {};
    out.push_back(number);
  }
  return out;
}

}  // namespace aw

#include "core/options.h"

#include <algorithm>
#include <cstring>

namespace aw {
namespace {

template <class Items, class Write>
std::string joined(const Items& items, Write write) {
  std::string out;
  for (auto& item : items) out += (out.empty() ? "" : ",") + write(item);
  return out;
}

}  // namespace

std::string write_options(const CompileOptions& o) {
  std::vector<std::string> words;
  if (!o.checks.empty())
    words.push_back("check=" + joined(o.checks, [](const std::string& check) { return check; }));
  if (o.lanes) words.push_back("gang=" + std::to_string(o.lanes));
  auto multiples = o.multiples;
  std::sort(multiples.begin(), multiples.end());
  if (!multiples.empty())
    words.push_back("multiple=" + joined(multiples, [](const Multiple& m) {
                      return std::to_string(m.offset) + ":" + std::to_string(m.size) + ":" +
                             std::to_string(m.modulus);
                    }));
  if (o.stack) words.push_back("stack=" + std::to_string(o.stack));
  if (o.quick) words.push_back("tier=quick");
  std::string out;
  for (auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

bool holds(const std::vector<Multiple>& multiples, const std::vector<uint8_t>& params) {
  return std::all_of(multiples.begin(), multiples.end(), [&](const Multiple& m) {
    uint64_t value = 0;
    if (m.modulus == 0 || m.size > sizeof value || m.size > params.size() ||
        m.offset > params.size() - m.size)
      return false;
    memcpy(&value, params.data() + m.offset, m.size);  // little endian, as every host we know
    // A power of two divides a negative number exactly if it divides its two's complement.
    bool negative_matters = (m.modulus & (m.modulus - 1)) != 0;
    bool negative = m.size < sizeof value ? (value >> (8 * m.size - 1)) != 0 : (value >> 63) != 0;
    return !(negative_matters && negative) && value % m.modulus == 0;
  });
}

}  // namespace aw

// One compilation through the compile service (docs/contracts.md, section 3).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace aw::nvrtc {

// What a program hands over.
struct Source {
  std::string name, text;
  std::vector<std::pair<std::string, std::string>> headers;  // name, text
  std::vector<std::string> options, expressions;
};

struct Translation {
  std::string ptx, log;
  std::map<std::string, std::string> lowered;
};

// Throws Failure with NVRTC's result and the log.
Translation translate(const Source& source);

}  // namespace aw::nvrtc

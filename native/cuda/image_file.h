// Images in files.
#pragma once

#include <string>

namespace aw {

// Throws FILE_NOT_FOUND, or INVALID_IMAGE for what is no file of sensible size.
std::string read_image_file(const std::string& path);

}  // namespace aw

#include "cuda/image_file.h"

#include <sys/stat.h>

#include <fstream>

#include "cuda/api.h"

namespace aw {

std::string read_image_file(const std::string& path) {
  struct stat status;
  require(stat(path.c_str(), &status) == 0, CUDA_ERROR_FILE_NOT_FOUND);
  require(S_ISREG(status.st_mode) && status.st_size > 0 && status.st_size <= (1 << 30),
          CUDA_ERROR_INVALID_IMAGE);
  std::ifstream file(path, std::ios::binary);
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  file.read(bytes.data(), status.st_size);
  require(file.gcount() == status.st_size, CUDA_ERROR_FILE_NOT_FOUND);
  return bytes;
}

}  // namespace aw

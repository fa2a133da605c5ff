// Loads two shared libraries that hold kernels by dlopen, runs both, unloads one and loads it
// again.
//
// libraries: plugin_double.cu plugin_square.cu
// build: -ldl
// expect: plugins: right
#include <dlfcn.h>

#include <string>
#include <vector>

#include "../example.h"

// What each library exports: transforms `count` numbers on the device in place.
using Transform = cudaError_t (*)(float* data, int count);

struct Plugin {
  void* library;
  Transform transform;
};

Plugin load(const std::string& folder, const char* name) {
  void* const library = dlopen((folder + "/lib" + name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return {library, reinterpret_cast<Transform>(dlsym(library, "transform"))};
}

int main(int, char** words) {
  std::string folder = words[0];
  folder.erase(folder.find_last_of('/'));
  const int count = 1'000;
  std::vector<float> values(count), result(count);
  for (int i = 0; i < count; ++i) values[i] = noise(i);
  float* data;
  CHECK(cudaMalloc(&data, count * sizeof(float)));
  CHECK(cudaMemcpy(data, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));

  Plugin twice = load(folder, "plugin_double");
  const Plugin square = load(folder, "plugin_square");
  CHECK(twice.transform(data, count));
  CHECK(square.transform(data, count));
  CHECK(cudaDeviceSynchronize());
  dlclose(twice.library);
  twice = load(folder, "plugin_double");
  CHECK(twice.transform(data, count));
  CHECK(cudaMemcpy(result.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(data));

  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += result[i] != 2 * ((2 * values[i]) * (2 * values[i]));
  std::printf("two libraries, one of them twice: %d wrong\n", wrong);
  dlclose(twice.library);
  dlclose(square.library);
  return verdict("plugins", wrong == 0);
}

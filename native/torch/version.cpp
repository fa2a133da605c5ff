// For which torch this binary was built: read from the file before it is loaded
// (src/anywarp/frameworks/torch/binary.py).
#ifndef AWT_TORCH_VERSION
#error "build this with src/anywarp/frameworks/torch/build.py, which says for which torch"
#endif

extern "C" __attribute__((visibility("default"))) const char awt_torch_version[];
const char awt_torch_version[] = "anywarp stand-in for torch " AWT_TORCH_VERSION;

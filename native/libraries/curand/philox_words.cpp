// Philox4x32-10 and cuRAND's transforms of words as vector code: what PyTorch's stand-in draws
// with.
#include "torch/random_philox.cpp"

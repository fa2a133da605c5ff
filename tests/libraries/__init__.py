"""NVIDIA's libraries on the processor. A package, for benchmarks has a module of this name."""

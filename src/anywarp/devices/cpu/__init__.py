"""The machine's own processor as a CUDA device."""

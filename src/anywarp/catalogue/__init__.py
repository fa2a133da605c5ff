"""What CUDA has and what answers it, as data with loaders and checks."""

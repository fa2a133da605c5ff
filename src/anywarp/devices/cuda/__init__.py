"""NVIDIA's own GPUs, for comparing and tracing: programs run on NVIDIA's driver, and we only watch."""

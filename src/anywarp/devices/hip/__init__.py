"""AMD GPUs, through ROCm."""

"""The kernels of bitsandbytes' CUDA library, called one by one and compared with numpy."""

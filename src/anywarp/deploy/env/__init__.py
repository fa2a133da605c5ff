"""An environment of Python that was installed for CUDA: what answers its packages on ROCm, laid beside it and never into it."""
